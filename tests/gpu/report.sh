#!/bin/sh
# report.sh - make check-gpu: the report of one machine, to standard output and into REPORT: CHECK, REPORT from the environment.
#
# The state of the device, every row of check_gpu, and a short run under compute-sanitizer where it is installed. Exit status 0:
# all rows passed; 1: one failed; 3: there is no device.
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
passed=0 failed=0 skipped=0

row() { # row VERDICT TEXT
    printf '%s %s\n' "$1" "$2"
    case $1 in PASS) passed=$((passed + 1)) ;; FAIL) failed=$((failed + 1)) ;; *) skipped=$((skipped + 1)) ;; esac
}

state() {
    command -v nvidia-smi > /dev/null || { echo 'state        nvidia-smi is not there'; return; }
    nvidia-smi --query-gpu=driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.draw,temperature.gpu,persistence_mode,ecc.mode.current \
        --format=csv,noheader 2> /dev/null | sed 's/^/state        driver, SM clock, its most, memory clock, power, temperature, persistence, ECC: /'
}

# sanitized TOOL PART: a short run of a part under it
sanitized() {
    if compute-sanitizer --tool "$1" --error-exitcode 9 "$CHECK" --small --only "$2" > "$log" 2>&1; then row PASS "compute-sanitizer $1, short run of '$2'"
    else
        row FAIL "compute-sanitizer $1, short run of '$2'"
        grep -m 20 '=========' "$log"
    fi
}

run() {
    state
    "$CHECK" > "$log" 2>&1
    status=$?
    cat "$log"
    [ $status -eq 3 ] && return 3
    read -r passed failed skipped << END
$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$log" | tail -n 1)
END
    [ -n "$passed" ] || { passed=0 failed=0 skipped=0; row FAIL "check_gpu ended with status $status before its last line"; }
    if command -v compute-sanitizer > /dev/null; then
        for part in round products mma wgmma training; do
            sanitized memcheck $part
            sanitized racecheck $part
        done
    else
        row SKIP 'compute-sanitizer memcheck and racecheck: it is not installed'
    fi
    state
    printf '\n%d passed, %d failed, %d skipped, with the sanitizer\n' "$passed" "$failed" "$skipped"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

out=$(mktemp) || exit 1
run > "$out"
status=$?
cat "$out"
if [ $status -eq 3 ]; then rm -f "$out"; exit 3; fi
mkdir -p "$(dirname "$REPORT")" && mv "$out" "$REPORT" && echo "report: $REPORT"
exit $status
