#!/bin/sh
# fuzz.sh - every target of hostile input goes through its committed inputs, tests/fuzz/corpus; nothing is invented.
tree=$(pwd)
. tests/support.sh

exec "$tree/${TESTS:-build/test}/fuzz" "$tree/tests/fuzz/corpus"
