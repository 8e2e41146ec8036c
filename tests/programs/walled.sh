#!/bin/sh
# walled.sh - every program with --backend writes the same bytes with protected backend memory (tests/unit/walled.h), and with CUDA.
#
# TESTS/walled holds copies of the programs with the backend of tests/unit/walled.h in place of the CPU backend. A program that
# accesses the memory of this backend outside of an operation, or passes host memory to an operation, ends with an error.
# The CUDA device of these programs is the emulated device.

TESTS=$(cd "${TESTS:-build/test}" && pwd) || exit 2
. tests/programs/support.sh

emulated=
"$TESTS/walled/ulp" backends | grep -q '^cuda .*emulated device' && emulated=yes
count=0
for program in "$TESTS"/walled/*; do
    name=$(basename "$program")
    [ -x "$program" ] && [ "$name" != ulp ] && [ "$name" != bench ] || continue
    "$program" --help | grep -q -e '--backend' || continue
    count=$((count + 1))
    case ${MODE:-release}/$name in
    [at]san/ctc | [at]san/loss_scaling | [at]san/gradient_underflow | [at]san/quantized_inference | [at]san/fixed_point | \
        [at]san/recipe | [at]san/amp | [at]san/gan | [at]san/recurrence | [at]san/update_ratio)
        skip "$name: the same CSV behind the wall" "not under a sanitizer"; continue ;;
    esac
    less= # smaller options for the emulated device, which is slow
    case $name in
    all_reduce)
        part="--elements 4 --ranks 2,64 --steps 3 --train-ranks 2,8"
        less="--elements 2 --ranks 2,8 --formats bf16 --steps 1 --net fc4,relu,fc10 --train-ranks 2 --reductions ring:bf16:sr" ;;
    amp) part="--nets small,resnet,gru --steps 3 --seeds 1" less="--nets small --steps 1 --seeds 1 --ways amp" ;;
    batch_invariance)
        part="--sums 9 --k 256 --tokens 100 --bits 8 --completions 2 --length 3 --widths 8 --steps 3"
        less="--sums 3 --k 64 --parts 1,4 --tiles 1,4 --tokens 100 --bits 8 --completions 1 --length 2 --widths 8 --steps 1 --batch 1" ;;
    block_fma) part="--sizes 7,64,1000 --outputs 9" ;;
    counting) part="--formats bf16,e4m3 --terms 300 --limit 3000" ;;
    ctc) part="--steps 4 --longest 50 --every 2" less="--cells gru --recipes mixed:fp16 --steps 1 --every 1 --outputs 8 --labels 5 --longest 5 --net columns4,%8,conv11@1" ;;
    fixed_point) part="--epochs 2 --formats q8.8" less="--epochs 1 --formats q8.8 --seeds 1 --net fc4,relu,fc10" ;;
    fp8_accumulation)
        part="--k 480 --outputs 16 --bits 14,20 --promote 32,128 --scaling amax"
        less="--datapath h100-e4m3 --k 128 --outputs 16 --bits 14 --promote 128 --scaling amax" ;;
    gan)
        part="--steps 10 --every 5 --classifier-steps 20 --samples 50"
        less="--variants fp16-scaled --steps 1 --every 1 --seeds 1 --classifier-steps 1 --samples 20 --shown 1 --batch 4 --generator-net fc4,relu,reshape4x1x1,tconv1@8,up1 --discriminator-net fc4,relu,fc1 --classifier-net fc4,relu,fc10" ;;
    gradient_underflow) part="--steps 6 --every 3 --formats fp16,e4m3 --scales 0..3" less="--steps 3 --every 3 --formats fp16 --scales 0 --net conv2@3,bn,relu,fc10" ;;
    harmonic) part="--formats bf16,e4m3 --terms 300 --limit 3000" ;;
    loss_scaling)
        part="--nets small,resnet,gru --steps 2 --seeds 1 --scales 24 --scalers pytorch,layer --other-scalers all --other-scales 0"
        less="--net fc8,relu,fc10 --steps 1 --seeds 1 --scales 0 --scalers pytorch --other-scalers layer --other-scales 0" ;;
    magnitudes) part="--steps 20" less="--steps 2 --net fc8,relu,fc10 --batch 64" ;;
    multiword) part="--lengths 10,379 --words 1,3" less="--lengths 10,112 --words 1,3" ;;
    order) part="--k 333 --orders 20" ;;
    quantized_inference) part="--epochs 1 --bits 3,8 --seeds 1" less="--epochs 1 --bits 3 --schemes symmetric --seeds 1 --net fc10" ;;
    recipe) part="--epochs 2" less="--epochs 1 --seeds 1 --net fc4,relu,fc10 --variants fp32,fp16-recipe,bf16-nomaster,fp8-now" ;;
    recurrence)
        part="--parts random,trained,training --cells rnn,lstm --steps 32 --sequences 2 --batch 256 --piece 32 --hidden 8 --seeds 1"
        less="--parts random,training --cells rnn --units 4 --hidden 4 --gains 1 --formats bf16 --steps 32 --sequences 1 --batch 256 --piece 32 --seeds 1" ;;
    sr_bits) part="--bits 1,4 --reach 8 --terms 100 --runs 4" ;;
    sum_growth) part="--longest 2" ;;
    swamping) part="--seeds 1 --longest 10 --chunks 1,3,32" ;;
    tensor_core) part="--k 512 --outputs 16" ;;
    update_ratio) part="--steps 30 --looks 3" less="--steps 3 --looks 2 --net fc8,relu,fc10" ;;
    *) part="" ;;
    esac
    case ${MODE:-release} in [at]san) part=${less:-$part} ;; esac
    "$BIN/$name" --quick $part --threads 1 --quiet --out plain.csv >out.txt 2>err.txt # the runs are so small that claims may fail
    "$program" --quick $part --threads 1 --quiet --out walled.csv >out.txt 2>err.txt
    [ -f walled.csv ] || sed 's/^/# /' err.txt
    same plain.csv walled.csv "$name: the same CSV behind the wall"
    says '"machine": "walled ' walled.run.json "$name: it was there"
    if [ -n "$emulated" ]; then
        if [ -n "$less" ] && [ "$part" != "$less" ]; then
            part=$less
            "$BIN/$name" --quick $part --threads 1 --quiet --restart --out plain.csv >out.txt 2>err.txt
        fi
        "$program" --quick $part --threads 1 --quiet --backend cuda --out cuda.csv >out.txt 2>err.txt
        [ -f cuda.csv ] || sed 's/^/# /' err.txt
        same plain.csv cuda.csv "$name: the same CSV with --backend cuda"
        says '"machine": "emulated device' cuda.run.json "$name: it was the device"
    else
        skip "$name: the same CSV with --backend cuda" "no emulated device in this build"
    fi
    rm -f plain.* walled.* cuda.*
done
holds "there are programs to test" [ $count -gt 10 ]

for d in fp32 h100-fp16 a100-tf32 b200-e2m1-nvf4 b200-e4m3-mx int8 uint8.int8:za=3 maddubs-int8 h100-fp16:split-k=3:bf16 b200-e2m1-nvf4:split-k=2:fp32 serial:fp64:rne serial:fp16:sr; do
    shape="--m 17 --n 9 --k 70 --threads 1 --seconds 0"
    "$BIN/ulp" gemm --datapath $d $shape | grep -v '^time' >plain.txt
    "$TESTS/walled/ulp" gemm --datapath $d $shape >walled.txt
    verdict $? "ulp gemm $d behind the wall"
    says '^time .*, cpu walled ' walled.txt "it was there"
    grep -v '^time' walled.txt >out.txt
    same plain.txt out.txt "the same product"
    if [ -n "$emulated" ]; then
        "$TESTS/walled/ulp" gemm --datapath $d $shape --backend cuda | grep -v '^time' >out.txt
        same plain.txt out.txt "ulp gemm $d with --backend cuda"
    fi
done
# native products give the results of their models on the CPU, in a matrix product and in a network
if [ -n "$emulated" ]; then
    for d in mma:fp16=h100-fp16 mma:int8=int8 int8=int8 mma:fp64=serial:fp64:rne wgmma:bf16=h100-bf16 wgmma:e4m3:promote=64=h100-e4m3:promote=64; do
        shape="--m 65 --n 9 --k 130 --threads 1 --seconds 0" native=native:${d%=h100*} model=${d#*=}
        case $d in *promote*) model=h100-e4m3:promote=64 ;; *) native=native:${d%%=*} ;; esac
        "$BIN/ulp" gemm --datapath "$model" $shape | grep -E '^(checksum|data) ' | sed 's/ in [a-z0-9.:]*$//' >plain.txt
        "$TESTS/walled/ulp" gemm --datapath "$native" $shape --backend cuda | grep -E '^(checksum|data) ' | sed 's/ in [a-z0-9.:]*$//' >out.txt
        holds "ulp gemm $model" [ -s plain.txt ]
        same plain.txt out.txt "ulp gemm $native: the bits of $model"
    done
    # the same by tcgen05, with and without block scales, on the generation that has it
    shape="--m 65 --n 9 --k 130 --threads 1 --seconds 0"
    for d in fp16 e3m2.e2m1-fp16 e4m3-mx e2m1-mxf4 e2m1-nvf4; do
        "$BIN/ulp" gemm --datapath "b200-$d" $shape | grep -E '^(checksum|data) ' >plain.txt
        EMULATED_CAPABILITY=100 "$TESTS/walled/ulp" gemm --datapath "native:tcgen05:$d" $shape --backend cuda | grep -E '^(checksum|data) ' >out.txt
        holds "ulp gemm b200-$d" [ -s plain.txt ]
        same plain.txt out.txt "ulp gemm native:tcgen05:$d: the bits of b200-$d"
    done
    for native in tcgen05:e4m3 tcgen05:e2m1-nvf4; do
        exits 0 "ulp probe native:$native" env EMULATED_CAPABILITY=100 "$TESTS/walled/ulp" probe --backend cuda --datapath "native:$native"
        says '^0 properties differ from the model' out.txt "native:$native has the properties of its model"
    done
    # the prober finds the properties of the model in a native product
    for native in mma:fp16 mma:e4m3 mma:e4m3-fp16 mma:tf32 wgmma:e4m3; do
        exits 0 "ulp probe native:$native" "$TESTS/walled/ulp" probe --backend cuda --datapath "native:$native"
        says '^0 properties differ from the model' out.txt "native:$native has the properties of its model"
        says '^open points: ' out.txt "and the open points are listed"
    done
    exits 0 "ulp probe native --csv" "$TESTS/walled/ulp" probe --backend cuda --datapath native:mma:bf16 --csv
    says '^device,property,silicon,model,verdict,vector' out.txt "has a head"
    prints 0 "ulp probe --backend cuda --list" '^native:mma:fp16 ' "$TESTS/walled/ulp" probe --backend cuda --list
    exits 2 "a product of the processor on a device" "$TESTS/walled/ulp" probe --backend cuda --datapath native:avx512-bf16
    less="--net fc8,relu,fc10 --steps 1 --seeds 1 --scales 0 --scalers pytorch --other-scalers layer --other-scales 0 --formats fp16 --threads 1 --quick --quiet"
    "$BIN/loss_scaling" $less --policy mixed:fp16,acc=h100-fp16 --out plain.csv
    "$TESTS/walled/loss_scaling" $less --policy mixed:fp16,acc=native:mma:fp16 --backend cuda --out out.csv
    holds "loss_scaling with h100-fp16" [ -s plain.csv ]
    grep -v '^# policy' plain.csv >plain.txt
    grep -v '^# policy' out.csv >out.txt
    same plain.txt out.txt "loss_scaling with native:mma:fp16: the CSV of h100-fp16"
    exits 2 "loss_scaling with native:mma:fp16 and no --backend cuda" "$TESTS/walled/loss_scaling" $less --policy mixed:fp16,acc=native:mma:fp16 --out none.csv
    holds "and it writes nothing" [ ! -e none.csv ]
    for n in 7 abc -1; do
        exits 2 "ULPLAB_CUDA_DEVICE=$n" env ULPLAB_CUDA_DEVICE=$n "$TESTS/walled/ulp" gemm --datapath native:mma:fp16 --backend cuda
        says 'from 0 to 0' err.txt "and which there are"
        exits 2 "loss_scaling with ULPLAB_CUDA_DEVICE=$n" env ULPLAB_CUDA_DEVICE=$n "$TESTS/walled/loss_scaling" --backend cuda --out none.csv
        says 'from 0 to 0' err.txt "and which there are"
    done
    exits 3 "loss_scaling with a product that the device lacks" env EMULATED_CAPABILITY=80 "$TESTS/walled/loss_scaling" --backend cuda --out none.csv \
        --policy mixed:fp16,acc=native:wgmma:fp16
    exits 2 "ulp gemm with native:mma:fp16 and no --backend cuda" "$TESTS/walled/ulp" gemm --datapath native:mma:fp16
    exits 2 "ulp gemm with a native product that is none" "$TESTS/walled/ulp" gemm --datapath native:mma:fp17 --backend cuda
    for d in native:e4m3 native:wgmma:fp16; do
        exits 3 "ulp gemm with $d, which the device lacks" env EMULATED_CAPABILITY=80 "$TESTS/walled/ulp" gemm --datapath $d --backend cuda
    done
else
    skip "native products under networks" "no emulated device in this build"
fi
if "$BIN/ulp" backends | grep -q '^mpfr *offered'; then
    for f in fp16 q8.8 fp64 e4m3; do
        "$BIN/ulp" verify --format $f --sample 9000 --jobs 1 | sed 's/, [0-9.]* s on.*//' >plain.txt
        "$TESTS/walled/ulp" verify --format $f --sample 9000 --jobs 1 | sed 's/, [0-9.]* s on.*//' >out.txt
        same plain.txt out.txt "ulp verify --format $f behind the wall"
        [ -n "$emulated" ] || continue
        "$TESTS/walled/ulp" verify --format $f --sample 9000 --jobs 1 --backend cuda | sed 's/, [0-9.]* s on.*//' >out.txt
        same plain.txt out.txt "ulp verify --format $f with --backend cuda: the device functions against MPFR"
    done
else
    skip "ulp verify behind the wall" "this build has no MPFR"
fi
exit $failed
