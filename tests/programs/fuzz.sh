#!/bin/sh
# fuzz.sh - every target of hostile input goes through its committed inputs, tests/proofs/fuzz/corpus; nothing is invented.
#
# A target has at most 25 inputs: make fuzz-corpus chooses them.
tree=$(pwd)
. tests/programs/support.sh

"$tree/${TESTS:-build/test}/fuzz" "$tree/tests/proofs/fuzz/corpus" || failed=1
[ "$("$tree/${TESTS:-build/test}/fuzz" --targets | wc -l)" -eq "$(ls "$tree"/tests/proofs/fuzz/*.c | wc -l)" ]
verdict $? 'every source of a target is a target'
many=$(cd "$tree/tests/proofs/fuzz/corpus" && wc -l *.txt | awk '$2 != "total" && $1 > 25 { printf " %s", $2 }')
holds "at most 25 inputs a target:${many:- all}" [ -z "$many" ]
exit $failed
