#!/bin/sh
# exhaustive.sh - all 2^32 binary32 inputs of every format, mode and overflow policy against MPFR, which takes days.
#
# results/exhaustive.journal keeps finished pieces, so the test may be stopped and started again. FORMATS, MODES and
# OVERFLOW select cases: FORMATS=binary16 MODES=rne OVERFLOW=default make check-all
BIN=${BIN:-build/bin}
mkdir -p results
failed=0
for format in ${FORMATS:-all}; do
    for mode in ${MODES:-rne rna rz ru rd ro}; do
        "$BIN/ulp" verify --format "$format" --mode "$mode" --overflow "${OVERFLOW:-all}" --exhaustive \
            --resume results/exhaustive.journal || failed=1
    done
done
exit $failed
