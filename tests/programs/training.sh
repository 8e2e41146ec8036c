#!/bin/sh
# training.sh - a training that is killed and resumed gives the same CSV and leaves no other files.

. tests/programs/support.sh

left() { ls | grep -c 'ckpt'; }

# few points with many epochs, so that most kills happen during a training; a checkpoint is written every 10 ms. Under a
# sanitizer an epoch takes much longer.
case ${MODE:-release} in
release | debug) epochs=60 ;;
*) epochs=12 ;;
esac
F=$BIN/fixed_point
short="--formats q8.8 --modes rne,sra --seeds 1 --net fc60,relu,fc10 --optimizer sgd,rate=0.3"
small="$short --epochs $epochs"
run() { "$F" $small "$@"; }

run --quiet --checkpoint 0 --out whole.csv || verdict 1 "the whole run"
holds "a row per epoch: 3 settings of $epochs epochs" [ "$(grep -c ',epoch,[0-9]' whole.csv)" -eq $((3 * epochs)) ]
awk -F, -v last="$epochs" '$1 == "binary32" && $5 == last { loss[$4] = $6 } END { exit !(loss["epoch"] < 1.5 * loss["final"] && loss["final"] < 1.5 * loss["epoch"]) }' whole.csv
verdict $? "the mean loss of the last epoch is near the loss after it: the larger losses of earlier epochs do not count"
run --quiet --checkpoint 0.01 --out often.csv
same whole.csv often.csv "checkpoints leave no trace in the rows"
holds "and no files" [ "$(left)" -eq 0 ]

# start a run, and kill it after it has saved POINT points and a checkpoint of the next point, which takes at most two
# minutes
killed() { # killed SIGNAL POINT FILE OPTION...
    signal=$1 point=$2 file=$3
    shift 3
    "$F" $small --quiet --threads 1 --checkpoint 0.01 --out "$file" "$@" 2>err.txt &
    child=$!
    n=0
    until [ -e "$file.part.$point.ckpt" ] || ! kill -0 $child 2>/dev/null || [ $n -ge 12000 ]; do sleep 0.01; n=$((n + 1)); done
    kill -"$signal" $child 2>/dev/null
    wait $child 2>/dev/null
    child=
}

for signal in KILL TERM; do
    for point in 0 2; do
        rm -f r.csv*
        killed $signal $point r.csv
        if [ -f r.csv ] || [ ! -e r.csv.part.$point.ckpt ]; then
            skip "SIG$signal in the training of point $point" "it was over too soon"
            continue
        fi
        run --resume --quiet --out r.csv 2>err.txt
        same whole.csv r.csv "SIG$signal in the training of point $point: resumed, the same CSV"
        holds "and its checkpoint is gone" [ "$(left)" -eq 0 ]
    done
done

# a run that is killed several times
rm -f r.csv*
for n in 1 2 3 4 5; do
    "$F" $small --resume --quiet --threads 1 --checkpoint 0.01 --out r.csv 2>err.txt &
    child=$!
    sleep 0.3
    kill -KILL $child 2>/dev/null
    wait $child 2>/dev/null
    child=
done
run --resume --quiet --out r.csv 2>err.txt
same whole.csv r.csv "killed again and again: the same CSV"

# damaged checkpoints and checkpoints of other runs
rm -f r.csv*
killed KILL 1 r.csv
if [ -f r.csv ] || [ ! -e r.csv.part.1.ckpt ]; then skip "a damaged checkpoint" "it was over too soon"
else
    cp r.csv.part keep.part
    cp r.csv.part.1.ckpt keep.ckpt
    printf 'x' | dd of=r.csv.part.1.ckpt bs=1 seek=5000 conv=notrunc 2>/dev/null
    run --resume --quiet --out r.csv 2>err.txt
    same whole.csv r.csv "a damaged checkpoint is passed over"
    says 'damaged or truncated; .* starts from its beginning' err.txt "with a warning"
    # a checkpoint of a run with other options: the same network, another number of epochs
    "$F" $short --epochs $((epochs - 2)) --quiet --checkpoint 0 --out short.csv
    cp keep.ckpt o.csv.part.1.ckpt
    "$F" $short --epochs $((epochs - 2)) --quiet --resume --out o.csv 2>err.txt
    same short.csv o.csv "a checkpoint of other options is passed over"
    says 'is of another run' err.txt "with a warning"
    # a checkpoint is used with --resume only, and deleted with --restart only
    cp keep.ckpt n.csv.part.1.ckpt
    run --quiet --out n.csv 2>err.txt
    [ $? -eq 2 ] && cmp -s keep.ckpt n.csv.part.1.ckpt && [ ! -e n.csv.part ]
    verdict $? "a run without --resume leaves a checkpoint alone"
    says 'n.csv.part.1.ckpt is the checkpoint of a run that was stopped: --resume .* --restart' err.txt "and says what to do"
    run --quiet --restart --out n.csv 2>err.txt
    same whole.csv n.csv "a run with --restart starts from the beginning"
    holds "and removes what was left" [ "$(ls | grep -c 'n.csv.*ckpt')" -eq 0 ]
fi

# shards, one of which is killed during a training
rm -f keep.*
killed KILL 1 s2.csv --shard 1/2
[ -f s2.csv ] || run --shard 1/2 --resume --quiet --out s2.csv
run --shard 0/2 --quiet --out s1.csv
run --merge s1.csv s2.csv --quiet --out merged.csv
same whole.csv merged.csv "shards, one killed and resumed, merge into the same CSV"

rm -f r.csv* s2.csv* # a slow build can have left checkpoints of runs that were killed too early
run --quiet --checkpoint 0.01 --out - >t.csv 2>err.txt
same whole.csv t.csv "to standard output there are no checkpoints, and the same CSV"
holds "and no files" [ "$(left)" -eq 0 ]

exit $failed
