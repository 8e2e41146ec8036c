#!/bin/sh
# merge.sh - make fuzz-corpus: makes the committed corpora of valid inputs, old corpora, and what `make fuzz` has found.
#
# SEEDS is the program of build/test, which writes the valid inputs. PROGRAM is libFuzzer's, which says which edges of the
# sources each input reaches. WORK is the folder of `make fuzz`. A target keeps at most MOST inputs (default 25): each is the
# one that reaches most edges that those before it do not reach, and the smaller one of two that reach the same number. An
# input that failed once stays, and is the first: its name in the corpus begins with `was-`. Others of more than 1,000 bytes
# (checkpoints: 6,000) are left out.
set -eu
PROGRAM=$(cd "$(dirname "$PROGRAM")" && pwd)/$(basename "$PROGRAM")
WORK=$(mkdir -p "$WORK" && cd "$WORK" && pwd)
MOST=${MOST:-25}
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0
rm -rf "$WORK/seeds"
"$SEEDS" --seeds "$WORK/seeds"

# cover: the chosen files of libFuzzer's control file, in which `STARTED I SIZE` and `FT I EDGE...` are about the I-th name.
# The last line counts the edges that they reach, and all edges.
cover() {
    awk -v most="$MOST" '
        NR == 1 { files = $1 }
        NR > 2 && NR <= files + 2 { name[NR - 3] = $0 }
        $1 == "STARTED" { size[$2] = $3 }
        $1 == "FT" { edges[$2] = $0; for (i = 3; i <= NF; i++) all[$i] = 1 }
        function take(file, n, part) {
            print name[file]
            n = split(edges[file], part, " ")
            for (i = 3; i <= n; i++) reached[part[i]] = 1
            delete edges[file]
            taken++
        }
        function gain(file, n, part, new) {
            n = split(edges[file], part, " ")
            for (i = 3; i <= n; i++) new += !(part[i] in reached)
            return new + 0
        }
        END {
            for (file in name) if (name[file] ~ "/was-[^/]*$") take(file)
            while (taken < most) {
                best = -1
                found = 0
                for (file in edges) {
                    new = gain(file)
                    if (new > found || new == found && best >= 0 && (size[file] < size[best] || size[file] == size[best] && file + 0 < best + 0)) {
                        best = file
                        found = new
                    }
                }
                if (best < 0) break
                take(best)
            }
            for (edge in all) count++
            for (edge in reached) kept++
            print kept + 0 " of " count + 0 " edges"
        }' "$1"
}

for name; do
    corpus=$PWD/tests/proofs/fuzz/corpus/$name.txt all=$WORK/all
    rm -rf "$all" "$WORK/none" "$WORK/chosen" "$WORK/control"
    mkdir -p "$all" "$WORK/none" "$WORK/chosen" "$WORK/$name"
    limit=1000
    [ "$name" = checkpoints ] && limit=6000
    cp "$WORK/seeds/$name"/* "$all"
    [ ! -e "$corpus" ] || "$SEEDS" --unpack "$corpus" "$all"
    find "$WORK/$name" -type f -size -$((limit + 1))c -exec cp {} "$all" \;
    FUZZ_TARGET=$name "$PROGRAM" -set_cover_merge=1 -use_counters=0 -merge_control_file="$WORK/control" "$WORK/none" "$all" \
        > "$WORK/merge.log" 2>&1 || {
        tail -5 "$WORK/merge.log"
        exit 1
    }
    cover "$WORK/control" > "$WORK/cover"
    number=0
    sed '$d' "$WORK/cover" | while read -r file; do
        number=$((number + 1)) to=${file##*/}
        case $to in was-*) ;; *) to=$(printf %02d $number) ;; esac
        cp "$file" "$WORK/chosen/$to"
    done
    "$SEEDS" --pack "$WORK/chosen"/* > "$corpus"
    echo "$name: $(wc -l < "$corpus") inputs, $(cat "$WORK/chosen"/* | wc -c) bytes, $(tail -n 1 "$WORK/cover")"
done
rm -rf "$WORK/all" "$WORK/none" "$WORK/chosen"
