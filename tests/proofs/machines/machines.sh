#!/bin/sh
# machines.sh - the build for another machine, run by an emulator, writes the bytes of this machine's build.
#
# MACHINES names processors as Debian's compilers do: aarch64 is built by aarch64-linux-gnu-gcc and run by
# `qemu-aarch64 -L /usr/aarch64-linux-gnu`. HOST is the folder of this machine's programs, WORK that of the builds for others. Compared
# are checksums of products under all datapaths, roundings by formats, modes and overflow policies, arrays of NumPy, the golden
# vectors, and the CSV files of the experiments that SLOW does not name. SAMPLE=1 takes a small part of each, and of the experiments
# those that QUICK names. Each output is one test; without a compiler or an emulator the machine is skipped. The last line counts.
# The machine `windows` is built by MinGW-w64 and run by Wine. It has the library and no tool: the lines of bytes.c are compared.

# --case LINE FOLDER: run a case in a folder of its own, whose files are the outputs; START/NAME starts a program
if [ "${1:-}" = --case ]; then
    out=$3/$(echo "$2" | tr ' /' '__')
    mkdir -p "$out" && cd "$out" || exit 1
    bytes() { $START/../test/bytes$EXE 2>/dev/null | tr -d '\r'; }
    # shellcheck disable=SC2086
    set -- $2
    case $1 in
    products) $START/ulp gemm --datapath "$2" --m 33 --n 29 --k 130 --seconds 0 --data normal 2>&1 | grep -E 'checksum|^ulp' >checksum ;;
    round) { $START/ulp round --from f64 --to both --format "$2" --mode "$3" --overflow "$4" "$WORK/numbers"; echo "exit $?"; } >codes 2>&1 ;;
    array) $START/ulp round --from f64 --to "$4" --format "$2" --mode "$3" --out "array.${4%code}" "$WORK/numbers" 2>error && rm error ;;
    bytes) # by the chosen instruction set; a file more for each other one that has other bytes
        bytes >bytes
        for isa in baseline avx2 avx512 neon sve256; do
            ULPLAB_ISA=$isa bytes >"$isa"
            if cmp -s "$isa" bytes || grep -q 'does not run the instruction set' "$isa"; then rm "$isa"; fi
        done ;;
    vectors) $START/ulp vectors $VECTORS --out . >/dev/null ;;
    csv) # but for the name of the program's file
        $START/"$2" --quick --restart --quiet --out out.csv >/dev/null 2>&1
        grep -v '^run.command' out.claims.tsv >claims
        rm -f ./*.json out.claims.tsv ;;
    esac
    exit 0
fi

HOST=$(cd "${HOST:-build/bin}" && pwd) && mkdir -p "$WORK" && WORK=$(cd "$WORK" && pwd) || exit 2
export WORK VECTORS WINEPREFIX="$WORK/wine" WINEDEBUG=-all OMP_NUM_THREADS=1 NO_COLOR=1 LC_ALL=C OMP_WAIT_POLICY=passive
unset ULPLAB_ISA ULPLAB_DATA
passed=0 failed=0 skipped=0
jobs=$(getconf _NPROCESSORS_ONLN)
[ -z "$SAMPLE" ] || VECTORS='--format e4m3,posit8,q4.0 --datapath h100-e4m3,serial:fp16:rz --sums 100'

# every N-th line where SAMPLE is set
some() { if [ -n "$SAMPLE" ]; then awk -v n="$1" 'NR % n == 1'; else cat; fi; }
# binary64 numbers as hex digits: edges, then random bits with exponents from 2^-40 to 2^40
awk 'BEGIN { split("0000000000000000 8000000000000000 7ff0000000000000 fff0000000000000 7ff8000000000000 7fefffffffffffff 0000000000000001 0010000000000000 3ff0000000000000 bff8000000000000", e)
    for (i = 1; i in e; i++) print e[i]
    for (x = 1; n < 1000; n++) {
        for (i = 0; i < 4; i++) { x = (x * 69069 + 12345) % 4294967296; word[i] = int(x / 65536) }
        mantissa = n % 3 ? word[1] * 65536 + word[2] : 0
        printf "%03x%01x%04x%04x%04x\n", (word[3] % 2) * 2048 + 983 + word[0] % 81, word[1] % 16, n % 2 ? word[2] : 0, n % 3 ? word[3] : 0, n % 5 ? word[0] : 0
    } }' >"$WORK/numbers"

cases() {
    echo bytes
    echo vectors
    formats=$("$HOST/ulp" formats --csv | sed '1d; s/,.*//; s/"//g')
    {
        "$HOST/ulp" probe --list | awk '/^[a-z0-9]*-/ { print $1 }'
        for f in fp16 bf16 e4m3 fp32 fp64 q6.10 e8m7 posit16 takum16; do for m in rne ru rz sr/8; do
            for k in serial split chunk32 block4 pairwise kahan exact; do echo "$k:$f:$m"; done; done; done
        printf '%s\n' fp32 int8 int8:sat vnni-int8 vnni-int8-sat vnni-int16 vnni-int16-sat \
            maddubs-int8 maddubs-int8-wrap uint8.int8:zero-points=128,3 h100-fp16:split-k=4:fp32 serial:fp16:rne:split-k=3:fp16 \
            h100-bf16:words=3 a100-fp16:promote=128 h100-e4m3:promote=128 h100-e4m3:F=20:kept=20
    } | some 12 | sed 's/^/products /'
    for f in $formats; do for m in rne rna rz ru rd ro sra; do for p in default inf sat nan wrap; do echo "round $f $m $p"; done; done; done | some 29
    for f in $formats; do for m in rne sra; do for k in npy npycode npz npzcode; do echo "array $f $m $k"; done; done; done | some 13
    [ -z "$SAMPLE" ] || EXPERIMENTS=$QUICK
    for e in $EXPERIMENTS; do case " $SLOW " in *" $e "*) ;; *) echo "csv $e" ;; esac; done
}
# outputs FOLDER: a line for each file, "CASE/FILE checksum"
outputs() { (cd "$1" && find . -type f | LC_ALL=C sort | while read -r f; do echo "$f $(cksum <"$f")"; done); }
# run_all FOLDER START KINDS: the cases of these kinds, as many at a time as processors
run_all() {
    rm -rf "$1" && mkdir -p "$1"
    grep -E "^($(echo "$3" | tr ' ' '|'))( |\$)" "$WORK/cases" | tr '\n' '\0' | START=$2 xargs -0 -P "$jobs" -I LINE sh "$script" --case LINE "$1"
    outputs "$1" >"$1.outputs"
}
script=$(pwd)/tests/proofs/machines/machines.sh

