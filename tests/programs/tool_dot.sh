#!/bin/sh
# tool_dot.sh - ulp dot, gemm and probe: results computed by hand, bad input.
. tests/programs/tool_support.sh

# ---- dot ----

gives '1 + 2 3 + 4 5 = 27 in binary16' 0 '3c00 4000 4400 4200 4500\n' '4ec0\n' dot --datapath serial:fp16:rne
gives 'the order counts: 2048 + 1 + 1' 0 '0000 6800 3c00 3c00 3c00 3c00 3c00\n' '6800\n' dot --datapath serial:fp16:rne
gives 'the other way round: 1 + 1 + 2048' 0 '0000 3c00 3c00 6800 3c00 3c00 3c00\n' '6801\n' dot --datapath serial:fp16:rne
gives 'binary16 products in binary32: 2048 + 1 + 1' 0 '00000000 6800 3c00 3c00 3c00 3c00 3c00\n' '45002000\n' dot --datapath fp32 --in fp16
gives 'no products' 0 '3c00\n' '3c00\n' dot --datapath serial:fp16:rne
gives 'e4m3 in binary16' 0 '0000 7e 7e\n' '7c00\n' dot --datapath serial:fp16:rne --in e4m3
gives 'three words of bfloat16: 1.0000001 x 3' 0 '00000000 3f800001 40400000\n' '40400001\n' dot --datapath h100-bf16:words=3
gives 'one word of bfloat16' 0 '00000000 3f800001 40400000\n' '40400000\n' dot --datapath h100-bf16:words=1
gives 'stochastic: step j of line i takes word i k + j' 0 '3c00 1000 3c00\n3c00 1000 3c00\n3c00 1000 3c00\n' '3c00\n3c01\n3c01\n' dot --datapath serial:fp16:sr --seed 0
first='3c00 1000 0000 3c00 3c00\n' second='3c00 0000 1000 3c00 3c00\n'
gives 'stochastic: the first of two products' 0 "$first$first$first$first" '3c00\n3c01\n3c00\n3c00\n' dot --datapath serial:fp16:sr --seed 8589934592 --stream 4294967303
gives 'stochastic: the second of two products' 0 "$second$second$second$second" '3c00\n3c01\n3c01\n3c01\n' dot --datapath serial:fp16:sr --seed 8589934592 --stream 4294967303
gives 'an even number of codes' 2 '3c00 3c00\n' '' dot --datapath serial:fp16:rne
refuses 'no datapath' '--datapath' dot
refuses 'an unknown datapath' "--datapath: no datapath 'warp'$" dot --datapath warp
says 'an unknown datapath: where the list is' '`ulp help datapaths` lists them' err
refuses 'a datapath that is almost right' 'h100-fp16' dot --datapath h100-pf16
refuses 'a block that is too long' 'block65:fp16:rne: .*; blockN: N is 1 to 64$' dot --datapath block65:fp16:rne
refuses 'a block without products' 'blockN: N is 1 to 64$' dot --datapath block0:fp16:rne
refuses 'an empty datapath' "--datapath: no datapath ''$" dot --datapath ''
refuses 'a datapath that is a colon' "--datapath: no datapath ':'" dot --datapath :
refuses 'a datapath that ends in a colon' 'a colon has nothing after it' dot --datapath h100-fp16:
refuses 'promote that is no multiple' 'promote=17: a multiple of 16' dot --datapath h100-fp16:promote=17
refuses 'a setting of one-sided sums elsewhere' 'normal, parts and c_cut need join' dot --datapath h100-fp16:normal=30
refuses 'join out of range' 'join=37: it is F to F + 12, here 24 to 36' dot --datapath mi300-fp16:join=37
refuses 'normal above join' 'normal=33: it is at most join, here 32' dot --datapath mi300-fp16:normal=33
refuses 'no parts' "'split-k=0:fp16': N of split-k=N:FORMAT is a whole number from 1 to 65536" dot --datapath fp32:split-k=0:fp16
refuses 'parts without a format' 'split-k is N:FORMAT, N parts and the format of their sums' dot --datapath fp32:split-k=4
refuses 'parts in an unknown format' "'split-k=4:fp17': no format 'fp17'" dot --datapath fp32:split-k=4:fp17
refuses 'parts that binary32 does not hold' 'have to fit binary32, in which the parts are added; not binary64' dot --datapath fp32:split-k=4:fp64
refuses 'parts of a stochastic sum' 'split-k: not with a stochastic mode' dot --datapath serial:fp16:sr:split-k=2:fp16
refuses 'a zero point beyond the codes' "'zero-points=256,0': the zero point of a is uq8.0, 0 to 255" dot --datapath uint8.int8:zero-points=256,0
refuses 'a zero point of b beyond the codes' 'the zero point of b is q8.0, -128 to 127' dot --datapath uint8.int8:zero-points=0,128
refuses 'one zero point' 'zero-points is ZA,ZB, two whole numbers' dot --datapath uint8:zero-points=3
refuses 'zero points of a Tensor Core' 'is of int8, uint8 and vnni only' dot --datapath h100-fp16:zero-points=1,2
for name in fast-accumulation use_fast_accum h100-e4m3:fast_accum=1; do
    refuses "the words $name" 'h100-e4m3 (or l40s-e4m3) adds all products.*h100-e4m3:promote=128' dot --datapath $name
