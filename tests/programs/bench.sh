#!/bin/sh
# bench.sh - the benchmark on the CPU, with a worker of another library, and on the emulated device: its rows, what remains when one
# fails or is stopped, and the scripts that record a run and compare two runs. No timing decides a test.
# not with RUN: too slow

TESTS=$(cd "${TESTS:-build/test}" && pwd) || exit 2
tree=$PWD SOURCES=$PWD/experiments/bench
. tests/programs/support.sh

# ---- two files are compared ----

# two made files: one row is faster, one slower, one within its quartiles, one slower as its memcpy is; one is new
made() { # made FILE ROW...: a row is WORK RATE Q1 Q3 BESIDE Q1 Q3
    file=$1
    shift
    {
        printf '{\n  "program": "bench",\n  "commit": "%s",\n  "commit_date": "2026-01-02",\n  "date": "now",\n  "processor": "Made",\n' "$file"
        printf '  "isa": "avx2",\n  "compiler": "gcc",\n  "flags": "-O3",\n  "load_before": "0.10",\n  "threads": 1,\n  "rows": [\n'
        for row; do
            set -- $row
            printf '    {"group": "g", "what": "%s", "of": null, "mode": null, "by": "ulplab", "threads": 1, "n": 8, "unit": "Gelements/s", "rate": %s, "q1": %s, "q3": %s, "rounds": 3, "beside": "%s", "relation": "speed", "ratio": %s, "ratio_q1": %s, "ratio_q3": %s, "goal": 0.5},\n' \
                "$1" "$2" "$3" "$4" "$5" "$6" "$6" "$7"
        done | sed '$ s/,$//'
        printf '  ]\n}\n'
    } >"$file"
}
made old.json 'up 10 9 11 fp32 1 1' 'down 10 9 11 memcpy 0.5 0.6' 'same 10 9 11 memcpy 0.5 0.6' 'busy 10 9 11 memcpy 0.5 0.6' 'gone 1 1 1 fp32 1 1'
made new.json 'up 20 19 21 fp32 1 1' 'down 5 4 6 memcpy 0.2 0.3' 'same 12 10.9 13 memcpy 0.7 0.8' 'busy 5 4 6 memcpy 0.5 0.6' 'fresh 1 1 1 fp32 0.4 1'
compare() { sh "$SOURCES/compare.sh" "$@"; }
exits 0 "two files are compared" compare old.json new.json
sed -n '/^Faster/,/^$/p' out.txt | grep -q '^  up ' && sed -n '/^Slower/,/^$/p' out.txt | grep -q '^  down ' && ! grep -q '^  \(same\|busy\) ' out.txt
verdict $? "rows changed if their quartiles lie apart, beside memcpy too"
says '^4 rows in both files: 1 faster, 1 slower, 2 within noise. Only old: 1, only new: 1.$' out.txt "and they are counted"
sed '$d' new.json >cut.json
sed 's/"rate": [0-9]*, //' new.json >damaged.json
sed 's/"program": "bench"/"program": "other"/' new.json >other.json
: >empty.json
echo text >text.json
for bad in cut.json damaged.json other.json empty.json text.json nofile .; do
    complains 2 "compare refuses $bad" "^bench-compare: .*$bad" compare old.json "$bad"
    exits 2 "in the other place, too" compare "$bad" new.json
done
exits 2 "compare needs two files" compare old.json ''

# ---- the CPU ----

