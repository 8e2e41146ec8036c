#!/bin/sh
# fuzz.sh - every target of hostile input goes through its committed inputs, tests/proofs/fuzz/corpus; nothing is invented.
tree=$(pwd)
. tests/programs/support.sh

exec "$tree/${TESTS:-build/test}/fuzz" "$tree/tests/proofs/fuzz/corpus"
