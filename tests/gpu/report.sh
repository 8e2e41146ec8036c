#!/bin/sh
# report.sh - make check-gpu: writes the report of one machine to standard output and to REPORT while the tests run.
#
# CHECK and REPORT are from the environment. The report is one file that can be committed: what was run, the state of the
# device before and after, every row of check_gpu, in the order in which a first run on a new GPU finds faults fastest, and
# short runs under compute-sanitizer if it is installed. Each part runs in its own process, so that a fault does not affect
# the other parts; what a part writes to standard error is in the report below its rows. The settings:
#  - PARTS: the parts to run, `sanitizer` or parts of `check_gpu --parts`; without it all parts
#  - LONG=1: large sizes
#  - PATIENCE: the time limit of a part in seconds; the short runs together have two minutes, or PATIENCE each with LONG=1
#  - REPORT: the file; without it results/check_gpu.txt, or results/check_gpu.parts.txt if PARTS is given
# The exit status is 0 if no row failed, 1 if a row failed or the report cannot be kept, 2 for a wrong setting, 3 if there is
# no device, and 130 if INT, TERM or HUP ended the run: then the report has the rows so far and a last line `interrupted`.
# CUDA_LAUNCH_BLOCKING=1 in the environment shows the failing kernel.
set -f # PARTS is a list of words, not of file names
wrong() { echo "make check-gpu: $1" >&2; exit 2; }

case ${LONG:=0} in
0) LONG= ;;
1) ;;
*) wrong "LONG='$LONG': 1 takes large sizes; 0 or nothing takes usual sizes" ;;
esac
case ${PATIENCE:=$([ -n "$LONG" ] && echo 3600 || echo 300)} in
0* | *[!0-9]* | ??????????*) wrong "PATIENCE='$PATIENCE': it is a whole number of seconds, from 1 to 999999999" ;;
esac
CHECK=${CHECK:-build/test/check_gpu} REPORT=${REPORT:-results/check_gpu${PARTS:+.parts}.txt}
case $CHECK in */*) ;; *) CHECK=./$CHECK ;; esac
[ -f "$CHECK" ] && [ -x "$CHECK" ] || wrong "CHECK='$CHECK': it is not a program"
list=$("$CHECK" --parts) || wrong "CHECK='$CHECK': it does not list its parts"
known="$(echo "$list" | cut -f 1 | tr '\n' ' ')sanitizer"
# shellcheck disable=SC2086 # a list of words
set -- ${PARTS:-$known}
[ $# -gt 0 ] || wrong "PARTS='$PARTS': the parts are $known"
for name; do
    case " $known " in
    *" $name "*) ;;
    *) wrong "PARTS='$name': the parts are $known" ;;
    esac
done
PARTS=$*
case $REPORT in
*/) wrong "REPORT='$REPORT': it is a folder, not a file" ;;
-*) REPORT=./$REPORT ;;
esac
[ ! -e "$REPORT" ] || [ -f "$REPORT" ] || wrong "REPORT='$REPORT': it is not a file"
mkdir -p "$(dirname "$REPORT")" 2> /dev/null || wrong "REPORT='$REPORT': its folder cannot be made"
(: > "$REPORT.tmp") 2> /dev/null || wrong "REPORT='$REPORT': '$REPORT.tmp' cannot be written"
here=$(dirname "$0")

# A shell acts on a signal only when its foreground program has ended, so programs run in the background.
child=
run() { # run COMMAND...: its exit status
    "$@" &
    child=$!
    wait $child
    set -- $?
    child=
    return "$1"
}

end_child() {
    trap '' INT TERM HUP
    [ -z "$child" ] || { kill "$child"; wait "$child"; } 2> /dev/null
}

# `timeout` has a process group of its own, and passes TERM on to all of it
limited() { run timeout -k 10 "$@"; }

