#!/bin/sh
# compilers.sh - make compilers: builds by each compiler named, without a warning; their tests pass and their tool prints the same bytes.
#
# The compiler of the build in BIN is not built again. READ names compilers that read all
# sources, SETS the instruction sets that are built. The static tool by musl-gcc, one file, is compared too. TESTED names tests.
tree=$(pwd)
. tests/programs/support.sh
cd "$tree" || exit 1
jobs=$(getconf _NPROCESSORS_ONLN)
made() { (unset MAKEFLAGS MFLAGS MAKELEVEL && nice "${MAKE:-make}" -j"$jobs" WERROR=1 NVCC= MPICC= ${SETS:+ISAS="$SETS"} "$@"); }

# outputs ULP: what the tool prints for numbers, products and subnormal numbers
outputs() {
    for format in fp16 bf16 e4m3 e5m2 fp32 q6.10 posit16 takum16; do
        for mode in rne ru rd rz ro sr; do
            echo "$format $mode"
            "$1" round --format $format --mode $mode --to both "$work/numbers" || echo "exit $?"
        done
        "$1" show --format $format -- 0.1 -2e-5 3e38
    done
    for datapath in fp32 int8 h100-e4m3 h100-fp16 a100-fp16 mi250-bf16 v100-fp16 vnni-int16 serial:fp16:rne serial:fp64:sr kahan:bf16:rz \
        pairwise:e8m7:ru exact:fp32:rne chunk32:posit16:rne block4:q6.10:rd; do
        echo "$datapath"
        "$1" gemm --datapath $datapath --m 33 --n 29 --k 130 --seconds 0 --data normal | grep checksum || echo "exit $?"
    done
    "$1" show --format fp64 -- 5e-324 1e-310 -0x1.8p-1040
    printf '%s\n' '3c00 1400' '0001 8001' '7bff 7bff' 'fc00 7c00' >"$work/codes"
    for op in add sub mul div; do "$1" arith --format fp16 --op $op "$work/codes"; done
    rm -rf "$work/v"
    "$1" vectors --format fp64,e4m3,fp32 --datapath h100-e4m3 --sample 256 --sums 50 --out "$work/v" >/dev/null || echo "exit $?"
    (cd "$work/v" && find . -type f | LC_ALL=C sort | xargs cksum && cat formats/*.codes.csv)
}
awk 'BEGIN { for (x = 1e-22; i < 400; i++) { x *= -1.28; printf "%.17g\n", x * (1 + i / 977) } print "0\n-0\n1e-320\ninf\nnan" }' >"$work/numbers"
outputs "$BIN/ulp" >"$work/want" 2>&1
holds "the tool of $CC prints more than 10,000 lines" [ "$(wc -l <"$work/want")" -gt 10000 ]

for cc in $READ; do
    case $cc in gcc | clang) continue ;; esac # compile.sh
    succeeds "every C source is without a warning under $cc" sh tests/proofs/compilers/read.sh "$cc" "$work/read-$cc"
done
for cc in "$@"; do
    [ "$("$cc" --version)" != "$("${CC:-gcc}" --version)" ] || { skip "$cc" 'the compiler of this build'; continue; }
    folder=build/compilers/$cc
    succeeds "the library and the tool are built without a warning by $cc" made CC="$cc" BUILD="$folder" libraries "$folder/bin/ulp" \
        $(for test in $TESTED; do echo "$folder/test/$test"; done)
    for test in $TESTED; do succeeds "$test of $cc" "$folder/test/$test"; done
    outputs "$folder/bin/ulp" >"$work/got" 2>&1
    same "$work/want" "$work/got" "the tool of $cc prints the same bytes"
done

if command -v musl-gcc >/dev/null; then
    succeeds 'the static tool is built without a warning by musl-gcc' made static
    holds 'it needs no library' ! ldd build/static/bin/ulp >"$work/log" 2>&1
    outputs build/static/bin/ulp >"$work/got" 2>&1
    same "$work/want" "$work/got" "the static tool of $(wc -c <build/static/bin/ulp) bytes prints the same bytes"
else
    skip 'the static tool' 'no musl-gcc'
fi
exit $failed
