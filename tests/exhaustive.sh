#!/bin/sh
# exhaustive.sh - all 2^32 binary32 inputs of every format, mode and policy against MPFR: days of work.
#
# Finished pieces are kept in results/exhaustive.journal, so it may be stopped and started at will. FORMATS,
# MODES and OVERFLOW narrow it: FORMATS=binary16 MODES=rne OVERFLOW=default make check-all
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
