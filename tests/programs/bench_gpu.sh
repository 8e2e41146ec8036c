#!/bin/sh
# bench_gpu.sh - the benchmarks of a GPU on the emulated device: their rows, and what remains when one fails or is stopped.

TESTS=$(cd "${TESTS:-build/test}" && pwd) || exit 2
tree=$PWD
. tests/programs/support.sh

B=$TESTS/walled/bench_gpu T=$TESTS/walled/throughput
if ! "$TESTS/walled/ulp" backends | grep -q '^cuda .*emulated device'; then
    skip "bench_gpu and throughput" "no emulated device in this build"
    exit 0
fi
small='--elements 1003 --arrays 1 --size 16 --native-size 16 --steps 1 --units 4 --batch 2 --quiet --formats fp16 --modes rne --datapath fp32'
few='--quick --steps 1 --net fc4,relu,fc10 --batch 8 --quiet'

# ---- rows ----

exits 0 "bench_gpu runs where there is a device" "$B" --elements 1003 --arrays 2 --size 33 --native-size 40 --seconds 0.001 --steps 1 --units 4 --batch 2 --quiet \
    --formats fp16 --modes rne,sr --datapath fp32,h100-fp16,int8 --backend cuda --out bench_gpu.csv
says '^training,' bench_gpu.csv "it timed trainings"
awk -F, '!/^#/ { if (!n++) { for (i = 1; i <= NF; i++) at[$i] = i; next }
    native += $at["what"] == "native"; bad += !($at["ratio"] > 0 && $at["clock"] > 0 && $at["against"] != "")
    rate[$at["what"] " " $at["of"]] = $at["rate"]; ratio[$at["what"] " " $at["of"]] = $at["ratio"]
    beside[$at["what"] " " $at["of"]] = $at["against"] }
    function near(of, to) { of = ratio[of] * rate[to] / rate[of]; return of > 0.999999 && of < 1.000001 }
    END { exit bad || native < 40 || beside["native native:wgmma:fp16"] != "native:fp16" || beside["native native:fp16"] != "native:fp32" ||
        beside["native native:e4m3:fast"] != "native:e4m3" || beside["native native:mma:fp64"] != "native:fp32" ||
        beside["gemm h100-fp16"] != "native:fp32" || !near("gemm h100-fp16", "reference native:fp32") || !near("round binary16", "copy ") ||
        !near("native native:wgmma:fp16", "native native:fp16") }' bench_gpu.csv
verdict $? "each row has a clock, and a ratio to the row of its reference"
says '^# left out: native:tcgen05:fp16 and [0-9]* more: tcgen05 is of compute capability 10.0; this device has 9.0$' bench_gpu.csv "products that the device lacks are named with the reason"
exits 0 "throughput runs where there is a device" "$T" $few --variants fp32-emulated,fp16-mma,fp8 --out throughput.csv
says '^fp8,' throughput.csv "it timed fp8"
exits 0 "throughput on a device without fp8" env EMULATED_CAPABILITY=80 "$T" $few --variants fp16-mma,fp8 --out throughput.csv
lacks='left out: fp8: datapath native:mma:e4m3: fp8 needs compute capability 8.9; this device has 8.0'
grep -qx "# $lacks" throughput.csv && grep -qx "throughput: $lacks" err.txt && grep -q '^fp16-mma,' throughput.csv && ! grep -q '^fp8,' throughput.csv
verdict $? "leaves fp8 out, and says why"
rm -f throughput.*
exits 3 "throughput with fp8 alone, there" env EMULATED_CAPABILITY=80 "$T" $few --variants fp8 --out throughput.csv
[ "$(tail -n 1 err.txt)" = 'throughput: no point has rows; nothing was written' ] && [ ! -e throughput.csv ] && [ ! -e throughput.csv.part ]
verdict $? "writes nothing, and says so"

# ---- a part that fails ----

