#!/bin/sh
# cuda.sh - the kernels of kernels/cuda on the emulated device give the results of the CPU. TESTS is from the environment.
# not with RUN: too slow
tree=$(pwd)
TESTS=$(cd "${TESTS:-build/test}" && pwd) || exit 1
. tests/programs/support.sh
# threads of the CPU gain nothing beside other tests
export OMP_NUM_THREADS=1

if [ ! -x "$TESTS/check_emulated" ]; then
    skip 'cuda: kernels on the emulated device' 'no C++ compiler, or a sanitizer that does not support coroutines'
    exit 0
fi
emulated() { # emulated SETTING OPTION...: a device with the setting NAME=VALUE
    device=$1
    shift
    env "$device" "$TESTS/check_emulated" --small "$@"
}
rows() { emulated "$@" --rows > log 2>&1; }
judge() { # judge STATUS TEXT: with the log of the last command if it failed
    verdict "$1" "cuda: $2"
    [ "$1" -eq 0 ] || sed 's/^/# /' log
}
report() { # report NAME=VALUE...: the report of a machine with these settings, from the root of the tree
    (cd "$tree" && env "$@" sh tests/gpu/report.sh) > log 2>&1
}

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
for capability in 80 89; do
    emulated EMULATED_CAPABILITY=$capability --tap --part tensor --only mma: || failed=1
done
parts='layouts tensor chains open' only=
[ "${MODE:-release}" = release ] || parts='layouts tensor' only='--only tcgen05:e2m1'
for part in $parts; do
    # shellcheck disable=SC2086 # two words or none
    emulated EMULATED_CAPABILITY=100 --tap --part $part $only || failed=1
done