on_the_cpu() {
    cpu='--quick --quiet --rounds 1 --seconds 0.001 --threads 2 --cache 64 --memory 4096 --size 16 --sizes 8 --bits 8 --formats fp16 --modes rne,sr
        --datapath fp32,serial:fp16:sr,int8,b200-e2m1-nvf4'
    # a worker that offers two pieces of work, and says one millisecond
    printf '%s\n' 'printf "round\tbinary16\trne\tMade 1\nproduct\tfp32\t\tMade 1\nready\n"' 'while read -r line; do echo 1e-3 1e-3; done' >worker.sh
    exits 0 "every part, with a worker of another library" "$BIN/bench" $cpu --peers "sh worker.sh" --out b.csv
    awk -F, '!/^#/ { if (!n++) { for (i = 1; i <= NF; i++) at[$i] = i; next }
        bad += NF != 19 || !($at["rate"] > 0 && $at["q1"] <= $at["rate"] && $at["rate"] <= $at["q3"]) || ($at["beside"] != "") != ($at["ratio"] > 0) }
        END { exit !(n > 40) || bad }' b.csv
    verdict $? "every row has a rate between its quartiles, and a ratio if it stands beside another"
    for row in 'rounding in the first-level cache,count,binary16,sra,ulplab,' 'rounding in memory,round,binary16,rne,ulplab,2,' \
        'products under datapaths,product,b200-e2m1-nvf4,,ulplab,' 'products of size 8,product,fp32,,Made 1,2,' \
        'training steps,step,784-1000-1000-10,q8.8/sra,ulplab,2,' 'rounding compared with other libraries,round,binary16,rne,Made 1,1,65536,'; do
        says "^$row" b.csv "there is a row $row"
    done
    # a call of the worker takes a millisecond
    says '^rounding compared with other libraries,round,binary16,rne,Made 1,1,65536,Gelements/s,0.065536' b.csv "the worker's time is its rate"
    exits 1 "a worker that ends fails" "$BIN/bench" $cpu --parts libraries --peers "printf 'round\tbinary16\trne\tx\nready\n'" --out none.csv
    says "^bench: failed: rounding compared with other libraries: --peers printf.*failed at round binary16 rne" err.txt "with its command and the work"
    exits 1 "a worker that ends, and another part" "$BIN/bench" $cpu --parts bits,libraries --peers "printf 'round\tbinary16\trne\tx\nready\n'" --out some.csv
    grep -q '^# failed: rounding compared with other libraries: ' some.csv && grep -q ',round,binary16,sra/8,' some.csv
    verdict $? "leaves the rows of the part"
    exits 3 "a worker that does not start is refused" "$BIN/bench" $cpu --peers "./nothing" --out none.csv
    exits 2 "the part of libraries needs workers" "$BIN/bench" $cpu --parts libraries --out none.csv
    [ ! -e none.csv ] && [ ! -e none.json ]
    verdict $? "and nothing is written"

    prints 0 "a file beside itself" ' 0 faster, 0 slower, ' compare b.json b.json
    exits 2 "a part of a device" "$BIN/bench" --parts native --out none.csv
    says "^bench: --parts: none of them is timed with --backend cpu" err.txt "is refused"
}
case ${MODE:-release} in
release | debug) on_the_cpu ;;
*) skip "the benchmark on the CPU" "the modes release and debug have its rows" ;;
esac

# ---- a device ----

B=$TESTS/walled/bench
if ! "$TESTS/walled/ulp" backends | grep -q '^cuda .*emulated device'; then
    skip "the benchmark of a device" "no emulated device in this build"
    exit $failed
fi
tiny='--backend cuda --memory 1003 --units 4 --batch 2 --net fc4,relu,fc10 --bits 8 --rounds 5 --quiet --formats fp16'
small="$tiny --arrays 1 --size 16 --native-size 16 --modes rne --datapath fp32"
few='--backend cuda --parts policies --quick --rounds 1 --net fc4,relu,fc10 --batch 4 --quiet'
exits 0 "every part" "$B" $tiny --arrays 2 --size 33 --native-size 40 --seconds 0.001 --modes rne,sr --datapath fp32,h100-fp16,int8 --out gpu.csv
awk -F, '!/^#/ { if (!n++) { for (i = 1; i <= NF; i++) at[$i] = i; next }
    group[$at["group"]]++; native += $at["what"] == "native"; base = $at["what"] ~ /^(copy|reference)$/ || $at["of"] == "native:fp32" || $at["by"] == "CPU" ||
        $at["group"] ~ /policies/ && $at["mode"] == "fp32"
    bad += NF != 19 || !($at["q1"] > 0 && $at["q1"] <= $at["rate"] && $at["rate"] <= $at["q3"]) || ($at["by"] != "CPU") != ($at["clock"] > 0) ||
        base == ($at["ratio"] > 0) || ($at["beside"] != "") != ($at["ratio"] > 0)
    name = $at["what"] " " $at["of"] (group[$at["group"]] && $at["what"] == "step" ? " " $at["mode"] : "")
    rate[name] = $at["rate"]; ratio[name] = $at["ratio"]; beside[name] = $at["beside"] }
    function near(of, to) { of = ratio[of] * rate[to] / rate[of]; return of > 0.999999 && of < 1.000001 }
    END { for (g in group) groups++
        exit bad || groups != 6 || native < 40 || beside["native native:wgmma:fp16"] != "native:fp16" || beside["native native:fp16"] != "native:fp32" ||
        beside["native native:e4m3:fast"] != "native:e4m3" || beside["native native:mma:fp64"] != "native:fp32" ||
        beside["product h100-fp16"] != "native:fp32" || beside["step fc4 relu fc10 fp8"] != "fp32" || beside["step fc4 relu fc4 relu fc10 fp32"] != "CPU" ||
        !near("product h100-fp16", "reference native:fp32") || !near("round binary16", "copy ") || !near("step fc4 relu fc10 tf32", "step fc4 relu fc10 fp32") ||
        !near("native native:wgmma:fp16", "native native:fp16") }' gpu.csv
