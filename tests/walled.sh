#!/bin/sh
# walled.sh - every program that takes --backend computes in the backend's memory alone: the same bytes with a wall around it.
#
# TESTS/walled holds the programs again, with the backend of tests/walled.h in the place of the CPU's: what touches its memory
# from outside of an operation, or hands it memory of the host, does not come to its end.

TESTS=$(cd "${TESTS:-build/test}" && pwd) || exit 2
. tests/support.sh

count=0
for program in "$TESTS"/walled/*; do
    name=$(basename "$program")
    [ -x "$program" ] && [ "$name" != ulp ] || continue
    count=$((count + 1))
    case ${MODE:-release}/$name in
    [at]san/ctc | [at]san/loss_scaling | [at]san/gradient_underflow | [at]san/quantized_inference | [at]san/fixed_point | \
        [at]san/recipe | [at]san/recurrence | [at]san/update_ratio)
        skip "$name: the same CSV behind the wall" "not under a sanitizer"; continue ;;
    esac
    case $name in
    block_fma) part="--sizes 7,64,1000 --outputs 9" ;;
    counting) part="--formats bf16,e4m3 --terms 300 --limit 3000" ;;
    ctc) part="--steps 12 --longest 50 --every 6" ;;
    fixed_point) part="--epochs 2 --formats q8.8" ;;
    fp8_accumulation) part="--k 992 --outputs 17 --bits 14,20 --promote 32,128 --scaling amax" ;;
    gradient_underflow) part="--steps 6 --every 3 --formats fp16,e4m3 --scales 0..3" ;;
    harmonic) part="--formats bf16,e4m3 --terms 300 --limit 3000" ;;
    loss_scaling) part="--nets small,resnet,gru --steps 10 --seeds 1 --scales 0,24 --scalers all --other-scalers all --other-scales 0" ;;
    magnitudes) part="--steps 20" ;;
    order) part="--k 333 --orders 20" ;;
    quantized_inference) part="--epochs 1 --bits 3,8" ;;
    recipe) part="--epochs 4" ;;
    recurrence) part="--parts random,trained,training --cells rnn,lstm --steps 32 --sequences 2" ;;
    sr_bits) part="--bits 1,4" ;;
    sum_growth) part="--longest 3" ;;
    swamping) part="--seeds 1 --longest 12 --chunks 1,3,32" ;;
    tensor_core) part="" ;;
    update_ratio) part="--steps 30 --looks 3" ;;
    *) part="" ;;
    esac
    "$BIN/$name" --quick $part --threads 1 --quiet --out plain.csv >out.txt 2>err.txt # claims may fail: the runs are too small for them
    "$program" --quick $part --threads 1 --quiet --out walled.csv >out.txt 2>err.txt
    [ -f walled.csv ] || sed 's/^/# /' err.txt
    same plain.csv walled.csv "$name: the same CSV behind the wall"
    says '"machine": "walled ' walled.run.json "$name: it was there"
    rm -f plain.* walled.*
done
[ $count -gt 10 ]
verdict $? "there are programs to test"

for d in fp32 h100-fp16 a100-tf32 b200-e2m1-nvf4 b200-e4m3-mx int8 serial:fp64:rne serial:fp16:sr; do
    shape="--m 17 --n 9 --k 70 --threads 1"
    "$BIN/ulp" gemm --datapath $d $shape | grep -v '^time' >plain.txt
    "$TESTS/walled/ulp" gemm --datapath $d $shape >walled.txt
    verdict $? "ulp gemm $d behind the wall"
    says '^time .*, cpu walled ' walled.txt "it was there"
    grep -v '^time' walled.txt >out.txt
    same plain.txt out.txt "the same product"
done
if "$BIN/ulp" backends | grep -q '^mpfr *offered'; then
    for f in fp16 q8.8 fp64 e4m3; do
        "$BIN/ulp" verify --format $f --sample 9000 --jobs 1 | sed 's/, [0-9.]* s on.*//' >plain.txt
        "$TESTS/walled/ulp" verify --format $f --sample 9000 --jobs 1 | sed 's/, [0-9.]* s on.*//' >out.txt
        same plain.txt out.txt "ulp verify --format $f behind the wall"
    done
else
    skip "ulp verify behind the wall" "this build has no MPFR"
fi
exit $failed
