#!/bin/sh
# silicon.sh - the short form of make check-silicon: the processor's own products against their models; and how the tool names them.
. tests/programs/tool_support.sh

"$tree/${TESTS:-build/test}/check_silicon" --small --tap || failed=1
for native in avx512-bf16 vnni-int8-sat maddubs-int8 amx-bf16 avx512-fp16 arm-bfdot arm-smmla; do
    "$ULP" probe --datapath native:$native >out 2>err
    got=$?
    if "$ULP" backends | grep -q "^native:$native .*not offered"; then
        [ $got -eq 3 ] && grep -q 'has no \|not built\|does not permit\|not for x86\|not for aarch64' err
        verdict $? "native:$native is not there: exit 3 and why"
    else
        [ $got -eq 0 ]
        verdict $? "ulp probe finds the properties of the row on native:$native"
    fi
done
if "$ULP" backends | grep -q '^native:avx512-bf16 *offered'; then
    gives 'the odd product first: 2^24 + 1 is lost' 0 '4b800000 cb80 3f80 3f80 3f80\n' '00000000\n' dot --datapath native:avx512-bf16
    gives 'the row does the same' 0 '4b800000 cb80 3f80 3f80 3f80\n' '00000000\n' dot --datapath avx512-bf16
    for isa in baseline avx2 avx512; do
        ULPLAB_ISA=$isa "$ULP" backends >/dev/null 2>&1 || continue # not in this build
        for d in avx512-bf16 native:avx512-bf16; do
            ULPLAB_ISA=$isa "$ULP" gemm --datapath $d --m 33 --n 21 --k 50 --seconds 0 | grep '^checksum ' | cut -d' ' -f1-12 | sed 's/ in .*//'
        done >sums.txt
        [ "$(sort -u sums.txt | wc -l)" = 1 ] || sed 's/^/#   /' sums.txt
        [ "$(wc -l <sums.txt)" = 2 ] && [ "$(sort -u sums.txt | wc -l)" = 1 ]
        verdict $? "ulp gemm on $isa: the bits of the row"
    done
    less="--net fc8,relu,fc10 --steps 1 --seeds 1 --scales 0 --scalers pytorch --other-scalers layer --other-scales 0 --formats bf16 --threads 1 --quick --quiet"
    for d in avx512-bf16 native:avx512-bf16; do
        "$BIN/loss_scaling" $less --policy mixed:bf16,acc=$d --out out.csv >/dev/null
        grep -v '^# policy' out.csv >${d%:*}.csv
    done
    holds 'loss_scaling with native:avx512-bf16' [ -s native.csv ]
    same avx512-bf16.csv native.csv 'loss_scaling with native:avx512-bf16: the CSV of avx512-bf16'
    "$ULP" probe --tree native:avx512-bf16 --k 4 >out
    holds 'the tree of native:avx512-bf16' [ "$(sed -n 2p out)" = '((((c 1) 0) 3) 2)' ]
else
    skip 'native:avx512-bf16' 'this processor has no AVX512_BF16'
fi
refuses 'conversions are no product' 'these are conversions' gemm --datapath native:f16c
refuses 'an unknown native product' 'did you mean native:avx512-bf16' gemm --datapath native:avx512
refuses 'a native product with a setting' "'length=8' cannot be set" gemm --datapath native:amx-bf16:length=8
refuses "a GPU's product without --backend cuda" 'takes --backend cuda' gemm --datapath native:mma:fp16

exit $failed
