#!/bin/sh
# exhaustive.sh - make check-all: all 2^32 binary32 inputs of every format, mode and overflow policy against MPFR, planted
# faults, stochastic rounding over all words, and functions of all numbers of 16 bits. Half an hour to an hour on two processors; tests/proofs/exhaustive/README.md.
#
# tests/golden/exhaustive.txt has a line for each case: format, mode, policy, number of runs, SHA-256 of the list of
# runs; a line of `ulp verify --exhaustive` becomes one by
#   sed -n 's,^PASS [0-9/]* \(.*\): .* mismatches\, \([0-9]*\) runs*\, sha256 ,\1 \2 ,p'
# results/exhaustive.journal keeps finished cases, so the sweep may be stopped and started again. FORMATS, MODES and
# OVERFLOW select cases, with commas: make check-all FORMATS=binary16,e4m3 MODES=rne OVERFLOW=default. ISA="baseline avx2"
# sweeps with these instruction sets; default: the best one of the processor. With a selection `make check`, the faults and
# the words are left out. JOBS=N: on N threads.
BIN=${BIN:-build/bin}
TESTS=${TESTS:-build/test}
golden=tests/golden/exhaustive.txt
out=$(mktemp) || exit 1
trap 'rm -f "$out" "$out.status" "$out.cases" "$out.missing"' EXIT
mkdir -p results
passed=0 failed=0 skipped=0

count() { # count STATUS TEXT
    if [ "$1" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAIL $2"; fi
}

# sweep POLICY: the cases of a policy, or of all; each has to pass with the runs of its golden line
sweep() {
    {
        "$BIN/ulp" verify --exhaustive --format "${FORMATS:-all}" --mode "${MODES:-rne,rna,rz,ru,rd,ro}" --overflow "$1" \
            ${JOBS:+--jobs "$JOBS"} --resume results/exhaustive.journal
        echo $? >"$out.status"
    } | tee "$out"
    [ "$(cat "$out.status")" -ne 2 ] || exit 2
    sed -n 's,^PASS [0-9/]* \(.*\): .* mismatches\, \([0-9]*\) runs*\, sha256 ,\1 \2 ,p' "$out" >"$out.cases"
    awk 'NR == FNR { want[$1, $2, $3] = $0; next }
        !(($1, $2, $3) in want) { print "SKIP no golden line yet: " $0; next }
        want[$1, $2, $3] != $0 { print "FAIL other runs than in tests/golden/exhaustive.txt: " $0 }' "$golden" "$out.cases" |
        tee "$out.missing"
    cases=$(grep -cE '^(PASS|FAIL) [0-9]' "$out") wrong=$(grep -c '^FAIL [0-9]' "$out")
    others=$(grep -c '^FAIL' "$out.missing") new=$(grep -c '^SKIP' "$out.missing")
    passed=$((passed + cases - wrong - others - new)) failed=$((failed + wrong + others)) skipped=$((skipped + new))
    [ "$cases" -gt 0 ] || count 1 "no case of --overflow $1 ran"
}

for isa in ${ISA:-default}; do
    case $isa in default | baseline | neon | sve256 | avx2 | avx512) ;; *)
        echo "make check-all: ISA=$isa: no such instruction set; known are baseline, neon, sve256, avx2, avx512" >&2
        exit 2 ;;
    esac
    if [ "$isa" = default ]; then unset ULPLAB_ISA
    elif "$BIN/ulp" backends | grep -q "$isa *offered"; then export ULPLAB_ISA="$isa"
    else
        skipped=$((skipped + 1))
        echo "$isa: this processor lacks it"
        continue
    fi
    echo "instruction set: $isa"
    for policy in ${OVERFLOW:-all default}; do sweep "$policy"; done
done
if [ -z "$FORMATS$MODES$OVERFLOW$ISA" ]; then
    [ -z "$JOBS" ] || export OMP_NUM_THREADS="$JOBS"
    "$TESTS/by_oracle" >"$out.cases"
    [ "$(grep -cxFf "$out.cases" "$golden")" -eq "$(wc -l <"$out.cases")" ] && [ -s "$out.cases" ]
    count $? "golden runs by MPFR alone: $(grep -vxFf "$golden" "$out.cases" | head -3)"
    "$TESTS/check_sweep"
    count $? 'planted faults'
    "$TESTS/check_counts"
    count $? 'stochastic rounding over all words'
    "$TESTS/t_functions" --all
    count $? 'functions of all codes of 16 bits, and of 10^7 numbers of binary32'
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