exits 0 "bench_gpu without a fault" "$B" $small --seconds 0.0001 --out whole.csv
exits 1 "a product that fails, and others that the library refuses" env EMULATED_CUBLAS_FAILS=bf16 EMULATED_CUBLAS_REFUSES=e4m3 "$B" $small --seconds 0.0001 --out failed.csv
fails='failed: native:bf16: cublasLtMatmul: CUBLAS_STATUS_EXECUTION_FAILED'
refuses='left out: native:e4m3: cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_NOT_SUPPORTED'
grep -qx "# $fails" failed.csv && grep -qx "bench_gpu: $fails" err.txt && grep -qx "# $refuses" failed.csv && grep -qx "bench_gpu: $refuses" err.txt
verdict $? "are named with the reason, in the head of the CSV and for people"
names() { grep -v '^#' "$1" | cut -d , -f 1-3; }
names whole.csv | grep -v '^native,native:\(bf16\|e4m3\|e4m3:fast\|e5m2.e4m3\|e5m2.e4m3:fast\),' >wanted
names failed.csv >got
same wanted got "and all other rows are there"
grep -q '^native,native:wgmma:bf16,.*,native:fp32,' failed.csv && grep -q '^native,native:wgmma:bf16,.*,native:bf16,' whole.csv
verdict $? "a product whose reference failed stands beside binary32"
exits 1 "a reference that fails" env EMULATED_CUBLAS_FAILS=fp32 "$B" $small --seconds 0.0001 --out failed.csv
grep -q '^gemm,fp32,,16,[^,]*,G products/s,,,[^,]*$' failed.csv && grep -q '^# failed: reference: ' failed.csv
verdict $? "leaves rows without a ratio"
exits 1 "a variant that fails" env EMULATED_CUBLAS_FAILS=bf16 "$T" $few --variants fp32,bf16,tf32 --out failed.csv
names failed.csv | cut -d , -f 1 | tr '\n' ' ' | grep -qx 'variant fp32 tf32 ' && grep -qx '# failed: bf16: cublasLtMatmul: CUBLAS_STATUS_EXECUTION_FAILED' failed.csv
verdict $? "leaves the others"
rm -f failed.*
exits 1 "a device that is lost" env EMULATED_LOST_AFTER=150 "$B" $small --seconds 0.0001 --out failed.csv
[ "$(grep -c '^bench_gpu: failed: ' err.txt)" -eq 1 ] && grep -qx 'bench_gpu: the device is lost' err.txt && [ ! -e failed.csv ] && grep -q '^copy,' failed.csv.part
verdict $? "ends the run after one failure, and the rows so far remain"

# ---- the record ----

record() { sh "$tree/experiments/bench_gpu/record.sh" "$@"; }
printf '#!/bin/sh\necho $$ >pid; exec "%s" %s --seconds $SECONDS_OF_ROW "$@"\n' "$B" "$small" >bench
printf '#!/bin/sh\nexec "%s" %s --variants fp32,fp8 "$@"\n' "$T" "$few" >few
printf '#!/bin/sh\necho 580.65, P0, 1980 MHz\n' >nvidia-smi
printf '#!/bin/sh\nexit 4\n' >fails
printf '#!/bin/sh\necho fp8,1 >"$3"; exec sleep 71\n' >hangs
chmod +x bench few nvidia-smi fails hangs
PATH=$PWD:$PATH BENCH=./bench THROUGHPUT=./few SECONDS_OF_ROW=0.0001
export PATH BENCH THROUGHPUT SECONDS_OF_ROW
exits 0 "the record of a GPU is written" record record.txt
[ "$(grep -c '^state .*P0, 1980 MHz$' record.txt)" -eq 3 ] && grep -q '^round,' record.txt && grep -q '^fp8,' record.txt && grep -q '^time  *[0-9]* s$' record.txt
verdict $? "it has the rows of both benchmarks, and the state of the GPU before, between and after"
exits 1 "the record of a benchmark with a failed row" env EMULATED_CUBLAS_FAILS=fp16 sh "$tree/experiments/bench_gpu/record.sh" failed.txt
grep -q '^# failed: native:fp16: ' failed.txt && grep -q '^training,' failed.txt && grep -q '^fp8,' failed.txt && [ "$(tail -n 1 failed.txt)" = 'incomplete: bench_gpu ended with status 1' ] && [ ! -e failed.txt.tmp ]
verdict $? "has all other rows of both"
exits 4 "a benchmark that fails" env THROUGHPUT=./fails sh "$tree/experiments/bench_gpu/record.sh" failed.txt
grep -q '^round,' failed.txt && [ "$(tail -n 1 failed.txt)" = 'incomplete: throughput ended with status 4' ] && [ ! -e failed.txt.tmp ]
verdict $? "leaves the rows so far, and the record says that rows are missing"
printf '#!/bin/sh\nexit 3\n' >none && chmod +x none && echo kept >kept.txt
exits 3 "a record without a device" env BENCH=./none THROUGHPUT=./none sh "$tree/experiments/bench_gpu/record.sh" kept.txt
[ "$(cat kept.txt)" = kept ] && [ ! -e kept.txt.tmp ] && [ ! -e kept.txt.rows ]
verdict $? "leaves an earlier record as it was"

