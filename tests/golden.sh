#!/bin/sh
# golden.sh - the hashes of rounded samples, format by mode by policy, for every instruction set: nothing drifts.
#
# tests/golden/verify.txt holds one line per case, written by `ulp verify --sample 2000` in a run that agreed
# with MPFR. A change of these lines changes results that people may have published.
BIN=${BIN:-build/bin}
golden=tests/golden/verify.txt
out=$(mktemp) || exit 1
trap 'rm -f "$out" "$out.want"' EXIT
failed=0
sed '/^#/d' $golden > "$out.want"
for isa in baseline avx2 avx512; do
    if ! "$BIN/ulp" backends | grep -q "$isa *offered"; then
        echo "ok - samples under $isa # SKIP this processor lacks it"
        continue
    fi
    ULPLAB_ISA=$isa "$BIN/ulp" verify --sample 2000 2>/dev/null | sed '$d' > "$out"
    if cmp -s "$out" "$out.want"; then
        echo "ok - samples under $isa have the golden hashes"
    else
        echo "not ok - samples under $isa have the golden hashes"
        diff "$out" "$out.want" | sed 's/^/# /' | head -20
        failed=1
    fi
done
exit $failed
