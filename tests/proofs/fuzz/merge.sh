#!/bin/sh
# merge.sh - make fuzz-corpus: makes the committed corpora of valid inputs, old corpora, and what `make fuzz` has found.
#
# SEEDS is the program of build/test, which writes the valid inputs. PROGRAM is libFuzzer's, which keeps the smallest set
# of inputs that reaches the same edges of the sources. WORK is the folder of `make fuzz`. An input that failed once stays:
# its name in tests/proofs/fuzz/corpus begins with `was-`. Files of more than 1,000 bytes (checkpoints: 6,000) are left out.
set -eu
PROGRAM=$(cd "$(dirname "$PROGRAM")" && pwd)/$(basename "$PROGRAM")
WORK=$(mkdir -p "$WORK" && cd "$WORK" && pwd)
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0
rm -rf "$WORK/seeds"
"$SEEDS" --seeds "$WORK/seeds"
for name; do
    corpus=$PWD/tests/proofs/fuzz/corpus/$name all=$WORK/all small=$WORK/small
    rm -rf "$all" "$small"
    mkdir -p "$corpus" "$all" "$small" "$WORK/$name"
    limit=1000
    [ "$name" = checkpoints ] && limit=6000
    cp "$WORK/seeds/$name"/* "$all"
    find "$corpus" "$WORK/$name" -type f ! -name 'was-*' -size -$((limit + 1))c -exec cp {} "$all" \;
    FUZZ_TARGET=$name "$PROGRAM" -merge=1 -use_counters=0 "$small" "$all" > "$WORK/merge.log" 2>&1 || {
        tail -5 "$WORK/merge.log"
        exit 1
    }
    find "$corpus" -type f ! -name 'was-*' -exec rm {} +
    for file in "$small"/*; do cp "$file" "$corpus/$(cksum < "$file" | cut -d ' ' -f 1)"; done
    echo "$name: $(find "$corpus" -type f | wc -l) files, $(cat "$corpus"/* | wc -c) bytes"
done
rm -rf "$WORK/all" "$WORK/small"