verdict $? "each row has quartiles and a clock, and a ratio to the row of its reference"
says '^# left out: native:tcgen05:fp16 and [0-9]* more: tcgen05 is of compute capability 10.0; this device has 9.0$' gpu.csv "products that the device lacks are named with the reason"
says '"processor": "emulated device"' gpu.json "the JSON names the device"
prints 0 "its JSON beside itself" ' 0 faster, 0 slower, ' sh "$SOURCES/compare.sh" gpu.json gpu.json
exits 0 "some policies on a device without fp8" env EMULATED_CAPABILITY=80 "$B" $few --policies fp16-mma,fp8 --out policies.csv
lacks='left out: policy fp8: datapath native:mma:e4m3: fp8 needs compute capability 8.9; this device has 8.0'
grep -qx "# $lacks" policies.csv && grep -qx "bench: $lacks" err.txt && grep -q ',fp16-mma,' policies.csv && ! grep -q '^[^#]*,fp8,' policies.csv
verdict $? "leave fp8 out, and say why"
rm -f policies.*
exits 3 "fp8 alone, there" env EMULATED_CAPABILITY=80 "$B" $few --policies fp8 --out policies.csv
[ "$(tail -n 1 err.txt)" = 'bench: no point has rows; nothing was written' ] && [ ! -e policies.csv ] && [ ! -e policies.csv.part ]
verdict $? "writes nothing, and says so"
exits 2 "a part of the CPU" "$B" $small --parts cache,sizes --out none.csv
says "^bench: --parts: none of them is timed with --backend cuda" err.txt "is refused"

# ---- a row that fails ----

exits 0 "a run without a fault" "$B" $small --seconds 0.0001 --out whole.csv
exits 1 "a product that fails, and others that the library refuses" env EMULATED_CUBLAS_FAILS=bf16 EMULATED_CUBLAS_REFUSES=e4m3 "$B" $small --seconds 0.0001 --out failed.csv
fails='failed: native:bf16: cublasLtMatmul: CUBLAS_STATUS_EXECUTION_FAILED'
refuses='left out: native:e4m3: cublasLtMatmulAlgoGetHeuristic: CUBLAS_STATUS_NOT_SUPPORTED'
grep -qx "# $fails" failed.csv && grep -qx "bench: $fails" err.txt && grep -qx "# $refuses" failed.csv && grep -qx "bench: $refuses" err.txt
verdict $? "are named with the reason, in the head of the CSV and for people"
grep -qx '# failed: policy bf16: cublasLtMatmul: CUBLAS_STATUS_EXECUTION_FAILED' failed.csv
verdict $? "a policy with this product fails, too"
names() { grep -v '^#' "$1" | cut -d , -f 2-5; }
names whole.csv | grep -v -e '^native,native:\(bf16\|e4m3\|e4m3:fast\|e5m2.e4m3\|e5m2.e4m3:fast\),' -e '^step,fc4 relu fc10,\(bf16\|fp8\),' >wanted
names failed.csv >got
same wanted got "and all other rows are there"
grep -q ',native,native:wgmma:bf16,.*,native:fp32,' failed.csv && grep -q ',native,native:wgmma:bf16,.*,native:bf16,' whole.csv
verdict $? "a product whose reference failed stands beside binary32"
exits 1 "a reference that fails" env EMULATED_CUBLAS_FAILS=fp32 "$B" $small --seconds 0.0001 --out failed.csv
grep -q ',product,fp32,,ulplab,1,16,Gproducts/s,[^,]*,[^,]*,[^,]*,[0-9]*,,,,,,,[^,]*$' failed.csv && grep -q '^# failed: reference: ' failed.csv
verdict $? "leaves rows without a ratio"
rm -f failed.*
exits 1 "a device that is lost" env EMULATED_LOST_AFTER=150 "$B" $small --seconds 0.0001 --out failed.csv
[ "$(grep -c '^bench: failed: ' err.txt)" -eq 1 ] && grep -qx 'bench: the device is lost' err.txt && [ ! -e failed.csv ] && grep -q ',copy,' failed.csv.part
verdict $? "ends the run after one failure, and the rows so far remain"

# ---- the record ----

