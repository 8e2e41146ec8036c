#!/bin/sh
# report.sh - make check-gpu: writes the report of one machine to standard output and to REPORT while the tests run.
#
# CHECK and REPORT are from the environment. The report is one file that can be committed: the state of the device before
# and after, short runs under compute-sanitizer if it is installed, and every row of check_gpu, in the order in which a
# first run on a new GPU finds faults fastest. Each part runs in its own process, so that a fault does not affect the other
# parts. PARTS are the parts to run, `sanitizer` or parts of `check_gpu --parts`; LONG=1 takes large sizes. PATIENCE is the
# time limit of a part in seconds; the short runs together have two minutes, or PATIENCE each with LONG=1. The exit status is 0 if all rows passed, 1 if a row failed, and 3 if there is no device.
# CUDA_LAUNCH_BLOCKING=1 in the environment shows the failing kernel.
CHECK=${CHECK:-build/test/check_gpu} REPORT=${REPORT:-results/check_gpu.txt}
PATIENCE=${PATIENCE:-$([ -n "$LONG" ] && echo 3600 || echo 300)}
here=$(dirname "$0")
known="sanitizer $("$CHECK" --parts | cut -f 1 | tr '\n' ' ')" || exit 1
PARTS=${PARTS:-$known}
for name in $PARTS; do
    case " $known " in
    *" $name "*) ;;
    *) echo "make check-gpu: PARTS='$name': the parts are $known" >&2; exit 2 ;;
    esac
done

part() { # part NAME: the rows of a part
    timeout "$PATIENCE" "$CHECK" --part "$1" --rows ${LONG:+--long}
    status=$?
    [ $status -le 1 ] || echo "FAIL part $1 ended with status $status$([ $status -ne 124 ] || echo ", after $PATIENCE s")"
}

sanitized() { # sanitized TOOL PART WORD: a short run under compute-sanitizer
    left=$PATIENCE
    [ -n "$LONG" ] || left=$((120 + sanitizer_began - $(date +%s)))
    text="compute-sanitizer $1, short run of $2 '$3'"
    [ $left -gt 0 ] || { echo "SKIP $text: no time left; LONG=1 takes more"; return; }
    timeout "$left" compute-sanitizer --tool "$1" --error-exitcode 9 "$CHECK" --small --part "$2" --only "$3" > "$log" 2>&1
    case $? in
    0) echo "PASS $text" ;;
    124) echo "SKIP $text: not finished in $left s; LONG=1 takes more" ;;
    *)
        echo "FAIL $text"
        grep -m 20 '=========' "$log" | sed 's/^/     /'
        ;;
    esac
}

# Copies wait for copies, stages of operands and rounding are where a race or a wrong address would be.
sanitizer() {
    sanitizer_began=$(date +%s)
    command -v compute-sanitizer > /dev/null || { echo 'SKIP compute-sanitizer: it is not installed'; return; }
    for tool in memcheck racecheck synccheck initcheck; do
        sanitized $tool gemm products
        sanitized $tool tensor mma:fp16
        sanitized $tool tensor wgmma:e4m3
        sanitized $tool tensor tcgen05:e4m3-mx
        [ -n "$LONG" ] || [ $tool = memcheck ] || continue
        sanitized $tool elements 'sizes 0'
        sanitized $tool elements map
        sanitized $tool elements update
        sanitized $tool elements largest
        sanitized $tool moves permute
        sanitized $tool moves patches
        sanitized $tool network softmax
    done
}

all() {
    sh "$here/state.sh"
    for name in $PARTS; do
        began=$(date +%s)
        case $name in sanitizer) sanitizer ;; *) part "$name" ;; esac
        echo "time         part $name: $(($(date +%s) - began)) s"
    done
    sh "$here/state.sh"
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