done
refuses 'kept beyond the accumulator' 'kept is a whole number from 1 to 23' dot --datapath h100-fp16:kept=30
for bits in ' 8' +8; do refuses "random bits '$bits'" "no mode 'sr/$bits'" dot --datapath "serial:fp16:sr/$bits"; done
refuses 'a datapath with a bad mode' "no mode 'up'" dot --datapath serial:fp16:up
refuses 'a setting without a value' 'F needs a value, as F=...: a whole number from 0 to 40' dot --datapath h100-fp16:F
refuses 'random bits of a mode without' "no mode 'rne/8'" dot --datapath serial:fp16:rne/8
refuses 'random bits out of range' 'out of range' dot --datapath serial:fp16:sr/33
gives 'a Tensor Core: 1 - 1 + 2^-25 keeps 25 bits, 2^-26 is lost' 0 '00000000 3c00 bc00 0800 3c00 3c00 0c00\n00000000 3c00 bc00 0800 3c00 3c00 0800\n' '33000000\n00000000\n' dot --datapath h100-fp16
gives 'mixed inputs: 1 x 1 in e4m3 x e5m2' 0 '0 38 3c\n' '3f800000\n' dot --datapath h100-e4m3.e5m2
gives 'mixed inputs the other way round' 0 '0 3c 38\n' '3f800000\n' dot --datapath h100-e5m2.e4m3
gives 'integers in two-s complement: -127 + 16384' 0 '00000000 ff 80 7f 80\n' '00003f81\n' dot --datapath int8
gives 'a negative integer result' 0 'ffffffff ff 01\n' 'fffffffe\n' dot --datapath int8
gives 'parts of k: 2048 + 1 and 1 + 1, each in binary16' 0 '0000 6800 3c00 3c00 3c00 3c00 3c00 3c00 3c00\n' '6801\n' dot --datapath serial:fp16:rne:split-k=2:fp16
gives 'more parts than products' 0 '0000 6800 3c00 3c00 3c00\n' '6800\n' dot --datapath serial:fp16:rne:split-k=9:fp16
gives 'pairs that clamp: 2 (255 127) is 32767' 0 '00000001 ff ff 7f 7f\n' '00008000\n' dot --datapath maddubs-int8
gives 'pairs that wrap: 2 (255 127) is -766' 0 '00000000 ff ff 7f 7f\n' 'fffffd02\n' dot --datapath maddubs-int8-wrap
gives 'zero points: (200 - 128)(-3 - 1)' 0 '00000000 c8 fd\n' 'fffffee0\n' dot --datapath uint8.int8:zero-points=128,1
gives 'scales of 16 in e8m0: 1 x 1 with 4' 0 '0 2 2 / 81 / 7f\n' '40800000\n' dot --datapath b200-e2m1-mxf4x16
gives 'block scales: 1 x 1 with 2 and 2, c is not scaled' 0 '3f800000 38 38 / 80 / 80\n' '40a00000\n' dot --datapath b200-e4m3-mx
gives 'block scales are ones unless given' 0 '3f800000 38 38\n' '40000000\n' dot --datapath b200-e4m3-mx
gives 'a NaN scale' 0 '0 38 38 / ff / 7f\n' '7fffffff\n' dot --datapath b200-e4m3-mx
gives 'scales of one side only' 2 '0 38 38 / 80\n' '' dot --datapath b200-e4m3-mx
gives 'too many scales' 2 '0 38 38 / 80 80 / 80\n' '' dot --datapath b200-e4m3-mx
gives 'scales of a datapath without' 2 '0 38 38 / 80 / 80\n' '' dot --datapath h100-e4m3
gives 'a code too wide for the input format' 2 '0 138 38\n' '' dot --datapath h100-e4m3
gives 'a code of b that a would take' 2 '0 38 10\n' '' dot --datapath b200-e4m3.e2m1
refuses '--in that contradicts the row' 'takes a in binary16' dot --datapath h100-fp16 --in bf16
refuses '--in for mixed inputs' 'takes a in e4m3' dot --datapath h100-e4m3.e5m2 --in e4m3
prints 'dot --help names the datapaths' 'h100-e4m3.e5m2' dot --help

