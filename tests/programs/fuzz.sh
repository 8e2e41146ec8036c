#!/bin/sh
# fuzz.sh - every target of hostile input goes through its committed inputs, tests/proofs/fuzz/corpus; nothing is invented.
#
# A target has at most 25 inputs: make fuzz-corpus chooses them.
tree=$(pwd)
. tests/programs/support.sh

"$tree/${TESTS:-build/test}/fuzz" "$tree/tests/proofs/fuzz/corpus" || failed=1
many=
for folder in "$tree"/tests/proofs/fuzz/corpus/*; do
    [ "$(find "$folder" -type f | wc -l)" -le 25 ] || many="$many ${folder##*/}"
done
[ -z "$many" ]
verdict $? "at most 25 inputs a target:${many:- all}"
exit $failed
