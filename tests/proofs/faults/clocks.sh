#!/bin/sh
# clocks.sh - clocks that jump by hours: the bytes stay, checkpoints go on, and no message has a negative number.

. tests/programs/support.sh

library=$(cd "$OLDPWD" && cd "${TESTS:-build/test}/faults" && pwd)/interpose.so
training="--quick --steps 12 --seeds 1 --net fc10 --formats fp16 --scales 0 --scalers pytorch --threads 1 --out o.csv"
head -c 400 /dev/zero >counts
count() { od -A n -t u8 -j 120 -N 8 counts | tr -d ' '; } # fault_counts.clock, after 15 families
jump() { # jump CLOCK COMMAND...
    clock=$1
    shift
    head -c 400 /dev/zero >counts
    env FAULT_COUNTS="$PWD/counts" FAULT_CLOCK="$clock" LD_PRELOAD="$library" "$@" >out.txt 2>err.txt
}

for command in "stagnation --quick --formats fp16 --modes rne,sr --threads 1 --out o.csv" "loss_scaling $training --checkpoint 60" \
    "ulp verify --format e4m3 --mode rne,ru --overflow inf --sample 2000 --jobs 1"; do
    set -- $command
    name=$1 program=$BIN/$1
    shift
    "$program" "$@" >plain.txt 2>/dev/null
    [ ! -e o.csv ] || mv o.csv whole.csv
    jump both:0:1 "$program" "$@"
    calls=$(count)
    [ "$calls" -gt 0 ] || { skip "$name: clocks" "the library counts no call here"; continue; }
    for step in real:7200 real:-7200 both:7200 both:-7200 both:-4000000; do
        wrong= replays=0 at=1
        while [ $at -le "$calls" ] && [ -z "$wrong" ]; do
            rm -f o.csv
            jump $step:$at "$program" "$@" || wrong="exit status $? at look $at: $(cat err.txt)"
            [ ! -e whole.csv ] || cmp -s whole.csv o.csv || wrong="other bytes at look $at"
            # times of a clock that went back are the only numbers that may be negative, in the last line
            ! grep -E '(^|[ (])-[0-9.]+ (s|min|h)|nan|inf (s|min|h)' err.txt out.txt >bad.txt || wrong="at look $at: $(cat bad.txt)"
            [ -z "$(find . -name '*.part*' -o -name '*.tmp')" ] || wrong="files stay at look $at"
            replays=$((replays + 1)) at=$((at + 1 + calls / 30))
        done
        [ -z "$wrong" ] || echo "# $wrong" | sed 's/^/# /'
        [ -z "$wrong" ]
        verdict $? "$name, $step seconds: at $replays of $calls looks at a clock"
    done
    rm -f whole.csv o.*
done

# a jump forward makes checkpoints due, and they hold the training
jump both:7200:4 "$BIN/loss_scaling" $training --quiet --checkpoint 60
[ $? -eq 0 ]
verdict $? 'a jump makes a checkpoint due'
exit $failed
