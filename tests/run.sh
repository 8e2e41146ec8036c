#!/bin/sh
# run.sh - runs every test and adds up: BIN, TESTS (folders), CC, NVCC, MODE from the environment.
#
# A test is a program build/test/t_* (cmocka, TAP output) or a script tests/*.sh that prints TAP lines. A
# test that ends badly without saying "not ok" counts as one failure. The last line is the verdict in
# numbers, the exit status the verdict.
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
passed=0 failed=0 skipped=0
export BIN CC NVCC MODE
export CMOCKA_MESSAGE_OUTPUT=TAP
# threads that wait give their processor away: on a busy machine spinning costs minutes
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}"
export ASAN_OPTIONS="${ASAN_OPTIONS:-allocator_may_return_null=1}"

for test in "$TESTS"/t_* tests/*.sh; do
    case $test in
    */t_*.d | tests/run.sh | tests/support.sh | tests/exhaustive.sh) continue ;;
    *.sh) command="sh $test" ;;
    *) command=$test ;;
    esac
    [ -e "$test" ] || continue
    started=$(date +%s)
    $command > "$log" 2>&1 < /dev/null
    status=$?
    # cmocka writes a skipped test as "not ok N # SKIP name"
    s=$(grep -cE '^(not )?ok .*# SKIP' "$log")
    p=$(grep -E '^ok ' "$log" | grep -vcE '# SKIP')
    f=$(grep -E '^not ok ' "$log" | grep -vcE '# SKIP')
    [ "$status" -ne 0 ] && [ "$f" -eq 0 ] && f=1
    [ $((p + f + s)) -eq 0 ] && f=1
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    printf '%-28s %4d passed %3d failed %3d skipped  %4d s\n' "$(basename "$test")" "$p" "$f" "$s" $(($(date +%s) - started))
    grep -E '^(not )?ok .*# SKIP' "$log" | sed -E 's/^(not )?ok /    /'
    if [ "$f" -ne 0 ]; then
        echo "    exit status $status"
        grep -vE '^ok ' "$log" | tail -40 | sed 's/^/    /'
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