# ---- gemm ----

shape='--m 17 --n 9 --k 70 --seconds 0'
mpfr() { "$ULP" backends | grep -q '^mpfr *offered'; }
for d in fp32 h100-fp16 h100-e4m3.e5m2 h100-e4m3-mma a100-tf32 b200-e2m1-nvf4 b200-e4m3-mx int8 serial:fp64:rne serial:fp16:sr kahan:bf16:rne; do
    exits "gemm $d" 0 gemm --datapath $d $shape --threads 1
    grep -v '^time' out >one
    "$ULP" gemm --datapath $d $shape --threads 3 2>err | grep -v '^time' >three
    cmp -s one three && grep -q '^checksum    [0-9a-f]\{16\},' one
    verdict $? "gemm $d: the same with 3 threads"
    ULPLAB_ISA=baseline "$ULP" gemm --datapath $d $shape 2>err | grep -v '^time' >three
    holds "gemm $d: the same with ULPLAB_ISA=baseline" cmp -s one three
    mpfr || { skip "gemm $d: the same by MPFR" 'this build has no MPFR'; continue; }
    "$ULP" gemm --datapath $d $shape --backend mpfr 2>err | grep -v '^time' >three
    holds "gemm $d: the same by MPFR" cmp -s one three
done
for d in fp32 serial:fp16:rne serial:bf16:sr kahan:fp16:rne a100-fp16 h100-e4m3 b200-e4m3-mx b200-e2m1-nvf4 int8; do
    "$ULP" gemm --datapath $d --m 33 --n 65 --k 70 --seconds 0 2>err | grep -v '^time' >one
    for tile in 1x1 3x5 7x13 31x33; do
        "$ULP" gemm --datapath $d --m 33 --n 65 --k 70 --seconds 0 --tile $tile 2>err | grep -v '^time' >three
        holds "gemm $d: the same in tiles of $tile" cmp -s one three
    done
done
for tile in 0x4 4 x4 4x 4x5x6 -1x4 4x-1 10000000x1 18446744073709551617x1; do refuses "gemm: --tile $tile" 'as in 7x13' gemm --datapath fp32 --tile "$tile"; done
prints 'gemm --backend cpu' '^time .*, cpu [a-z0-9]*, ' gemm --datapath fp32 $shape --backend cpu
refuses 'gemm: --seconds -1' '-1' gemm --datapath fp32 --seconds -1
prints 'gemm with one thread' ', 1 thread$' gemm --datapath fp32 $shape --threads 1
refuses 'gemm: an unknown backend' 'known: cpu cuda' gemm --datapath fp32 --backend tpu
lacks_cuda gemm --datapath fp32
export CUDA_VISIBLE_DEVICES=''
exits 'gemm: a native product without a device' 3 gemm --datapath native:mma:fp16 --backend cuda
unset CUDA_VISIBLE_DEVICES
says 'gemm: and why' '^ulp gemm: --backend cuda: .' err
refuses 'gemm: a native product and no --backend cuda' 'which takes --backend cuda' gemm --datapath native:mma:fp16
refuses 'gemm: an unknown backend comes before a native product' 'known: cpu cuda' gemm --datapath native:mma:fp16 --backend tpu
refuses 'dot: names of native products' 'where there is a device' dot --datapath native:mma:fp16
prints 'gemm: integers' '^max error   0$' gemm --datapath int8 $shape
exits 'gemm: another seed' 0 gemm --datapath h100-fp16 $shape --seed 2
grep '^checksum' out >two
exits 'gemm: seed 1' 0 gemm --datapath h100-fp16 $shape
grep '^checksum' out >one
holds 'gemm: another seed gives another checksum' ! cmp -s one two
for data in normal positive; do exits "gemm: --data $data" 0 gemm --datapath h100-fp16 $shape --data $data; done
prints 'gemm: fp16 overflows' '^not finite  4' gemm --datapath exact:fp16:rne --m 2 --n 2 --k 300000 --data positive
prints 'gemm: --in' 'a in e4m3, b in e4m3' gemm --datapath fp32 --in e4m3 $shape
refuses 'gemm without a datapath' '--datapath NAME is needed' gemm
refuses 'gemm: an unknown datapath' '`ulp help datapaths`' gemm --datapath h200
exits 'gemm: as many threads as anybody asks for' 0 gemm --datapath fp32 --m 1e1 --n 0x10 --k 70 --threads 65536
says 'gemm: sizes like 1e1 and 0x10' '^shape       m 10, n 16, k 70$' out
refuses 'gemm: a size of 0' 'whole number' gemm --datapath fp32 --m 0
refuses 'gemm: a size that is no number' 'whole number' gemm --datapath fp32 --k many
refuses 'gemm: --in that contradicts' 'takes a in binary16' gemm --datapath h100-fp16 --in e4m3
refuses 'gemm: unknown data' 'known: uniform normal positive' gemm --datapath fp32 --data cauchy
refuses 'gemm: words' 'takes no words' gemm --datapath fp32 8