# wait_for FILE TEXT [COUNT]: until FILE has a line with TEXT, or COUNT of them
wait_for() {
    n=0
    until [ "$(cat "$1" 2>/dev/null | grep -c "$2")" -ge "${3:-1}" ] || [ $n -ge 300 ]; do sleep 0.1; n=$((n + 1)); done
}
SECONDS_OF_ROW=0.2
# stopped WHAT STATUS LAST COMMAND...: the record of a bench_gpu that a command stops after three rows
stopped() {
    what=$1 want=$2 last=$3
    shift 3
    rm -f results/bench_gpu.csv.part pid stopped.txt
    sh "$tree/experiments/bench_gpu/record.sh" stopped.txt >out.txt 2>err.txt &
    child=$!
    wait_for results/bench_gpu.csv.part '^# end ' 3
    "$@"
    wait $child
    got=$?
    child=
    [ $got -eq "$want" ] && [ "$(tail -n 1 stopped.txt)" = "$last" ] && [ ! -e stopped.txt.tmp ]
    verdict $? "the record of a bench_gpu that $what says so"
    sed -n '/^what,/,/^state/p' stopped.txt | grep -v '^state' | cut -d , -f 1-2 | head -n 4 >got
    printf 'what,of\ncopy,\nround,binary16\nround and count,binary16\n' >wanted
    same wanted got "and has its rows so far"
    ! grep -q '^# \(piece\|end\|columns\|build\)' stopped.txt && grep -q '^# device: emulated device' stopped.txt
    verdict $? "in the form of a CSV"
}
end_program() { kill -s "$1" "$(cat pid)"; }
end_record() { kill -s "$1" "$child"; }
stopped "is killed" 137 'incomplete: bench_gpu ended with status 137' end_program KILL
stopped "is stopped" 1 'incomplete: bench_gpu ended with status 1' end_program TERM
says '^fp8,' stopped.txt "the other benchmark ran all the same"
stopped "is interrupted with its record" 130 'incomplete: bench_gpu and throughput lack rows: interrupted' end_record TERM
SECONDS_OF_ROW=0.0001
THROUGHPUT=./hangs sh "$tree/experiments/bench_gpu/record.sh" stopped.txt >out.txt 2>&1 &
child=$!
wait_for results/throughput.csv '^fp8,1$'
end_record TERM
wait $child
[ $? -eq 130 ] && grep -q '^training,' stopped.txt && grep -qx 'fp8,1' stopped.txt && [ "$(tail -n 1 stopped.txt)" = 'incomplete: throughput lacks rows: interrupted' ] && [ ! -e stopped.txt.tmp ]
verdict $? "a record that is interrupted in throughput has the rows so far"
child=
for file in '' -x . nosuch/ bench/record.txt; do
    exits 2 "a record with the name '$file'" record "$file"
done
exit $failed
