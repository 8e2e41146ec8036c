#!/bin/sh
# kills.sh - SIGKILL at times by chance, again and again; then --resume gives the bytes of an undisturbed run.
#
# ROUNDS: runs of each command that are killed to the end (default 6). SEED of the times (default 1).

. tests/programs/support.sh

# kill_again TEXT FILES SECONDS COMMAND...: `FILES` are the outputs; each is absent or whole after each kill
kill_again() {
    text=$1 files=$2 longest=$3
    shift 3
    mkdir whole run
    (cd whole && "$@" >/dev/null 2>&1) || { verdict 1 "$text: an undisturbed run"; return; }
    round=0 kills=0 wrong=
    while [ $round -lt "${ROUNDS:-6}" ] && [ -z "$wrong" ]; do
        round=$((round + 1)) try=0 status=137 more=
        rm -rf run/*
        while [ $status -ne 0 ] && [ -z "$wrong" ]; do
            try=$((try + 1)) # the times grow, so that every run ends
            pause=$(awk -v s="${SEED:-1}$round$try" -v most="$longest" -v t=$try 'BEGIN { srand(s); print rand() * most * (1 + t * t / 20) }')
            (cd run && exec "$@" $more) >out.txt 2>err.txt &
            child=$!
            (sleep "$pause"; kill -9 $child) 2>/dev/null &
            killer=$!
            wait $child 2>/dev/null
            status=$?
            kill $killer 2>/dev/null
            wait $killer 2>/dev/null
            child= more=--resume
            [ $status -eq 137 ] && kills=$((kills + 1))
            [ $status -eq 0 ] || [ $status -eq 137 ] || wrong="exit $status: $(cat err.txt)"
            for file in $files; do
                [ ! -e "run/$file" ] || cmp -s "whole/$file" "run/$file" || wrong="$file is not whole after kill $kills"
            done
        done
        [ "$(ls whole)" = "$(ls run)" ] || wrong="other files: $(ls run | tr '\n' ' ')"
    done
    [ -z "$wrong" ] || echo "# $wrong" | sed 's/^/# /'
    [ -z "$wrong" ] && [ $kills -gt 0 ]
    verdict $? "$text: $round runs, killed $kills times"
    rm -rf whole run
}

kill_again 'stagnation' 'o.csv o.summary.csv' 0.05 "$BIN/stagnation" --quick --threads 2 --quiet --out o.csv
kill_again 'loss_scaling with checkpoints' 'o.csv o.summary.csv' 0.3 "$BIN/loss_scaling" --quick --steps 12 --seeds 1 --net fc10 \
    --scales 0,8 --scalers pytorch,amax --threads 2 --quiet --checkpoint 1e-9 --out o.csv
kill_again 'gan with checkpoints' 'o.csv o.summary.csv' 0.3 "$BIN/gan" --quick --steps 12 --every 6 --seeds 1 --variants fp16,fp32 \
    --classifier-steps 5 --samples 40 --shown 2 --classifier-net fc10 --threads 2 --quiet --checkpoint 1e-9 --out o.csv
kill_again 'all_reduce' 'o.csv o.summary.csv' 0.2 "$BIN/all_reduce" --quick --orders all --formats bf16,e4m3 --ranks 2,4 --elements 16 \
    --train-ranks 2,4 --steps 4 --seeds 1 --threads 2 --quiet --checkpoint 1e-9 --out o.csv

# ---- a request to stop while the output waits for a slow reader: the write goes on ----

large="--quick --formats fp16,bf16,e4m3 --modes all --threads 1 --quiet"
"$BIN/stagnation" $large --out whole.csv
mkfifo pipe
(sleep 2; cat) <pipe >got.csv &
reader=$!
"$BIN/stagnation" $large --out - >pipe 2>err.txt &
child=$!
sleep 1
kill -TERM $child
wait $child
status=$?
child=
wait $reader
[ $status -eq 0 ] && cmp -s whole.csv got.csv || { echo "# exit $status"; sed 's/^/# /' err.txt; false; }
verdict $? 'SIGTERM while a pipe is full: the output is whole'
exit $failed
