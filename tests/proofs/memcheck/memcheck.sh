#!/bin/sh
# memcheck.sh - make memcheck: runs tests under Valgrind, and counts the runs of programs with and without errors.
#
# Programs and tests are replaced by scripts that start Valgrind with the program. An error is a use of memory that is not
# the program's, a decision that depends on memory that was never written, or memory that nothing points to at the end.
# Verdicts of the tests themselves are not counted: some measure time or limit memory, and a fused multiply-add of Valgrind
# loses results below the least subnormal number. A test in C that fails leaves its memory behind, so that a leak there is no
# error, and the run is counted as skipped. Valgrind has no AVX-512, so that programs choose AVX2. Tests that take more than 3 s
# of the processor alone run with ALL=yes only, and are counted as skipped; so are the tests of walled memory and of the emulated GPU,
# which end processes by wrong accesses on purpose.
set -u
tree=$(pwd)
command -v valgrind >/dev/null || { echo 'make memcheck: valgrind is missing (sh packages.sh --all)' >&2; exit 3; }
WORK=$(mkdir -p "$WORK" && cd "$WORK" && pwd)
BIN=$(cd "$BIN" && pwd)
TESTS=$(cd "$TESTS" && pwd)
scripts='tool.sh tool_binary.sh tool_block.sh tool_dot.sh tool_files.sh tool_quantize.sh tool_round.sh tool_train.sh tool_tree.sh verify.sh course.sh experiments_refusals.sh'

# one TEST: the logs with errors stay in WORK/logs/TEST, and WORK/TEST.line has "RUNS ERRORS SKIPPED"
one() {
    name=$(basename "$1") logs=$WORK/logs/$(basename "$1")
    if [ -s "$WORK/$name.line" ]; then return; fi
    rm -rf "$logs"
    mkdir -p "$logs" "$WORK/wrapped/$name/bin" "$WORK/wrapped/$name/test"
    for program in "$BIN"/* "$TESTS"/t_*; do
        case $program in
        *.d) continue ;;
        "$BIN"/*) to=$WORK/wrapped/$name/bin/${program##*/} ;;
        *) to=$WORK/wrapped/$name/test/${program##*/} ;;
        esac
        printf '%s\n' '#!/bin/sh' "exec valgrind -q --max-threads=20000 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --log-file='$logs/%p.log' '$program' \"\$@\"" >"$to"
        chmod +x "$to"
    done
    for folder in walled faults; do [ ! -e "$TESTS/$folder" ] || ln -sfn "$TESTS/$folder" "$WORK/wrapped/$name/test/$folder"; done
    ln -sfn "$BIN/../lib" "$WORK/wrapped/$name/lib"
    begin=$(date +%s)
    case $1 in
    *.sh) BIN=$WORK/wrapped/$name/bin TESTS=$WORK/wrapped/$name/test timeout 1800 sh "$1" ;;
    *) timeout 3600 "$WORK/wrapped/$name/test/$name" ;;
    esac >"$WORK/$name.out" 2>&1 </dev/null
    verdict=$?
    [ $verdict -ne 124 ] || echo 'the time is over' >"$logs/time.log"
    runs=$(find "$logs" -name '*.log' | wc -l) unjudged=0
    # what a program writes to a closed standard output comes to the log, too; lines of Valgrind begin with ==
    find "$logs" -name '*.log' ! -name time.log ! -exec grep -qE '^==[0-9]+== ' {} \; -delete
    errors=$(find "$logs" -name '*.log' | wc -l)
    case $name in t_*)
        # one run, of a test that failed, with leaks only: a line that begins an error follows an empty line or the first
        if [ $verdict -ne 0 ] && [ "$runs" -eq 1 ] && [ "$errors" -eq 1 ] && awk '
            NR == 1 || before { wrong += NF > 1 && !/ are definitely lost in loss record / }
            { before = NF == 1 }
            END { exit wrong != 0 }' "$logs"/*.log; then
            errors=0 unjudged=1
        fi ;;
    esac
    echo "$((runs - unjudged)) $errors $unjudged" >"$WORK/$name.line"
    if [ $unjudged -ne 0 ]; then echo "skipped: $name fails under Valgrind, and its leaks say nothing: $(grep -am 1 -o 'ERROR: .*' "$WORK/$name.out")"
    else echo "$name: $runs runs, $errors with errors, $(($(date +%s) - begin)) s"; fi
    [ "$errors" -eq 0 ] || head -n 12 "$(find "$logs" -name '*.log' | head -n 1)" | sed 's/^/    /'
}

if [ "${1:-}" = --one ]; then
    one "$2"
    exit 0
fi

# lines are kept only for the rest of the same run
this=$(cat "$BIN"/../lib/libulp.so "$BIN/ulp" | cksum)
if [ "$(cat "$WORK/running" 2>/dev/null)" != "$this" ]; then
    rm -f "$WORK"/*.line
    echo "$this" >"$WORK/running"
fi
export BIN TESTS WORK
skipped=0
: >"$WORK/list"
for test in "$TESTS"/t_*; do
    case $test in
    *.d) continue ;;
    */t_gpu_* | */t_walled)
        echo "skipped: ${test##*/} makes wrong accesses on purpose"
        skipped=$((skipped + 1))
        continue ;;
    esac
    seconds=$(awk -v name="/${test##*/}" 'substr($2, length($2) - length(name) + 1) == name { print $1 }' "$TESTS/seconds_programs.txt" 2>/dev/null)
    if [ -z "${ALL:-}" ] && [ "${seconds:-99}" -gt 3 ]; then
        echo "skipped: ${test##*/} takes ${seconds:-an unknown number of} s without Valgrind"
        skipped=$((skipped + 1))
    else echo "$test" >>"$WORK/list"; fi
done
for script in $scripts; do echo "$tree/tests/programs/$script" >>"$WORK/list"; done
xargs -P "${JOBS:-$(getconf _NPROCESSORS_ONLN)}" -n 1 sh tests/proofs/memcheck/memcheck.sh --one <"$WORK/list"
passed=0 failed=0
while read -r test; do
    runs=0 errors=1 unjudged=0
    read -r runs errors unjudged <"$WORK/$(basename "$test").line"
    passed=$((passed + runs - errors)) failed=$((failed + errors)) skipped=$((skipped + unjudged))
done <"$WORK/list"
rm -f "$WORK/running"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