record() { sh "$SOURCES/record.sh" "$1" rows/bench.csv --backend cuda; }
printf '#!/bin/sh\necho $$ >pid; exec "%s" %s --seconds $SECONDS_OF_ROW "$@"\n' "$B" "${small#--backend cuda}" >bench
printf '#!/bin/sh\necho 580.65, P0, 1980 MHz\n' >nvidia-smi
printf '#!/bin/sh\necho what >"$3"; echo fp8,1 >>"$3"; exec sleep 71\n' >hangs
printf '#!/bin/sh\nexit 3\n' >none
chmod +x bench nvidia-smi hangs none
PATH=$PWD:$PATH BENCH=./bench SECONDS_OF_ROW=0.0001
export PATH BENCH SECONDS_OF_ROW
exits 0 "the record of a run is written" record record.txt
[ "$(grep -c '^state .*P0, 1980 MHz$' record.txt)" -eq 2 ] && grep -q ',round,' record.txt && grep -q ',fp8,' record.txt && grep -q '^time  *[0-9]* s$' record.txt
verdict $? "it has the rows, and the state of the GPU before and after"
exits 0 "the record of the CPU" env BENCH="$BIN/bench" sh "$SOURCES/record.sh" cpu.txt rows/cpu.csv --parts bits --bits 4 --cache 64 --formats fp16 --rounds 1 --seconds 0.001 --quiet
grep -q ',round,binary16,sra/4,' cpu.txt && ! grep -q '^state' cpu.txt && tail -n 1 cpu.txt | grep -q '^time'
verdict $? "has its rows, and no state of a GPU"
exits 1 "the record of a run with a failed row" env EMULATED_CUBLAS_FAILS=fp16 sh "$SOURCES/record.sh" failed.txt rows/bench.csv --backend cuda
grep -q '^# failed: native:fp16: ' failed.txt && grep -q ',step,.*,fp8,' failed.txt && [ "$(tail -n 1 failed.txt)" = 'incomplete: bench ended with status 1' ] && [ ! -e failed.txt.tmp ]
verdict $? "has all other rows, and says that rows are missing"
echo kept >kept.txt
exits 3 "a record without a device" env BENCH=./none sh "$SOURCES/record.sh" kept.txt rows/bench.csv
[ "$(cat kept.txt)" = kept ] && [ ! -e kept.txt.tmp ]
verdict $? "leaves an earlier record as it was"

# wait_for FILE TEXT [COUNT]: until FILE has a line with TEXT, or COUNT of them
wait_for() {
    n=0
    until [ "$(cat "$1" 2>/dev/null | grep -c "$2")" -ge "${3:-1}" ] || [ $n -ge 300 ]; do sleep 0.1; n=$((n + 1)); done
}
SECONDS_OF_ROW=0.2
# stopped WHAT STATUS LAST COMMAND...: the record of a run that a command stops after three rows
stopped() {
    what=$1 want=$2 last=$3
    shift 3
    rm -f rows/bench.csv.part pid stopped.txt
    sh "$SOURCES/record.sh" stopped.txt rows/bench.csv --backend cuda >out.txt 2>err.txt &
    child=$!
    wait_for rows/bench.csv.part '^# end ' 3
    "$@"
    wait $child
    got=$?
    child=
    [ $got -eq "$want" ] && [ "$(tail -n 1 stopped.txt)" = "$last" ] && [ ! -e stopped.txt.tmp ]
    verdict $? "the record of a run that $what says so"
    sed -n '/^group,/,/^state/p' stopped.txt | grep -v '^state' | cut -d , -f 2-3 | head -n 4 >got
    printf 'what,of\ncopy,\nround,binary16\ncount,binary16\n' >wanted
    same wanted got "and has its rows so far"
    ! grep -q '^# \(piece\|end\|columns\|build\)' stopped.txt && grep -q '^# device: emulated device' stopped.txt
    verdict $? "in the form of a CSV"
}
end_program() { kill -s "$1" "$(cat pid)"; }
end_record() { kill -s "$1" "$child"; }
stopped "is killed" 137 'incomplete: bench ended with status 137' end_program KILL
stopped "is stopped" 1 'incomplete: bench ended with status 1' end_program TERM
stopped "is interrupted with its record" 130 'incomplete: rows are missing: interrupted' end_record TERM
rm -f rows/bench.csv
BENCH=./hangs sh "$SOURCES/record.sh" stopped.txt rows/bench.csv >out.txt 2>&1 &
child=$!
wait_for rows/bench.csv '^fp8,1$'
end_record TERM
wait $child
[ $? -eq 130 ] && grep -qx 'fp8,1' stopped.txt && [ "$(tail -n 1 stopped.txt)" = 'incomplete: rows are missing: interrupted' ] && [ ! -e stopped.txt.tmp ]
verdict $? "the record of a run that hangs and is interrupted has the rows so far"
child=
for file in '' -x . nosuch/ bench/record.txt; do
    exits 2 "a record with the name '$file'" record "$file"
done
exit $failed