part() { # part NAME: the rows of a part
    failed=$(grep -c '^FAIL ' "$REPORT.tmp")
    limited "$PATIENCE" "$CHECK" --part "$1" --rows ${LONG:+--long} 2> "$log"
    status=$?
    if [ $status -gt 1 ] || { [ $status -eq 1 ] && [ "$(grep -c '^FAIL ' "$REPORT.tmp")" -eq "$failed" ]; }; then
        echo "FAIL part $1 ended with status $status$([ $status -ne 124 ] || echo ", after $PATIENCE s")"
    elif [ -s "$log" ]; then
        echo "stderr       part $1"
    fi
    tail -n 20 "$log" | sed 's/^/     /'
}

sanitized() { # sanitized TOOL PART WORD: a short run under compute-sanitizer
    left=$PATIENCE
    [ -n "$LONG" ] || left=$((120 + sanitizer_began - $(date +%s)))
    text="compute-sanitizer $1, short run of $2 '$3'"
    [ $left -gt 0 ] || { echo "SKIP $text: no time left; LONG=1 takes more"; return; }
    limited "$left" compute-sanitizer --tool "$1" --error-exitcode 9 "$CHECK" --small --part "$2" --only "$3" > "$log" 2>&1
    case $? in
    0) # a run whose rows are all skipped has checked nothing
        if grep -q '^PASS ' "$log"; then echo "PASS $text"; else echo "SKIP $text: no row of it ran"; fi
        ;;
    124) echo "SKIP $text: not finished in $left s; LONG=1 takes more" ;;
    *)
        echo "FAIL $text"
        { grep -m 20 '=========' "$log" || tail -n 20 "$log"; } | sed 's/^/     /'
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
    limited 60 sh "$here/state.sh"
    for name in $PARTS; do
        began=$(date +%s)
        case $name in sanitizer) sanitizer ;; *) part "$name" ;; esac
        echo "time         part $name: $(($(date +%s) - began)) s"
    done
    limited 60 sh "$here/state.sh"
}

keep() { # the report gets its name
    mv "$REPORT.tmp" "$REPORT" 2> /dev/null && { echo "report: $REPORT"; return; }
    echo "make check-gpu: REPORT='$REPORT': '$REPORT.tmp' has the report, and cannot be renamed" >&2
    return 1
}

interrupted() {
    end_child
    if [ -n "$shown" ]; then
        wait "$shown" # it ends after the writer
        echo interrupted >> "$REPORT.tmp"
        echo interrupted
        keep
    else
        rm -f "$REPORT.tmp"
    fi
    exit 130
}

shown=
log=$(mktemp) || { rm -f "$REPORT.tmp"; exit 1; }
trap 'rm -f "$log"' EXIT
trap interrupted INT TERM HUP
limited "$PATIENCE" "$CHECK" --part none > "$log" 2>&1
status=$?
[ $status -eq 0 ] || { cat "$log"; rm -f "$REPORT.tmp"; exit $status; }
{
    echo "parts        $PARTS"
    echo "sizes        $([ -n "$LONG" ] && echo large || echo usual)"
    echo "source       $(git -C "$here" describe --always --dirty 2> /dev/null || echo 'no repository')"
    echo "date         $(date -u '+%Y-%m-%d %H:%M UTC')"
    cat "$log"
} > "$REPORT.tmp"
{ trap 'end_child; exit 130' INT TERM HUP; all; } >> "$REPORT.tmp" &
child=$!
tail -n +1 -f --pid=$child "$REPORT.tmp" 2> /dev/null &
shown=$!
wait $child
child=
wait $shown
counts=$(awk '/^PASS / {p++} /^FAIL / {f++} /^SKIP / {s++} END {printf "%d passed, %d failed, %d skipped", p, f, s}' "$REPORT.tmp")
trap '' INT TERM HUP # the report is complete
printf '\n%s\n' "$counts" >> "$REPORT.tmp"
printf '\n%s\n' "$counts"
keep || exit 1
case $counts in
'0 passed, 0 failed, 0 skipped') exit 1 ;;
*' 0 failed'*) exit 0 ;;
*) exit 1 ;;
esac
