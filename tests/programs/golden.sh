#!/bin/sh
# golden.sh - the hashes of rounded samples do not change, for every format, mode, policy and instruction set.
#
# tests/golden/verify.txt holds one line per case, written by `ulp verify --sample 2000 | sed -E 's,[0-9]+/[0-9]+ ,,'`
# in a run that agreed with MPFR. A changed line is a result that people may have published. A new format or mode has no
# line yet and is not compared until its lines are added.
golden=$(pwd)/tests/golden/verify.txt
. tests/programs/support.sh

sed '/^#/d' "$golden" >want
for isa in baseline neon sve256 avx2 avx512; do
    if ! "$BIN/ulp" backends | grep -q "$isa *offered"; then
        skip "samples under $isa" 'this processor lacks it'
        continue
    fi
    ULPLAB_ISA=$isa "$BIN/ulp" verify --sample 2000 2>/dev/null | sed -E 's,[0-9]+/[0-9]+ ,,' >out
    grep -vxFf out want >missing # these are gone or changed
    head -20 missing | sed 's/^/# /'
    [ -s want ] && [ ! -s missing ]
    verdict $? "samples under $isa have the golden hashes"
done
exit $failed
