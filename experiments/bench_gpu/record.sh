#!/bin/sh
# record.sh FILE - make bench-gpu: runs both benchmarks of a GPU, and writes their rows and the state of the GPU to FILE.
#
# BENCH and THROUGHPUT are the programs, from the environment. FILE is one text that can be committed; it is written under
# a temporary name and renamed. The exit status is that of the first program that fails.
[ $# -eq 1 ] || { echo 'usage: record.sh FILE' >&2; exit 2; }
BENCH=${BENCH:-build/bin/bench_gpu} THROUGHPUT=${THROUGHPUT:-build/bin/throughput}
state=$(dirname "$0")/../../tests/gpu/state.sh
mkdir -p "$(dirname "$1")" results || exit 1
trap 'rm -f "$1.tmp"' EXIT
began=$(date +%s)
sh "$state" > "$1.tmp" || exit 1
"$BENCH" --restart --out results/bench_gpu.csv || exit
cat results/bench_gpu.csv >> "$1.tmp" && sh "$state" >> "$1.tmp"
"$THROUGHPUT" --restart --out results/throughput.csv || exit
cat results/throughput.csv >> "$1.tmp" && sh "$state" >> "$1.tmp"
echo "time         $(($(date +%s) - began)) s" >> "$1.tmp"
mv "$1.tmp" "$1" && echo "record: $1"
