#!/bin/sh
# tool_paths.sh - product paths: ulp gemm --explain and ulp backends --products.
. tests/programs/tool_support.sh

# explains TEXT PATH ARGUMENT...: ulp gemm --explain names PATH first
explains() {
    text=$1 path=$2
    shift 2
    prints "$text" "^path  *$path serves " gemm --explain "$@"
}

prints 'backends --products' '^native ' backends --products
says 'backends --products: the last path' '^definition ' out
sed -n 's/^\([a-z0-9_]*\)  *.*/\1/p' out | grep -v '^$' >names
ls "$tree"/kernels/cpu/products/*.c | sed 's|.*/||; s|\.c$||' | grep -Evx 'gemm|paths|room' | sort >sources
sort names | cmp -s - sources
verdict $? 'backends --products: a row for each source of a path'
refuses 'backends takes no words' 'no words' backends products

# each row serves its example, under every instruction set
for isa in baseline neon sve256 avx2 avx512; do
    ULPLAB_ISA=$isa "$ULP" backends --products >rows 2>err || { skip "examples under $isa" 'this machine does not run it' && continue; }
    awk '/^[a-z]/ { name = $1 } / example: / && !/another path/ { sub(/.* example: /, ""); print name, $0 }' rows >examples
    holds "examples under $isa" [ "$(grep -c . examples)" -ge 11 ]
    while read -r name example; do
        ULPLAB_ISA=$isa "$ULP" gemm --datapath "$example" --explain >out 2>err && grep -q "^path  *$name serves " out || echo "$name $example"
    done <examples >wrong
    [ ! -s wrong ] || sed 's/^/# /' wrong
    holds "each row serves its example under $isa" [ ! -s wrong ]
done

explains 'a chain' fp32_chain --datapath fp32
explains 'integers' integers --datapath int8
says 'integers are in arrays of binary64' 'int8, in arrays of binary64' out
explains 'a sum in binary64 toward zero' definition --datapath serial:fp64:rz
explains 'words' aligned --datapath h100-bf16:words=3
says 'words: their products' '^words  *[0-9]* products under h100-bf16' out
explains 'pairs in 16 bits' pairs --datapath maddubs-int8
explains 'integers without a sign' integers --datapath uint8.int8:zero-points=128,0
explains 'parts of k' aligned --datapath h100-fp16:split-k=4:fp32 --k 200
says 'parts: how many, and their row' '^parts  *4 sums of 64 products under h100-fp16; then binary32' out
explains 'more parts than instructions' aligned --datapath h100-fp16:split-k=100:fp32 --k 40
says 'parts: no part is empty' '^parts  *3 sums of 16 products' out
export ULPLAB_ISA=baseline
explains 'a sum under baseline' serial_doubles --datapath serial:fp16:rne
unset ULPLAB_ISA
if ULPLAB_ISA=avx512 "$ULP" backends >out 2>err; then
    export ULPLAB_ISA=avx512
    explains 'a sum under AVX-512' serial_floats --datapath serial:fp16:rne
    says 'a sum under AVX-512: on which condition' '^condition  *products are below' out
    says 'a sum under AVX-512: which path else' '^else  *serial_doubles serves' out
    explains 'a row is too short for groups of rows' serial_doubles --datapath serial:fp16:rne --m 1
    explains 'so is a tile' serial_doubles --datapath serial:fp16:rne --tile 1x64
    unset ULPLAB_ISA
else
    skip 'sums under AVX-512' 'this machine does not run it'
fi
exits 'the sum is not computed' 0 gemm --datapath serial:fp16:rne --m 1000000 --n 1000000 --k 1000000 --explain
if grep -q checksum out; then verdict 1 'no checksum is printed'; fi
refuses '--explain writes no result' 'computes nothing' gemm --datapath fp32 --explain --out c.npy
if "$ULP" gemm --datapath fp32 --m 2 --backend mpfr >out 2>err; then
    prints 'MPFR has no paths' 'only the backend cpu' gemm --datapath fp32 --explain --backend mpfr
fi
exit $failed
