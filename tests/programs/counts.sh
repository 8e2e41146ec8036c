#!/bin/sh
# counts.sh - stochastic rounding over all words in short: every third gap of the 8-bit formats, and four numbers of bits.
# modes: release
out=$("${TESTS:-build/test}/check_counts" --every 3)
status=$?
echo "$out" | sed '/ passed, /s/^/# /'
exit $status
