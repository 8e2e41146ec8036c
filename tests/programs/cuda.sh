#!/bin/sh
# cuda.sh - the kernels of kernels/cuda on the emulated device give the results of the CPU. TESTS is from the environment.
if [ ! -x "$TESTS/check_emulated" ]; then
    echo 'ok - cuda: kernels on the emulated device # SKIP no C++ compiler, or a sanitizer that does not support coroutines'
    exit 0
fi
failed=0
case ${MODE:-release} in
release) "$TESTS/check_emulated" --small --tap || failed=1 ;;
*) # a sanitizer needs minutes for all trainings, so only two of them run, and parts without kernels of their own do not
    for part in $("$TESTS/check_emulated" --parts | cut -f 1 | grep -v 'training\|races\|open'); do
        "$TESTS/check_emulated" --small --tap --part "$part" || failed=1
    done
    "$TESTS/check_emulated" --small --tap --part training --only ', mixed:fp16' || failed=1
    ;;
esac

# instructions against their models on other generations of GPUs, and all products of the one that has tcgen05
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
for capability in 80 89; do
    EMULATED_CAPABILITY=$capability "$TESTS/check_emulated" --small --tap --part tensor --only mma: || failed=1
done
parts='layouts tensor chains open' only=
[ "${MODE:-release}" = release ] || parts='layouts tensor' only='--only tcgen05:e2m1'
for part in $parts; do
    # shellcheck disable=SC2086 # two words or none
    EMULATED_CAPABILITY=100 "$TESTS/check_emulated" --small --tap --part $part $only || failed=1
done

# A device that differs from its model: the sums of an open point find the answer, and the row says what it sets.
differs() { # differs SETTING POINT PRODUCT SENTENCE
    [ "${MODE:-release}" = release ] || return # it is the same code for every setting
    if EMULATED_SETTINGS=$1 "$TESTS/check_emulated" --small --rows --part open --only "$2, $3" > "$log"; [ $? -eq 1 ] && grep -qF "$4" "$log"; then
        echo "ok - cuda: a device with $1 answers the open point '$2'"
    else
        echo "not ok - cuda: a device with $1 answers the open point '$2'"
        sed 's/^/# /' "$log"
        failed=1
    fi
}
differs :zero_operand=-126 'zero operand' mma:fp16 'h100-fp16:zero_operand=-126: with -126, which sets .fused.zero_operand'
differs :zero_c=-126 'zero start' wgmma:bf16 'h100-bf16:zero_c=-126: with -126, which sets .fused.zero_c'
differs :floor=none floor mma:tf32 'h100-tf32:floor=none: no floor, which sets the floor'
differs :floor=-132 floor mma:bf16 'h100-bf16:floor=-132: higher by one, which sets the floor'
differs :floor=-22 floor wgmma:fp16-fp16 'h100-fp16-fp16:floor=-22: lower by one, which sets the floor'
differs :signed_zero=1 'negative underflow' mma:tf32 'h100-tf32:signed_zero=1: -0, which sets .fused.signed_zero'
differs :c_last=1 'start of wgmma' wgmma:e4m3 'h100-e4m3:c_last=1: it is added last, which sets .fused.c_last'
differs :output=rz 'rounding of wgmma' wgmma:e5m2-fp16 'h100-e5m2-fp16:output=rz: toward zero, which sets .rounding'
differs :F=24 floor mma:bf16 'no answer fits'

# a property that no point asks for, or another point, passes for no answer
for setting in :output=rz :zero_c=-126 :F=13:kept=13 :F=24; do
    [ "${MODE:-release}" = release ] || break
    EMULATED_SETTINGS=$setting "$TESTS/check_emulated" --small --rows --part open --only 'floor, ' > "$log"
    if [ $? -eq 1 ] && ! grep -q 'which sets' "$log"; then echo "ok - cuda: a device with $setting has no other floor"
    else
        echo "not ok - cuda: a device with $setting has no other floor"
        sed 's/^/# /' "$log"
        failed=1
    fi
done

# results that are wrong in the same way every time
if EMULATED_SETTINGS=:F=20 "$TESTS/check_emulated" --small --rows --part races --only 'time: mma:fp16' > "$log"; [ $? -eq 1 ] && grep -q 'places of the product, h100-fp16' "$log"; then
    echo 'ok - cuda: large products that are wrong every time do not pass as repeated products'
