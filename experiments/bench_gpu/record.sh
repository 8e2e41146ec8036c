#!/bin/sh
# record.sh FILE - make bench-gpu: runs both benchmarks of a GPU, and writes their rows and the state of the GPU to FILE.
#
# BENCH and THROUGHPUT are the programs, from the environment. FILE is one text that can be committed; it is written under
# a temporary name and renamed. If a program fails, or INT, TERM or HUP ends the run, FILE has the rows so far and a last
# line `incomplete: ` that says what is missing. The exit status is that of the program that fails, 2 for a FILE that cannot
# be written, and 130 after a signal.
[ $# -eq 1 ] || { echo 'usage: record.sh FILE' >&2; exit 2; }
file=$1
wrong() { echo "record.sh: FILE '$file': $1" >&2; exit 2; }
case $file in
'') wrong 'it is empty; it is the name of the record' ;;
-*) wrong 'its name begins with -' ;;
*/) wrong 'it is a folder, not a file' ;;
esac
[ ! -e "$file" ] || [ -f "$file" ] || wrong 'it is not a file'
BENCH=${BENCH:-build/bin/bench_gpu} THROUGHPUT=${THROUGHPUT:-build/bin/throughput}
state=$(dirname "$0")/../../tests/gpu/state.sh
mkdir -p "$(dirname "$file")" 2> /dev/null || wrong 'its folder cannot be made'
(: > "$file.tmp") 2> /dev/null || wrong "'$file.tmp' cannot be written"

keep() {
    mv "$file.tmp" "$file" 2> /dev/null && { echo "record: $file"; return; }
    echo "record.sh: FILE '$file': '$file.tmp' has the record, and cannot be renamed" >&2
    return 1
}

rows() { # the rows of the benchmark that ran
    [ ! -s "$csv" ] || cat "$csv" >> "$file.tmp"
    csv=
}

incomplete() { # incomplete WHY STATUS
    trap '' INT TERM HUP
    rows
    [ -z "$(tail -c 1 "$file.tmp")" ] || echo >> "$file.tmp" # a program that was killed may have written half a line
    echo "incomplete: $missing: $1" | tee -a "$file.tmp" >&2
    keep
    exit "$2"
}

interrupted() {
    trap '' INT TERM HUP
    [ -z "$child" ] || { kill "$child"; wait "$child"; } 2> /dev/null
    incomplete interrupted 130
}

# A shell acts on a signal only when its foreground program has ended, so the benchmarks run in the background.
measure() { # measure PROGRAM NAME: adds its rows and the state of the GPU after it
    csv=results/$2.csv
    rm -f "$csv" # rows of an earlier run are no rows of this record
    "$1" --restart --out "$csv" &
    child=$!
    wait $child
    status=$?
    child=
    [ $status -eq 0 ] || incomplete "$2 ended with status $status" $status
    rows
    sh "$state" >> "$file.tmp"
}

child= csv= missing='bench_gpu and throughput lack rows'
trap interrupted INT TERM HUP
mkdir -p results || { rm -f "$file.tmp"; exit 1; }
began=$(date +%s)
sh "$state" > "$file.tmp"
measure "$BENCH" bench_gpu
missing='throughput lacks rows'
measure "$THROUGHPUT" throughput
trap '' INT TERM HUP # the record is complete
echo "time         $(($(date +%s) - began)) s" >> "$file.tmp"
keep
