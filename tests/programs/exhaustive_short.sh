#!/bin/sh
# exhaustive_short.sh - the exhaustive comparisons in short: one case by every instruction set has its golden runs; golden runs by MPFR alone; refusals.
#
# t_sweep.c has the runs of all cases in windows and the planted faults; `make check-all` sweeps all cases.
# modes: release debug
golden=$PWD/tests/golden/exhaustive.txt
TESTS=$(cd "${TESTS:-build/test}" && pwd)
. tests/programs/support.sh
ULP=$BIN/ulp

"$ULP" verify --format e2m1 --mode rne --sample 10 >out.txt 2>err.txt
if [ $? -eq 3 ]; then
    skip 'ulp verify --exhaustive' 'this build has no MPFR'
    exit $failed
fi

as_golden() { sed -n 's,^PASS [0-9/]* \(.*\): .* mismatches\, \([0-9]*\) runs*\, sha256 ,\1 \2 ,p' out.txt >case.txt; }

for isa in baseline neon sve256 avx2 avx512; do
    if ! "$ULP" backends | grep -q "$isa *offered"; then
        skip "a sweep under $isa" 'this processor lacks it'
        continue
    fi
    export ULPLAB_ISA=$isa
    exits 0 "a sweep under $isa" "$ULP" verify --exhaustive --format e4m3 --mode rne --overflow nan --runs list.$isa --jobs 1 --resume journal
    as_golden
    [ -s case.txt ] && [ "$(grep -cxFf case.txt "$golden")" -eq 1 ]
    verdict $? "it has the golden runs"
    cp out.txt swept.txt
    exits 0 "and again from the journal" "$ULP" verify --exhaustive --format e4m3 --mode rne --overflow nan --resume journal
    [ "$(grep PASS out.txt)" = "$(grep PASS swept.txt)" ] && [ "$(grep -c "^# piece .* cpu:$isa 0$" journal)" -eq 1 ]
    verdict $? 'with the same line'
    unset ULPLAB_ISA
done
[ "$(sha256sum <list.baseline | cut -d ' ' -f 1)" = "$(cut -d ' ' -f 5 case.txt)" ]
verdict $? 'the hash is the SHA-256 of the list of --runs'
holds 'the list has a line for each run' [ "$(wc -l <list.baseline)" -eq "$(cut -d ' ' -f 4 case.txt)" ]
says '^ff800000 ff800000 7fc00000$' list.baseline 'the first run is -Inf'
says '^43e80001 7f7fffff 7fc00000$' list.baseline 'above 464 is the overflow'
"$TESTS/by_oracle" --bits 8 >lines.txt
[ "$(grep -cxFf lines.txt "$golden")" -eq "$(wc -l <lines.txt)" ] && [ "$(wc -l <lines.txt)" -ge 600 ]
verdict $? 'the golden runs of all formats of 8 bits are those of MPFR alone'
holds 'no golden line stands twice' [ "$(sed '/^#/d' "$golden" | sort -u | wc -l)" -eq "$(sed '/^#/d' "$golden" | wc -l)" ]

refuse() { # refuse TEXT PATTERN ARGUMENT...
    text=$1 pattern=$2
    shift 2
    complains 2 "$text" "$pattern" "$ULP" verify "$@"
}
refuse 'plain alone' '\-\-plain goes with --exhaustive' --plain --format e4m3
refuse 'runs of a sample' '\-\-runs x: goes with --exhaustive' --runs x --format e4m3 --mode rne --sample 10
refuse 'runs of two cases' '\-\-runs x: name one format' --runs x --exhaustive --format e4m3 --mode rne,rz
refuse 'runs of a stochastic mode' '\-\-runs x: name one format' --runs x --exhaustive --format e4m3 --mode sr
refuse 'runs that cannot be written' 'cannot write missing/x' --runs missing/x --exhaustive --format e4m3 --mode rne
exit $failed