# ---- probe ----

exits 'probe --list' 0 probe --list
[ "$(grep -c . out)" -gt 100 ] && grep -q '^h100-e4m3-mma ' out
verdict $? 'probe --list names the rows'
for d in v100-fp16=4,23,rz t4-fp16=8,24,rz a100-tf32=4,24,rz l40s-e4m3=16,13,rz h100-fp16=16,25,rz h100-fp16-fp16=16,25,rne h100-e4m3=32,13,rz b200-e4m3=32,25,rz h100-fp16:L=8:F=24=8,24,rz; do
    name=${d%%=*} want=${d##*=}
    case $d in *:*) name=h100-fp16:L=8:F=24 ;; esac
    exits "probe $name" 0 probe --datapath $name --csv
    got=$(awk -F, '$2 == "L" || $2 == "F products" || $2 == "rounding" { printf "%s%s", sep, $3; sep = "," }' out)
    [ "$got" = "$want" ] || echo "# found $got, want $want"
    [ "$got" = "$want" ]
    verdict $? "probe $name: L, F and rounding are $want"
done
differing='' probed=0
for name in $("$ULP" probe --list | awk '$1 ~ /-/ { print $1 }'); do
    "$ULP" probe --datapath "$name" --csv >out 2>err || differing="$differing $name"
    probed=$((probed + 1))
done
[ -z "$differing" ] || echo "# differ:$differing"
[ -z "$differing" ] && [ "$probed" -gt 200 ]
verdict $? 'the prober finds every row of the list as the row says'
prints 'probe of fp32' '^L  *1  *1  *ok' probe --datapath fp32
says 'probe: every column has a heading' '^property  *found  *the row says  *verdict  *vector' out
says 'probe says what is not reachable' '^F products  *not reachable' out
refuses 'probe without a datapath' '--list' probe
refuses 'probe: an unknown datapath' '`ulp help datapaths`' probe --datapath h200-fp16
refuses 'a misspelt row: the nearest is named' 'did you mean amx-bf16? there are amx-bf16 amx-fp16' probe --datapath amx-bf15
refuses 'probe: a native product without --backend cuda' '--backend cuda, where there is a device' probe --datapath native:wgmma:e4m3:promote=64
refuses 'probe: a product by tcgen05 without --backend cuda' '--backend cuda, where there is a device' probe --datapath native:tcgen05:e2m1-nvf4
refuses 'probe: --list and a datapath' 'stands alone' probe --list --datapath fp32
refuses 'probe: words' 'takes no words' probe fp32
refuses 'probe: an unknown backend' 'known: cpu cuda' probe --backend tpu
export CUDA_VISIBLE_DEVICES=''
exits 'probe of a device that is not there' 3 probe --backend cuda --list
exits 'probe of a product of a device that is not there' 3 probe --backend cuda --datapath native:mma:fp16
says 'probe: why there is none' '^ulp probe: --backend cuda: .' err
unset CUDA_VISIBLE_DEVICES

# the backend mpfr: probes find what they find in the models, and there is no native product
if mpfr; then
    for d in h100-fp16 mi300-e4m3fnuz riscv-bf16 avx512-bf16 b200-e2m1-nvf4 kahan:e4m3:rne; do
        "$ULP" probe --datapath $d >one 2>err
        "$ULP" probe --datapath $d --backend mpfr >two 2>err
        grep -q '^property' one && cmp one two
        verdict $? "probe $d: the same by MPFR"
    done
    "$ULP" probe --tree mi250-bf16 >one 2>err && "$ULP" probe --tree mi250-bf16 --backend mpfr >two 2>err && cmp one two
    verdict $? 'probe --tree: the same by MPFR'
    refuses 'gemm: a native product by MPFR' 'which MPFR does not form; the backends are cpu and cuda' gemm --datapath native:avx512-bf16 --backend mpfr
    exits 'gemm: the line of the time names MPFR' 0 gemm --datapath fp32 $shape --backend mpfr
    says 'gemm: the machine is MPFR' '^time .*, mpfr GNU MPFR and GMP integers, ' out
else
    exits 'gemm --backend mpfr without MPFR' 3 gemm --datapath fp32 --backend mpfr
    says 'and why' 'this build has no MPFR' err
fi

exit $failed
