#!/bin/sh
# run.sh - runs tests and adds up the results. BIN, TESTS (folders), CC, NVCC, MODE, RUN and ONLY are from the environment.
#
# `sh tests/run.sh programs` runs the programs build/test/t_* (cmocka, TAP output) and the scripts tests/programs/*.sh, which print
# TAP lines; `sh tests/run.sh tree` runs the scripts tests/tree/*.sh, which judge the sources and the build. A test that fails
# without the line "not ok" counts as one failure. JOBS tests run at a time, by default one more than processors, since some
# tests wait. The tests that took longest in the last run (TESTS/seconds_programs.txt, seconds_tree.txt) start first; without this file scripts start first. A script with the
# line `# modes: release` tests sources or the build, or is long, so that a sanitizer is of no use; in a MODE that the line
# does not name it is skipped and counted as skipped. Where RUN is set, BIN and TESTS hold scripts that start the programs by it, and a
# test with the line `# not with RUN: REASON` is skipped and counted. ONLY names the tests to run, as in ONLY="t_round t_t* tool_round".
# For each test the elapsed seconds and the processor seconds are shown. The last line has the
# numbers of passed, failed and skipped tests. The exit status is 0 if a test passed and no test failed.

# one FOLDER TEST: run it, print its lines at once, leave "passed failed skipped" in the folder
one() {
    name=$(basename "$2") log=$1/$(basename "$2").log
    started=$(date +%s)
    case $2 in
    *.sh) if grep -q '^# modes: ' "$2" && ! grep -qE "^# modes: .*\\<${MODE:-release}\\>" "$2"; then
        echo "ok - $name # SKIP not with MODE=$MODE" > "$log"
    elif [ -n "$RUN" ] && grep -q '^# not with RUN: ' "$2"; then
        echo "ok - $name # SKIP not with RUN: $(sed -n 's/^# not with RUN: //p' "$2")" > "$log"
    else sh "$2" > "$log" 2>&1 < /dev/null; fi ;;
    *) "$2" > "$log" 2>&1 < /dev/null ;;
    esac
    status=$?
    # cmocka writes a skipped test as "not ok N # SKIP name"
    s=$(grep -cE '^(not )?ok .*# SKIP' "$log")
    p=$(grep -E '^ok ' "$log" | grep -vcE '# SKIP')
    f=$(grep -E '^not ok ' "$log" | grep -vcE '# SKIP')
    [ "$status" -ne 0 ] && [ "$f" -eq 0 ] && f=1
    [ $((p + f + s)) -eq 0 ] && f=1
    echo "$p $f $s" > "$1/$name.counts"
    # the second line of `times` has the user and the system time of the children, as 1m2.345s 0m0.678s
    times > "$1/$name.times"
    cpu=$(awk -F '[ms ]+' 'NR == 2 { printf "%.0f", 60 * $1 + $2 + 60 * $3 + $4 }' "$1/$name.times")
    echo "$cpu $2" > "$1/$name.seconds"
    {
        printf '%-28s %4d passed %3d failed %3d skipped  %4d s, %4d of the processor\n' "$name" "$p" "$f" "$s" \
            $(($(date +%s) - started)) "$cpu"
        grep -E '^(not )?ok .*# SKIP' "$log" | sed -E 's/^(not )?ok /    /'
        if [ "$f" -ne 0 ]; then
            echo "    exit status $status"
            grep -vE '^ok ' "$log" | tail -40 | sed 's/^/    /'
        fi
    } > "$log.report"
    cat "$log.report"
}

if [ "${1:-}" = --one ]; then
    one "$2" "$3"
    exit 0
fi

scripts=tests/${1:?programs or tree} programs= known=$TESTS/seconds_$1.txt
[ "$1" = tree ] || programs=$TESTS
logs=$(mktemp -d) || exit 1
trap 'rm -rf "$logs"' EXIT
export BIN TESTS CC NVCC MODE RUN
export CMOCKA_MESSAGE_OUTPUT=TAP
# waiting threads release their processor: on a busy machine busy waiting costs minutes
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}"
export ASAN_OPTIONS="${ASAN_OPTIONS:-allocator_may_return_null=1}"
export TSAN_OPTIONS="${TSAN_OPTIONS:-allocator_may_return_null=1}"

for test in "$scripts"/*.sh ${programs:+"$programs"/t_*}; do
    case $test in
    */t_*.d | tests/programs/*support.sh | tests/programs/exhaustive.sh) continue ;;
    esac
    [ -e "$test" ] || continue
    wanted=${ONLY:+no}
    set -f
    # shellcheck disable=SC2254
    for pattern in $ONLY; do
        case $(basename "$test" .sh) in $pattern) wanted= ;; esac
    done
    set +f
    [ -n "$wanted" ] || echo "$test"
done > "$logs/found"
if [ ! -s "$logs/found" ]; then
    echo "ONLY=$ONLY: there is no such test; a name is that of a file in ${programs:+tests/unit or }$scripts without its ending, as $([ "$1" = tree ] && echo layers || echo 't_round or tool_*')" >&2
    exit 2
fi
# a test without a known time counts as long
awk -v last="$known" '
    BEGIN { while ((getline < last) > 0) seconds[$2] = $1 }
    { print ($1 in seconds ? seconds[$1] : 9999), NR, $1 }' "$logs/found" | sort -k1,1nr -k2,2n | sed 's/.* //' > "$logs/tests"
tr '\n' '\0' < "$logs/tests" | xargs -0 -P "${JOBS:-$(($(getconf _NPROCESSORS_ONLN) + 1))}" -n 1 sh tests/run.sh --one "$logs"

passed=0 failed=0 skipped=0
while read -r test; do
    read -r p f s < "$logs/$(basename "$test").counts" || p=0 f=1 s=0
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done < "$logs/tests"
cat "$logs"/*.seconds > "$known"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
