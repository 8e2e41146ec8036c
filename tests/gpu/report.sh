#!/bin/sh
# report.sh - make check-gpu: writes the report of one machine to standard output and to REPORT while the tests run.
#
# CHECK and REPORT are from the environment. The report has the state of the device, every row of check_gpu, and short runs
# under compute-sanitizer if it is installed. Each part runs in its own process, so that a fault does not affect the other
# parts. PARTS are the parts to run; PATIENCE is the time limit of a part in seconds. The exit status is 0 if all rows
# passed, 1 if a row failed, and 3 if there is no device. CUDA_LAUNCH_BLOCKING=1 in the environment shows the failing kernel.
CHECK=${CHECK:-build/test/check_gpu} REPORT=${REPORT:-results/check_gpu.txt} PATIENCE=${PATIENCE:-300}
PARTS=${PARTS:-elements moves network gemm refusals tensor native training}

state() {
    command -v nvidia-smi > /dev/null || { echo 'state        nvidia-smi is not installed'; return; }
    nvidia-smi --query-gpu=driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.draw,temperature.gpu,persistence_mode,ecc.mode.current \
        --format=csv,noheader 2> /dev/null | sed 's/^/state        driver, SM clock, largest SM clock, memory clock, power, temperature, persistence, ECC: /'
}

part() { # part NAME: the rows of a part
    timeout "$PATIENCE" "$CHECK" --part "$1" --rows
    status=$?
    [ $status -le 1 ] || echo "FAIL part $1 ended with status $status$([ $status -ne 124 ] || echo ", after $PATIENCE s")"
}

sanitized() { # sanitized TOOL PART WORD: a short run under compute-sanitizer
    if timeout "$PATIENCE" compute-sanitizer --tool "$1" --error-exitcode 9 "$CHECK" --small --part "$2" --only "$3" > "$log" 2>&1; then
        echo "PASS compute-sanitizer $1, short run of $2 '$3'"
    else
        echo "FAIL compute-sanitizer $1, short run of $2 '$3'"
        grep -m 20 '=========' "$log" | sed 's/^/     /'
    fi
}

all() {
    state
    for name in $PARTS; do part "$name"; done
    if command -v compute-sanitizer > /dev/null; then
        for tool in memcheck racecheck synccheck; do
            sanitized $tool elements 'sizes 0'
            sanitized $tool elements map
            sanitized $tool elements update
            sanitized $tool elements largest
            sanitized $tool moves permute
            sanitized $tool moves patches
            sanitized $tool gemm products
            sanitized $tool tensor mma:fp16
            sanitized $tool tensor wgmma:e4m3
            sanitized $tool tensor tcgen05:e4m3-mx
        done
    else
        echo 'SKIP compute-sanitizer: it is not installed'
    fi
    state
}

log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
"$CHECK" --part none > "$log" 2>&1
status=$?
cat "$log"
[ $status -eq 0 ] || exit $status
mkdir -p "$(dirname "$REPORT")"
{ cat "$log"; all; } > "$REPORT.tmp" &
writer=$!
tail -n +1 -f --pid=$writer "$REPORT.tmp" 2> /dev/null | sed "1,$(wc -l < "$log")d"
wait $writer
counts=$(awk '/^PASS / {p++} /^FAIL / {f++} /^SKIP / {s++} END {printf "%d passed, %d failed, %d skipped", p, f, s}' "$REPORT.tmp")
printf '\n%s\n' "$counts" | tee -a "$REPORT.tmp"
mv "$REPORT.tmp" "$REPORT" && echo "report: $REPORT"
case $counts in
'0 passed'*) exit 1 ;;
*' 0 failed'*) exit 0 ;;
*) exit 1 ;;
esac
