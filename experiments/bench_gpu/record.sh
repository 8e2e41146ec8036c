#!/bin/sh
# record.sh FILE - make bench-gpu: runs both benchmarks of a GPU, and writes their rows and the state of the GPU to FILE.
#
# BENCH and THROUGHPUT are the programs, from the environment. FILE is one text that can be committed; it is written under
# a temporary name and renamed. A program that fails or is killed leaves its rows so far, and the other one runs all the
# same. INT, TERM or HUP ends the run, and FILE has the rows so far, too. FILE then has a last line `incomplete: ` that says
# why rows are missing. Without a row FILE stays as it was. The exit status is that of the first program that fails, 2 for a
# FILE that cannot be written, and 130 after a signal.
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

# The rows of the benchmark that ran. A run that was stopped leaves CSV.part: lines of its head in any place, and points
# between `# piece` and `# end`, of which a kill may have cut the last one. They become a head, the columns and the rows.
rows() {
    if [ -s "$csv" ]; then cat "$csv"
    elif [ -s "$csv.part" ]; then
        awk '/^# piece / { point = ""; next }
            /^# end / { rows = rows point; next }
            sub(/^# columns: /, "") { columns = $0; next }
            /^#/ { if ($0 !~ /^# build: /) print; next }
            { point = point $0 "\n" }
            END { printf "%s\n%s", columns, rows }' "$csv.part"
    fi > "$file.rows"
    [ ! -s "$file.rows" ] || any=yes
    cat "$file.rows" >> "$file.tmp"
    rm -f "$file.rows"
    [ -z "$(tail -c 1 "$file.tmp")" ] || echo >> "$file.tmp"
    csv=
}

lack() { lacking="$lacking${lacking:+, }$1" result=${result:-$2}; } # lack WHY STATUS: rows are missing

finish() {
    trap '' INT TERM HUP
    [ -z "$lacking" ] || echo "incomplete: $lacking" | tee -a "$file.tmp" >&2
    if [ -z "$any" ]; then
        rm -f "$file.tmp"
        echo "record.sh: FILE '$file' is as it was: there are no rows" >&2
        exit "${result:-1}"
    fi
    if mv "$file.tmp" "$file" 2> /dev/null; then echo "record: $file"
    else
        echo "record.sh: FILE '$file': '$file.tmp' has the record, and cannot be renamed" >&2
        lack 'no record' 1
    fi
    exit "${result:-0}"
}

# A benchmark ends when its row is done; one that hangs is killed, and its rows so far remain.
interrupted() {
    trap '' INT TERM HUP
    if [ -n "$child" ]; then
        kill "$child"
        (sleep 10; kill -KILL "$child") > /dev/null & guard=$!
        wait "$child"
        kill $guard
    fi 2> /dev/null
    rows
    result=130
    lack "$missing: interrupted" 130
    finish
}

# A shell acts on a signal only when its foreground program has ended, so the benchmarks run in the background.
measure() { # measure PROGRAM NAME: adds its rows and the state of the GPU after it
    csv=results/$2.csv
    rm -f "$csv" "$csv.part" # rows of an earlier run are no rows of this record
    "$1" --restart --out "$csv" &
    child=$!
    wait $child
    status=$?
    child=
    [ $status -eq 0 ] || lack "$2 ended with status $status" $status
    rows
    sh "$state" >> "$file.tmp"
}

child= csv= any= lacking= result= missing='bench_gpu and throughput lack rows'
trap interrupted INT TERM HUP
mkdir -p results || { rm -f "$file.tmp"; exit 1; }
began=$(date +%s)
sh "$state" > "$file.tmp"
measure "$BENCH" bench_gpu
missing='throughput lacks rows'
measure "$THROUGHPUT" throughput
echo "time         $(($(date +%s) - began)) s" >> "$file.tmp"
finish