# A device that differs from its model: the sums of an open point find the answer, and the row says what it sets.
differs() { # differs SETTING POINT PRODUCT SENTENCE
    [ "${MODE:-release}" = release ] || return # it is the same code for every setting
    rows EMULATED_SETTINGS=$1 --part open --only "$2, $3"
    [ $? -eq 1 ] && grep -qF "$4" log
    judge $? "a device with $1 answers the open point '$2'"
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
    rows EMULATED_SETTINGS=$setting --part open --only 'floor, '
    [ $? -eq 1 ] && ! grep -q 'which sets' log
    judge $? "a device with $setting has no other floor"
done

rows EMULATED_SETTINGS=:F=20 --part races --only 'time: mma:fp16'
[ $? -eq 1 ] && grep -q 'places of the product, h100-fp16' log
judge $? 'large products that are wrong every time do not pass as repeated products'

# a library that refuses products has no order, and no other row about these products passes
rows EMULATED_CUBLAS_REFUSES=e4m3 --part library --only ' e4m3:fast'
[ $? -eq 1 ] && grep -q '^FAIL order in (16,16,64): e4m3:fast .*cublasLtMatmul' log && ! grep -q '^PASS' log
judge $? 'a library that refuses products passes no row about them'

# ---- the report of a machine, from a small run, with programs in the place of the driver's own ----

tool() { # tool NAME TEXT: a program that runs the text
    printf '#!/bin/sh\n%s\n' "$2" > "tools/$1"
    chmod +x "tools/$1"
}
mkdir tools
tools=$work/tools
tool check "exec '$TESTS/check_emulated' --small \"\$@\""
tool nvidia-smi 'echo 580.65, P0, 1980 MHz'
tool compute-sanitizer 'case "$*" in *racecheck*tensor*wgmma*) echo "========= a hazard"; exit 9 ;; *tcgen05*) echo SKIP a row ;; *) echo PASS a row ;; esac'
report PATH="$tools:$PATH" CHECK="$tools/check" REPORT="$work/report.txt" PARTS='sanitizer refusals open'
status=$?
# has NUMBER PATTERN: so many lines of the report
has() { [ "$(grep -c "$2" report.txt)" -eq "$1" ] || { echo "# not $1 lines of the report: $2" >> log; status=2; }; }
has 1 '^device  *emulated device'
has 2 '^state  *.*: 580.65, P0, 1980 MHz$'
has 1 "^FAIL compute-sanitizer racecheck, short run of tensor 'wgmma:e4m3'"
has 1 '^     ========= a hazard'
has 4 '^SKIP compute-sanitizer .*: no row of it ran'
has 1 '^parts  *sanitizer refusals open$'
has 1 '^sizes  *usual$'
has 1 '^source  *[^ ]'
has 1 '^date  *[0-9-]* [0-9:]* UTC$'
has 3 '^time  *part [a-z]*: [0-9]* s$'
[ $status -eq 1 ] && [ "$(grep -c '^PASS compute-sanitizer' report.txt)" -gt 15 ] && grep -q '^PASS open: floor, wgmma:bf16' report.txt &&
    tail -n 1 report.txt | grep -q ' passed, 1 failed, '
judge $? 'the report of a machine is one file'

refused() { # refused SETTING PATTERN TEXT: exit 2, one sentence with the pattern, and no report
    report CHECK="$tools/check" REPORT="$work/none.txt" "$1"
    [ $? -eq 2 ] && [ "$(wc -l < log)" -eq 1 ] && grep -q "$2" log && [ ! -e none.txt ] && [ ! -e none.txt.tmp ]
    judge $? "the report refuses $3"
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
tool lost 'case "$*" in --parts) printf "a\\tA\\n" ;; *none) ;; *) echo no memory >&2; exit 1 ;; esac'
tool skips 'case "$*" in --parts) printf "a\\tA\\n" ;; *none) ;; *) echo SKIP a ;; esac'
report CHECK="$tools/lost" REPORT="$work/lost.txt" PARTS=a
[ $? -eq 1 ] && [ "$(grep -A 1 '^FAIL part a ended with status 1' lost.txt | tail -n 1)" = '     no memory' ] &&
    report CHECK="$tools/skips" REPORT="$work/skips.txt" PARTS=a LONG=0
judge $? 'the report has what a part says on standard error, and skipped rows alone are no failure'

# what takes longest, and finds least that other parts do not find, is last
report PATH="$tools:$PATH" CHECK="$tools/skips" REPORT="$work/order.txt"
grep -q '^parts  *a sanitizer$' order.txt && "$TESTS/check_emulated" --parts | tail -n 1 | grep -q '^exhaustive'
judge $? 'the last parts of a report are all binary32 inputs and compute-sanitizer'

# a signal to the whole process group, as from a terminal: the rows so far remain, and no process or temporary file.
# env gives the report the signals that a shell in the background, or nohup, ignores; where env cannot, TERM is tried alone
default='env --default-signal=INT,HUP' signals='INT TERM HUP'
$default true 2> /dev/null || default='' signals=TERM
mkdir temporary
tool slow 'case "$*" in --parts) printf "a\\tA\\n" ;; *none) ;; *) echo PASS first; exec sleep 71 ;; esac'
for signal in $signals; do
    TMPDIR=$work/temporary CHECK=$tools/slow REPORT=$work/$signal.txt PARTS=a \
        $default setsid sh "$tree/tests/gpu/report.sh" > log 2>&1 &
    leader=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        ! grep -qs '^PASS first' $signal.txt.tmp || break
        sleep 1
    done
    kill -s $signal -- -$leader
    wait $leader
    status=$?
    echo "status $status" >> log
    [ $status -eq 130 ] && grep -q '^PASS first' $signal.txt && [ "$(tail -n 1 $signal.txt)" = interrupted ] && [ ! -e $signal.txt.tmp ] &&
        [ -z "$(ls temporary)" ] && ! ps -e -o sid= | grep -qx " *$leader"
    judge $? "after $signal the report has the rows so far, and nothing runs on"
done

rows EMULATED_CAPABILITY=0
[ $? -eq 3 ] && grep -q 'this machine has no CUDA device' log
judge $? 'without a device exit 3 and a sentence'
exit $failed