else
    echo 'not ok - cuda: large products that are wrong every time do not pass as repeated products'
    sed 's/^/# /' "$log"
    failed=1
fi

# a library that refuses products has no order, and no other row about these products passes
EMULATED_CUBLAS_REFUSES=e4m3 "$TESTS/check_emulated" --small --rows --part library --only ' e4m3:fast' > "$log"
if [ $? -eq 1 ] && grep -q '^FAIL order in (16,16,64): e4m3:fast .*cublasLtMatmul' "$log" && ! grep -q '^PASS' "$log"; then
    echo 'ok - cuda: a library that refuses products passes no row about them'
else
    echo 'not ok - cuda: a library that refuses products passes no row about them'
    sed 's/^/# /' "$log"
    failed=1
fi

# the report of a machine, from a small run, with programs in the place of the driver's own
tools=$(mktemp -d) || exit 1
trap 'rm -rf "$log" "$tools"' EXIT
printf '#!/bin/sh\nexec "%s" --small "$@"\n' "$TESTS/check_emulated" > "$tools/check"
printf '#!/bin/sh\necho 580.65, P0, 1980 MHz\n' > "$tools/nvidia-smi"
printf '#!/bin/sh\ncase "$*" in *racecheck*tensor*wgmma*) echo "========= a hazard"; exit 9 ;; *tcgen05*) echo SKIP a row ;; *) echo PASS a row ;; esac\n' > "$tools/compute-sanitizer"
chmod +x "$tools"/*
PATH=$tools:$PATH CHECK=$tools/check REPORT=$tools/report.txt PARTS='sanitizer refusals open' sh tests/gpu/report.sh > "$log" 2>&1
status=$?
if [ $status -eq 1 ] && grep -q '^device  *emulated device' "$tools/report.txt" && [ "$(grep -c '^state  *.*: 580.65, P0, 1980 MHz$' "$tools/report.txt")" -eq 2 ] &&
    grep -q "^FAIL compute-sanitizer racecheck, short run of tensor 'wgmma:e4m3'" "$tools/report.txt" && grep -q '^     ========= a hazard' "$tools/report.txt" &&
    [ "$(grep -c '^PASS compute-sanitizer' "$tools/report.txt")" -gt 15 ] && [ "$(grep -c '^SKIP compute-sanitizer .*: no row of it ran' "$tools/report.txt")" -eq 4 ] && grep -q '^PASS open: floor, wgmma:bf16' "$tools/report.txt" &&
    grep -q '^parts  *sanitizer refusals open$' "$tools/report.txt" && grep -q '^sizes  *usual$' "$tools/report.txt" &&
    grep -q '^source  *[^ ]' "$tools/report.txt" && grep -q '^date  *[0-9-]* [0-9:]* UTC$' "$tools/report.txt" &&
    [ "$(grep -c '^time  *part [a-z]*: [0-9]* s$' "$tools/report.txt")" -eq 3 ] && tail -n 1 "$tools/report.txt" | grep -q ' passed, 1 failed, '; then
    echo 'ok - cuda: the report of a machine is one file'
else
    echo 'not ok - cuda: the report of a machine is one file'
    sed 's/^/# /' "$log"
    failed=1
fi
refused() { # refused SETTING TEXT: exit 2, one sentence with the text, and no report
    if env CHECK="$tools/check" REPORT="$tools/none.txt" "$1" sh tests/gpu/report.sh > "$log" 2>&1; [ $? -eq 2 ] && [ "$(wc -l < "$log")" -eq 1 ] &&
        grep -q "$2" "$log" && [ ! -e "$tools/none.txt" ] && [ ! -e "$tools/none.txt.tmp" ]; then
        echo "ok - cuda: the report refuses $3"
    else
        echo "not ok - cuda: the report refuses $3"
        sed 's/^/# /' "$log"
        failed=1
    fi
}
refused 'PARTS=open nosuch' "nosuch.*layouts" 'a part that does not exist'
refused 'PARTS=*' "'\*'.*layouts" 'a pattern of parts'
refused "REPORT=$tools" "it is not a file" 'a folder as its file'
refused "REPORT=$tools/" "it is a folder" 'a name that ends with a slash'
refused "REPORT=$tools/check/none.txt" "its folder cannot be made" 'a folder that cannot be made'
refused "CHECK=$tools/nosuch" "nosuch': it is not a program" 'a program that is missing'
refused PATIENCE=1.5 "'1.5': it is a whole number" 'a time limit that is no whole number'
refused LONG=yes "LONG='yes'" 'a size that is neither 0 nor 1'

# a part that ends without a row of its own, and a part whose rows are all skipped
printf '#!/bin/sh\ncase "$*" in --parts) printf "a\\tA\\n" ;; *none) ;; *) echo no memory >&2; exit 1 ;; esac\n' > "$tools/lost"
printf '#!/bin/sh\ncase "$*" in --parts) printf "a\\tA\\n" ;; *none) ;; *) echo SKIP a ;; esac\n' > "$tools/skips"
chmod +x "$tools/lost" "$tools/skips"
if CHECK=$tools/lost REPORT=$tools/lost.txt PARTS=a sh tests/gpu/report.sh > "$log" 2>&1; [ $? -eq 1 ] && [ "$(grep -A 1 '^FAIL part a ended with status 1' "$tools/lost.txt" | tail -n 1)" = '     no memory' ] &&
    CHECK=$tools/skips REPORT=$tools/skips.txt PARTS=a LONG=0 sh tests/gpu/report.sh > "$log" 2>&1; then
    echo 'ok - cuda: the report has what a part says on standard error, and skipped rows alone are no failure'
else
    echo 'not ok - cuda: the report has what a part says on standard error, and skipped rows alone are no failure'
    sed 's/^/# /' "$log"
    failed=1
fi

# what takes longest, and finds least that other parts do not find, is last
PATH=$tools:$PATH CHECK=$tools/skips REPORT=$tools/order.txt sh tests/gpu/report.sh > "$log" 2>&1
if grep -q '^parts  *a sanitizer$' "$tools/order.txt" && "$TESTS/check_emulated" --parts | tail -n 1 | grep -q '^exhaustive'; then
    echo 'ok - cuda: the last parts of a report are all binary32 inputs and compute-sanitizer'
else
    echo 'not ok - cuda: the last parts of a report are all binary32 inputs and compute-sanitizer'
    sed 's/^/# /' "$log"
    failed=1
fi

# a signal to the whole process group, as from a terminal: the rows so far remain, and no process or temporary file
mkdir "$tools/temporary"
printf '#!/bin/sh\ncase "$*" in --parts) printf "a\\tA\\n" ;; *none) ;; *) echo PASS first; exec sleep 71 ;; esac\n' > "$tools/slow"
chmod +x "$tools/slow"
for signal in INT TERM HUP; do
    TMPDIR=$tools/temporary CHECK=$tools/slow REPORT=$tools/$signal.txt PARTS=a env --default-signal=INT,HUP setsid sh tests/gpu/report.sh > "$log" 2>&1 &
    leader=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        ! grep -qs '^PASS first' "$tools/$signal.txt.tmp" || break
        sleep 1
    done
    kill -s $signal -- -$leader
    wait $leader
    status=$?
    if [ $status -eq 130 ] && grep -q '^PASS first' "$tools/$signal.txt" && [ "$(tail -n 1 "$tools/$signal.txt")" = interrupted ] && [ ! -e "$tools/$signal.txt.tmp" ] &&
        [ -z "$(ls "$tools/temporary")" ] && [ -z "$(ps -o pid= -s $leader)" ]; then
        echo "ok - cuda: after $signal the report has the rows so far, and nothing runs on"
    else
        echo "not ok - cuda: after $signal the report has the rows so far, and nothing runs on"
        echo "# status $status"
        sed 's/^/# /' "$log"
        failed=1
    fi
done

if EMULATED_CAPABILITY=0 "$TESTS/check_emulated" > "$log" 2>&1; [ $? -eq 3 ] && grep -q 'this machine has no CUDA device' "$log"; then
    echo 'ok - cuda: without a device exit 3 and a sentence'
else
    echo 'not ok - cuda: without a device exit 3 and a sentence'
    failed=1
fi
exit $failed
