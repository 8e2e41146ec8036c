#!/bin/sh
# record.sh FILE CSV [OPTION...] - runs the benchmark with these options, and writes its rows and the state of a GPU to FILE.
#
# BENCH (environment) is the program, which writes CSV. FILE is one text that can be committed; it is written under a temporary
# name and renamed. A run that fails or is killed leaves its rows so far. INT, TERM or HUP ends the run, and FILE has the rows
# so far, too. FILE then has a last line `incomplete: ` that says why rows are missing. Without a row FILE stays as it was. The
# exit status is that of the program, 2 for a FILE that cannot be written, and 130 after a signal.
[ $# -ge 2 ] || { echo 'usage: record.sh FILE CSV [OPTION...]' >&2; exit 2; }
file=$1 csv=$2
shift 2
wrong() { echo "record.sh: FILE '$file': $1" >&2; exit 2; }
case $file in
'') wrong 'it is empty; it is the name of the record' ;;
-*) wrong 'its name begins with -' ;;
*/) wrong 'it is a folder, not a file' ;;
esac
[ ! -e "$file" ] || [ -f "$file" ] || wrong 'it is not a file'
mkdir -p "$(dirname "$file")" 2> /dev/null || wrong 'its folder cannot be made'
(: > "$file.tmp") 2> /dev/null || wrong "'$file.tmp' cannot be written"
mkdir -p "$(dirname "$csv")" || exit 1
gpu=
case " $* " in *' --backend cuda '*) gpu=yes ;; esac
state() { [ -z "$gpu" ] || sh "$(dirname "$0")/../../tests/gpu/state.sh" >> "$file.tmp"; }

# The rows of the run. A run that was stopped leaves CSV.part: lines of its head in any place, and points between `# piece` and
# `# end`, of which a kill may have cut the last one. They become a head, the columns and the rows.
rows() {
    if [ -s "$csv" ]; then cat "$csv"
    elif [ -s "$csv.part" ]; then
        awk '/^# piece / { point = ""; next }
            /^# end / { rows = rows point; next }
            sub(/^# columns: /, "") { columns = $0; next }
            /^#/ { if ($0 !~ /^# build: /) print; next }
            { point = point $0 "\n" }
            END { printf "%s\n%s", columns, rows }' "$csv.part"
    fi
}

finish() { # finish STATUS [WHY]
    trap '' INT TERM HUP
    if [ ! -s "$csv" ] && [ ! -s "$csv.part" ]; then
        rm -f "$file.tmp"
        echo "record.sh: FILE '$file' is as it was: there are no rows" >&2
        exit "$1"
    fi
    rows >> "$file.tmp"
    state
    echo "time         $(($(date +%s) - began)) s" >> "$file.tmp"
    [ -z "$2" ] || echo "incomplete: $2" | tee -a "$file.tmp" >&2
    mv "$file.tmp" "$file" 2> /dev/null && echo "record: $file" && exit "$1"
    echo "record.sh: FILE '$file': '$file.tmp' has the record, and cannot be renamed" >&2
    exit 1
}

# The program ends when its row is done; if it hangs, it is killed, and its rows so far remain.
interrupted() {
    trap '' INT TERM HUP
    {
        kill "$child"
        (sleep 10; kill -KILL "$child") > /dev/null & guard=$!
        wait "$child"
        kill $guard
    } 2> /dev/null
    finish 130 'rows are missing: interrupted'
}

rm -f "$csv" "$csv.part" # rows of an earlier run are no rows of this record
began=$(date +%s)
state
# a shell acts on a signal only when its foreground program has ended
"${BENCH:-build/bin/bench}" "$@" --restart --out "$csv" &
child=$!
trap interrupted INT TERM HUP
wait $child
status=$?
[ $status -eq 0 ] || finish $status "bench ended with status $status"
finish 0
