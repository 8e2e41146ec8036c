#!/bin/sh
# record.sh JSON MARKDOWN - adds a run of the benchmark to the record, or replaces the record of the same processor,
# instruction set and compiler. Exit 2 if JSON is no result of bench; the record is then unchanged.
here=$(dirname "$0")
[ $# -eq 2 ] || { echo "usage: record.sh JSON MARKDOWN" >&2; exit 2; }
[ -r "$1" ] && [ ! -d "$1" ] || { echo "bench-record: cannot read $1: make bench writes results/bench.json" >&2; exit 2; }
old=$2
if [ ! -s "$old" ]; then
    old=$2.head.tmp
    cat >"$old" <<'HEAD' || exit 1
# Timings

Written by `make bench-record` from the results of `make bench`: one section for each processor, instruction set and
compiler. A number is the median of the rounds of one run, with the quartiles in parentheses; a ratio is the median of the
ratios of the rounds, in which the row and what it stands beside are measured close together in time. `speed` is the
quotient of the rates, `time` the quotient of the times for equal work. The time on one thread is the processor time of the
thread; on several threads it is that of the clock, so that programs beside the benchmark slow it (see the load average).
experiments/bench/bench.c says what binds each row. Timings differ from run to run, and no test depends on them.
HEAD
fi
awk -f "$here/json.awk" -f "$here/record.awk" "$1" "$old" >"$2.tmp"
status=$?
[ "$old" = "$2" ] || rm -f "$old"
if [ $status -ne 0 ]; then
    rm -f "$2.tmp"
    exit 2
fi
mv "$2.tmp" "$2" && echo "$2: $(awk 'index($0, "## ") == 1' "$2" | wc -l | tr -d ' ') sections"