rm -f "$WORK/host.outputs"
cases >"$WORK/cases"
kinds='bytes products round array vectors csv'
for machine in $MACHINES; do
    case $machine in
    windows) cc=x86_64-w64-mingw32-gcc emulator=wine run=wine EXE=.exe of_machine=bytes ;;
    *) cc=$machine-linux-gnu-gcc emulator=qemu-$machine run="qemu-$machine -L /usr/$machine-linux-gnu" EXE='' of_machine=$kinds ;;
    esac
    export EXE
    for program in "$cc" "$emulator"; do
        command -v "$program" >/dev/null && continue
        echo "ok - $machine # SKIP no $program"
        skipped=$((skipped + 1))
        continue 2
    done
    began=$(date +%s)
    build=$WORK/$machine
    [ -e "$WORK/host.outputs" ] || EXE='' run_all "$WORK/host" "$HOST" "$kinds"
    goals=test/bytes$EXE
    [ "$of_machine" = bytes ] || goals="$goals bin/ulp $(awk '$1 == "csv" { print "bin/" $2 }' "$WORK/cases")"
    if ! make --no-print-directory -j"$jobs" CC="$cc" BUILD="$build" NVCC= $(for goal in $goals; do echo "$build/$goal"; done) >"$WORK/$machine.log" 2>&1; then
        echo "not ok - $machine: make CC=$cc"
        grep -i error "$WORK/$machine.log" | head -5 | sed 's/^/# /'
        failed=$((failed + 1))
        continue
    fi
    built=$(date +%s)
    mkdir -p "$build/bin"
    run_all "$WORK/$machine.out" "$run $build/bin" "$of_machine"
    for kind in $of_machine; do
        grep "^\./$kind" "$WORK/host.outputs" >"$WORK/want"
        grep "^\./$kind" "$WORK/$machine.out.outputs" >"$WORK/have"
        same=$(grep -cxFf "$WORK/want" "$WORK/have")
        other=$(($(cat "$WORK/want" "$WORK/have" | sed 's/ .*//' | sort -u | wc -l) - same))
        [ "$other" -eq 0 ] && [ "$same" -gt 0 ] || { echo "not ok - $machine: $kind: $other outputs differ"; grep -vxFf "$WORK/want" "$WORK/have" | head -5 | sed 's/^/# /'; }
        [ "$same" -gt 0 ] || other=1
        passed=$((passed + same)) failed=$((failed + other))
        echo "$machine: $kind: $(grep -c "^$kind" "$WORK/cases") cases, $same files with the same bytes, $other with others"
    done
    echo "$machine: built in $((built - began)) s, compared in $(($(date +%s) - built)) s"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
