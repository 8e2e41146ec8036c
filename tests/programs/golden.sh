#!/bin/sh
# golden.sh - the hashes of rounded samples do not change, for every format, mode, policy and instruction set.
#
# tests/golden/verify.txt holds one line per case, written by `ulp verify --sample 2000 | sed -E 's,[0-9]+/[0-9]+ ,,'`
# in a run that agreed with MPFR. A changed line is a result that people may have published. A new format or mode has no
# line yet and is not compared until its lines are added.
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
    ULPLAB_ISA=$isa "$BIN/ulp" verify --sample 2000 2>/dev/null | sed -E 's,[0-9]+/[0-9]+ ,,' > "$out"
    missing=$(grep -vxFf "$out" "$out.want")
    if [ -s "$out.want" ] && [ -z "$missing" ]; then
        echo "ok - samples under $isa have the golden hashes"
    else
        echo "not ok - samples under $isa have the golden hashes; these are gone or changed:"
        echo "$missing" | sed 's/^/# /' | head -20
        failed=1
    fi
done
exit $failed
