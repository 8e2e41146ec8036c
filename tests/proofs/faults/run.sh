#!/bin/sh
# run.sh - make check-faults: replays every case and runs every script of this folder, JOBS at a time.
#
# BIN and TESTS are the folders of programs and tests. JOBS: how many parts run at once (default: one per processor).
# LIMIT: replays of one way of failing of one case (default 400). Each part has a log in TESTS/faults/log. If the command
# was stopped, the next one goes on: parts that have ended are not run again, unless a program has changed.

part() { # part NAME: run it, keep its log, print a line
    started=$(date +%s) log=$logs/$(echo "$1" | tr ' ' '-')
    case $1 in
    *.sh)
        sh "tests/proofs/faults/$1" >"$log.running" 2>&1 </dev/null
        status=$?
        ;;
    *)
        scratch=$(mktemp -d "$room/faults.XXXXXX") || exit 2
        case $1 in
        'first point of '*) set -- "$1" --first-point "${1##* }" --limit $((limit / 10 + 1)) ;;
        *) set -- "$1" --case "$1" --limit "$limit" ;;
        esac
        name=$1
        shift
        "$TESTS/faults/replay" --bin "$BIN" --library "$TESTS/faults/interpose.so" --scratch "$scratch" "$@" >"$log.running" 2>&1 </dev/null
        status=$?
        rm -rf "$scratch"
        set -- "$name"
        ;;
    esac
    [ $status -eq 0 ] || grep -q '^not ok' "$log.running" || echo "not ok - $1 ends with exit status $status" >>"$log.running"
    mv "$log.running" "$log.log"
    printf '%-34s %4d passed %3d failed %3d skipped  %4d s\n' "$1" "$(grep -E '^ok ' "$log.log" | grep -vc '# SKIP')" \
        "$(grep -c '^not ok' "$log.log")" "$(grep -c '# SKIP' "$log.log")" $(($(date +%s) - started))
    grep -B 3 -E '^not ok|# SKIP' "$log.log" | grep -E '^not ok|^#|# SKIP' | cut -c 1-300 | sed 's/^/    /' | head -20
}

export BIN TESTS
logs=$TESTS/faults/log limit=${LIMIT:-400}
room=${TMPDIR:-/tmp}
[ -w /dev/shm ] && room=/dev/shm # memory: what is tested is the order of calls, not the disk
if [ "${1:-}" = --part ]; then
    part "$2"
    exit 0
fi

BIN=$(cd "$BIN" && pwd) TESTS=$(cd "$TESTS" && pwd) || exit 2
logs=$TESTS/faults/log
mkdir -p "$logs"
stamp="$(cat "$BIN"/* "$TESTS/faults/replay" "$TESTS/faults/interpose.so" tests/proofs/faults/*.sh | cksum) $limit"
[ "$(cat "$logs/stamp" 2>/dev/null)" = "$stamp" ] || rm -f "$logs"/*.log
echo "$stamp" >"$logs/stamp"
experiments=$(for p in "$BIN"/*; do "$p" --help 2>/dev/null | grep -q -- '--shard I/N' && echo "first point of $(basename "$p")"; done)
{ "$TESTS/faults/replay" --list; echo "$experiments"; (cd tests/proofs/faults && ls -- *.sh | grep -vx run.sh); } >"$logs/parts"
while read -r name; do
    if [ -e "$logs/$(echo "$name" | tr ' ' '-').log" ]; then echo "$name: as before" >&2; else echo "$name"; fi
done <"$logs/parts" | tr '\n' '\0' | xargs -0 -P "${JOBS:-$(getconf _NPROCESSORS_ONLN)}" -n 1 sh tests/proofs/faults/run.sh --part

# the table of README.md: replays by case and family
cat "$logs"/*.log | sed -n 's/^# faults of //p' | sort | awk -F ': ' '
    BEGIN { n = split("memory thread create open read write stdout sync rename link remove close cut folder changes all", family, " ")
            printf "| command |"; for (i = 1; i <= n; i++) printf " %s |", family[i]
            printf "\n|---|"; for (i = 1; i <= n; i++) printf "---|"; print "" }
    { m = split($2, word, " "); split("", count)
      for (i = 1; i < m; i += 2) { count[word[i]] = word[i + 1]; sum[word[i]] += word[i + 1] }
      printf "| %s |", $1; for (i = 1; i <= n; i++) printf " %s |", count[family[i]]; print "" }
    END { printf "| all |"; for (i = 1; i <= n; i++) printf " %d |", sum[family[i]]; print "" }' >"$logs/table.md"
echo "faults replayed: $(awk -F '|' 'END { print $(NF - 1) + 0 }' "$logs/table.md"), by command and family in $logs/table.md"
passed=$(cat "$logs"/*.log | grep -E '^ok ' | grep -vc '# SKIP') failed=$(cat "$logs"/*.log | grep -c '^not ok')
skipped=$(cat "$logs"/*.log | grep -c '# SKIP')
rm -f "$logs/stamp"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
