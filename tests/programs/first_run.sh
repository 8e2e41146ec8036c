#!/bin/sh
# first_run.sh - tests/gpu/first_run.sh keeps its time and its rows, rehearsed with programs that pass, fail, hang or are slow.
#
# A rehearsal has scripts in place of the programs and of compute-sanitizer. BIN, CC and NVCC are from the environment.
# modes: release
# not with RUN: builds programs and starts them
tree=$PWD
. tests/programs/support.sh
CC=${CC:-gcc}

# ---- programs: a part of check_gpu runs the file PART in its folder, the benchmark the file `rows` beside it ----

mkdir -p gpu/test gpu/bin gpu/lib tools
cat >gpu/test/check_gpu <<'END'
#!/bin/sh
here=$(dirname "$0") part=
case $1 in --parts) printf 'layouts\tplaces\nlibrary\tcuBLASLt\nlater\tnot known to the script\nelements\telements\n'; exit ;; esac
while [ $# -gt 0 ]; do case $1 in --part) part=$2 ;; esac; shift; done
case $part in none) exec sh "$here/device" ;; esac
. "$here/$part"
END
cat >gpu/bin/bench <<'END'
#!/bin/sh
while [ $# -gt 0 ]; do case $1 in --out) out=$2 ;; esac; shift; done
. "$(dirname "$0")/rows"
END
printf '#!/bin/sh\ncase $2 in racecheck) exec sh "%s/gpu/race" ;; esac\necho quiet\n' "$work" >tools/compute-sanitizer
printf '#!/bin/sh\necho counters of "$@"\nfor i in 1 2 3 4 5 6 7 8 9; do echo "counter $i"; sleep 0.02; done\n' >tools/ncu
printf '#!/bin/sh\necho 580.65, P0\n' >tools/nvidia-smi
chmod +x gpu/test/check_gpu gpu/bin/* tools/*
: >some.so
export PATH="$work/tools:$PATH" PROGRAMS="$work/gpu" ULPLAB_CUBLASLT="$work/some.so"

all_pass() {
    echo 'echo "device       a rehearsal"' >gpu/test/device
    for part in layouts library later elements; do echo "echo 'PASS $part is right    1 compared, 0 wrong'" >gpu/test/$part; done
    echo 'echo "kind,rate" >"$out.part"; echo "$(basename "$0"),$$" >>"$out.part"; mv "$out.part" "$out"; echo table' >gpu/bin/rows
    echo 'exit 0' >gpu/race
}
first_run() { # first_run SECONDS: the script; its exit status, and $took seconds
    begin=$(date +%s)
    sh "$tree/tests/gpu/first_run.sh" out "$1" >out.txt 2>err.txt
    set -- $?
    took=$(($(date +%s) - begin))
    return "$1"
}
ends() { # ends STATUS TEXT
    [ "$1" -eq 0 ] || sed 's/^/# /' out.txt err.txt | tail -n 30
    verdict "$1" "$2"
}
few_files() { # few_files FOLDER
    [ "$(find "$1" -type f | wc -l)" -le 8 ] && [ -z "$(find "$1" -size +16383k)" ] && [ -z "$(find "$1" -mindepth 1 -type d)" ]
}

# ---- arguments, and a machine without a device ----

exits 2 'no OUT' sh "$tree/tests/gpu/first_run.sh"
exits 2 'three arguments' sh "$tree/tests/gpu/first_run.sh" out 9 9
: >file
complains 2 'OUT is a file' "OUT 'file'" sh "$tree/tests/gpu/first_run.sh" file
mkdir -p taken/facts.txt
complains 2 'a folder has the name of a file of OUT' "OUT 'taken': no file can be written" sh "$tree/tests/gpu/first_run.sh" taken
for seconds in 0 -1 1.5 9s '' ' ' 1234567; do
    complains 2 "SECONDS '$seconds'" "SECONDS '$seconds': it is a whole number" sh "$tree/tests/gpu/first_run.sh" out "$seconds"
done
complains 2 'an option in the place of OUT' "OUT '-x'" sh "$tree/tests/gpu/first_run.sh" -x
exits 0 'help' sh "$tree/tests/gpu/first_run.sh" --help
exits 2 'PROGRAMS that is no folder' env PROGRAMS="$work/nowhere" sh "$tree/tests/gpu/first_run.sh" out
says "PROGRAMS='$work/nowhere': there is no such folder" err.txt 'and the sentence names it'
exits 2 'a library that is not there' env ULPLAB_CUBLASLT=/none.so sh "$tree/tests/gpu/first_run.sh" out
says "ULPLAB_CUBLASLT='/none.so'" err.txt 'and the sentence names it'
complains 2 'PROGRAMS without programs' 'test/check_gpu' env PROGRAMS="$work/tools" sh "$tree/tests/gpu/first_run.sh" out
all_pass
echo 'echo "check_gpu: no CUDA device" >&2; exit 3' >gpu/test/device
exits 3 'no device' sh "$tree/tests/gpu/first_run.sh" out
grep -q '^check_gpu: no CUDA device' out/facts.txt && [ "$(ls out)" = facts.txt ]
verdict $? 'facts.txt has the reason'
echo rows >out/a.txt
sh "$tree/tests/gpu/first_run.sh" out >/dev/null 2>&1
holds 'and the rows of an earlier run stay' [ "$(cat out/a.txt)" = rows ]
rm out/a.txt

# ---- all pass ----

all_pass
first_run 100
[ $? -eq 0 ] && [ "$took" -le 20 ]
ends $? 'all rows pass: status 0'
[ "$(sed -n 's/^PASS \([a-z]*\) .*/\1/p' out/a.txt | tr '\n' ' ')" = 'layouts library ' ] &&
    [ "$(sed -n 's/^PASS \([a-z]*\) .*/\1/p' out/b.txt | tr '\n' ' ')" = 'elements later ' ]
ends $? 'the parts are in two reports, and a part that the script does not know comes last'
[ "$(grep -c '^bench,' out/bench.txt)" -eq 1 ] && grep -q '^state' out/bench.txt
ends $? 'each row of the benchmark is there once, and the state of the device'
grep -q '^counters of .*regex:wgmma_kernel' out/ncu.txt && [ "$(grep -c '^counter 9' out/ncu.txt)" -eq 3 ] && [ "$(grep -c '^PASS ' out/sanitizer.txt)" -eq 5 ] && [ ! -e out/again.txt ]
ends $? 'then counters and compute-sanitizer'
few_files out
ends $? 'in few files'

# ---- rows that fail, and more output than fits ----

echo 'echo "FAIL library: sums                                                    2 compared, 1 wrong"; echo "     first: 7"
echo "blocking ${CUDA_LAUNCH_BLOCKING:-no}, level ${CUBLASLT_LOG_LEVEL:-none}"; [ -z "${CUBLASLT_LOG_FILE:-}" ] || echo heuristics >"$CUBLASLT_LOG_FILE"; exit 1' >gpu/test/library
echo 'yes "a hazard" | head -c 20000000; exit 9' >gpu/race
echo 'yes "a table" | head -c 20000000; exit 4' >gpu/bin/rows
first_run 100
[ $? -eq 1 ] && [ "$(grep -c '^FAIL library: sums' out.txt)" -eq 1 ] && grep -q '^     first: 7' out.txt && tail -n 1 out.txt | grep -q '^6 passed, 4 failed, '
ends $? 'rows that fail: status 1, and they are printed at the end with the counts'
grep -q '^blocking 1, level 2' out/again.txt && grep -q '^heuristics' out/again.txt && ! grep -q 'layouts' out/again.txt
ends $? 'a row that fails runs once more, kernel by kernel, with the log of cuBLASLt'
[ "$(grep -c '^FAIL compute-sanitizer racecheck' out/sanitizer.txt)" -eq 2 ] && grep -q '^FAIL bench: it ended with status 4' out/facts.txt
ends $? 'so are what compute-sanitizer finds, and the benchmark that fails'
few_files out
ends $? 'output that is too long is cut'

# ---- a part that hangs, one that is slow ----

all_pass
echo 'echo "PASS the row before"; sleep 300' >gpu/test/layouts
first_run 16
[ $? -eq 1 ] && [ "$took" -le 19 ] && grep -q '^PASS the row before' out/a.txt && grep -q '^FAIL part layouts ended with status 124' out/a.txt
ends $? "a part that hangs is ended and named, in $took of 16 s"
grep -q '^PASS library' out/a.txt && grep -q '^bench,' out/bench.txt && grep -q 'again: layouts: begins' out/again.txt
ends $? 'and the rest has its time'
all_pass
for part in layouts library elements later; do echo "for i in 1 2 3 4 5 6 7; do echo \"PASS $part \$i\"; sleep 0.5; done" >gpu/test/$part; done
echo 'sleep 2; echo kind,rate >"$out"' >gpu/bin/rows
first_run 9
[ $? -eq 1 ] && [ "$took" -le 12 ] && grep -q '^PASS library 2' out/a.txt && grep -q 'lane a: the part library did not end; did not begin: none' out/facts.txt
ends $? "slow programs: SECONDS is kept ($took of 9 s), and what did not end is named"

# ---- the script is ended ----

turn=0
stopped() { # stopped SIGNAL FILE TEXT: the script, ended when $to/FILE has TEXT; its exit status
    to=stopped.$((turn += 1)) # a folder of its own: after KILL reports go on
    sh "$tree/tests/gpu/first_run.sh" $to 100 >out.txt 2>err.txt &
    child=$!
    for _ in $(seq 100); do
        if grep -qs "$3" "$to/$2"; then break; fi
        sleep 0.1
    done
    kill -"$1" $child
    wait $child
    set -- $?
    child=
    return "$1"
}
slow='for i in 1 2 3 4 5 6 7 8 9; do echo "PASS slow $i"; sleep 0.2; done; : >"$here/alive"'
for part in layouts elements; do echo "$slow" >gpu/test/$part; done
stopped TERM b.txt.tmp 'slow 5'
[ $? -eq 130 ] && grep -q '^PASS slow 1' $to/a.txt && grep -q '^PASS slow 5' $to/b.txt && grep -q 'interrupted$' $to/facts.txt &&
    grep -q 'the part elements did not end; did not begin: later' $to/facts.txt && tail -n 1 out.txt | grep -q '^[1-9][0-9]* passed, 0 failed'
ends $? 'after TERM the rows so far are there, and what is missing is named'
few_files $to && [ ! -e gpu/test/alive ] && sleep 2 && [ ! -e gpu/test/alive ]
ends $? 'and no program goes on'
stopped KILL b.txt.tmp 'slow 5'
grep -q '^PASS slow 1' $to/a.txt* && grep -q '^PASS slow 5' $to/b.txt* && few_files $to
ends $? 'after KILL the rows so far are there'
all_pass
echo 'echo kind,rate >"$out.part"; for i in 1 2 3 4 5 6 7 8 9; do echo "slow,$i" >>"$out.part"; echo "line $i"; sleep 0.2; done' >gpu/bin/rows
for signal in TERM KILL; do
    stopped $signal bench.txt 'line 4'
    grep -q '^slow,2' $to/bench.txt && grep -q '^line 2' $to/bench.txt && grep -q '^PASS library' $to/a.txt && few_files $to
    ends $? "after $signal so are the rows of the benchmark"
done

# ---- what the machine has ----

all_pass
echo 'exit 3' >gpu/test/device
mkdir -p loader package/nvidia/cu13/lib
: >loader/libcublasLt.so.13
: >package/nvidia/cu13/lib/libcublasLt.so.13
unset ULPLAB_CUBLASLT
LD_LIBRARY_PATH=$work/nowhere:$work/loader first_run 9
says "^cuBLASLt  *$work/loader/libcublasLt.so.13" out/facts.txt 'cuBLASLt is found where the loader looks'
printf '#!/bin/sh\n' >tools/ldconfig
printf '#!/bin/sh\nprintf "\\n%%s\\n" "%s/package"\n' "$work" >tools/python3
chmod +x tools/ldconfig tools/python3
for folder in cu13 cublas; do
    [ -d package/nvidia/$folder ] || mv package/nvidia/cu13 package/nvidia/$folder
    first_run 9
    says "^cuBLASLt  *$work/package/nvidia/$folder/lib/libcublasLt.so.13" out/facts.txt "or inside a Python package, nvidia/$folder"
done
export ULPLAB_CUBLASLT="$work/some.so"

# a kit that does not start: make builds for this machine
mkdir -p copy/tests copy/.gpu/test copy/.gpu/bin copy/.gpu/include
cp -R "$tree/tests/gpu" copy/tests/
cp gpu/bin/bench copy/.gpu/bin/
printf '#!/bin/sh\nexit 127\n' >copy/.gpu/test/check_gpu
printf '#!/bin/sh\necho "$*" >asked\n[ ! -e "%s/broken" ] || { echo "a fault"; exit 2; }\nmkdir -p build && cp -R "%s/gpu/test" "%s/gpu/bin" build/\n' "$work" "$work" "$work" >tools/make
chmod +x copy/.gpu/test/check_gpu tools/make
unset PROGRAMS
all_pass
sh copy/tests/gpu/first_run.sh out 60 >out.txt 2>err.txt
ends $? 'programs are built if the kit does not start'
grep -q "build/test/check_gpu .*RANDOM123=$work/copy/.gpu/include" copy/asked && grep -q '^PASS layouts' out/a.txt
verdict $? 'with the headers of the kit, and they run'
: >broken
exits 1 'a build that fails' sh copy/tests/gpu/first_run.sh out 60
grep -q '^a fault' out/facts.txt && says '^FAIL programs' out/facts.txt 'leaves its reason'
rm tools/make

# ---- the kit ----

mkdir -p built/test built/lib built/Random123
echo 'int ulp(void); int main(void) { return ulp(); }' >main.c
echo 'int ulp(void); int ulp(void) { return 0; }' >ulp.c
: >built/Random123/philox.h
echo 'abc123' >built/commit
$CC -g -shared -fPIC ulp.c -Wl,-soname,libulp.so.7 -o built/lib/libulp.so.7.1 && ln -s libulp.so.7.1 built/lib/libulp.so.7 &&
    $CC -g main.c -Wl,-rpath,'$ORIGIN/../lib' built/lib/libulp.so.7 -o built/test/check_gpu
kit() { env RANDOM123="$work/built/Random123" sh "$tree/tests/gpu/kit.sh" built kit test/check_gpu lib/libulp.so.7; }
exits 0 'the kit is made' kit
[ "$(cd kit && find . -type f | LC_ALL=C sort | tr '\n' ' ')" = './commit ./include/Random123/philox.h ./lib/libulp.so.7 ./test/check_gpu ' ] &&
    mv built built.gone && kit/test/check_gpu && mv built.gone built && ! readelf -S kit/test/check_gpu kit/lib/* | grep -q '\.debug'
verdict $? 'it has regular files without debug information, and its program runs where the build is gone'
cp ulp.c other.c
$CC -shared -fPIC other.c -Wl,-soname,libother.so.1 -o built/lib/libother.so && $CC main.c -Wl,--no-as-needed built/lib/libother.so built/lib/libulp.so.7 -o built/test/check_gpu
complains 1 'a program that needs another library is refused' 'libother.so.1' kit
[ -x kit/test/check_gpu ] && kit/test/check_gpu && [ ! -e kit.tmp ]
verdict $? 'and the old kit stays'
(unset MAKEFLAGS MFLAGS MAKELEVEL; cd "$tree" && make gpu-kit NVCC=none) >out.txt 2>&1
grep -q '^make gpu-kit: none is missing' out.txt && grep -q 'Error 3' out.txt
verdict $? 'without nvcc make says so, with status 3'

# ---- ULPLAB_CUBLASLT, in a library with CUDA ----

if [ -z "${NVCC:-}" ]; then
    skip 'ULPLAB_CUBLASLT' 'no nvcc'
    exit $failed
fi
cat >lacks.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **names) { /* what the library lacks: nothing, or a sentence */
    void *library = count == 2 ? dlopen(names[1], RTLD_NOW) : NULL;
    void *symbol = library != NULL ? dlsym(library, "_Z24ulp_native_library_lacksv") : NULL;
    if (symbol == NULL) return 1;
    puts((*(const char *(**)(void))&symbol)());
    return 0;
}
END
# a cuBLASLt that starts, and one whose functions are missing
for name in Create GetStatusString Matmul MatmulAlgoGetHeuristic MatmulDescCreate MatmulDescDestroy MatmulDescSetAttribute \
    MatmulPreferenceCreate MatmulPreferenceDestroy MatmulPreferenceSetAttribute MatrixLayoutCreate MatrixLayoutDestroy; do
    echo "int cublasLt$name(void); int cublasLt$name(void) { return 0; }"
done >whole.c
echo 'int cublasLtCreate(void); int cublasLtCreate(void) { return 0; }' >part.c
$CC lacks.c -o lacks -ldl && $CC -shared -fPIC whole.c -o whole.so && $CC -shared -fPIC part.c -o part.so
verdict $? 'libraries in place of cuBLASLt are made'
lacks() { ULPLAB_CUBLASLT=$1 ./lacks "$BIN/../lib/libulp.so" >out.txt; }
if lacks "$work/none.so" && grep -q 'this build has no cuBLASLt' out.txt; then
    skip 'ULPLAB_CUBLASLT' 'this build has no cuBLASLt'
    exit $failed
fi
says "^ULPLAB_CUBLASLT=$work/none.so: cannot open" out.txt 'a library that is not there is named, and no other is tried'
: >empty.so
lacks "$work/empty.so"
says "^ULPLAB_CUBLASLT=$work/empty.so: file too short" out.txt 'so is a file that is no library'
lacks "$work/whole.so" && [ "$(cat out.txt)" = '' ]
verdict $? 'the library that is named is opened'
lacks "$work/part.so"
says 'has no function cublasLt' out.txt 'and its functions have to be there'
exit $failed
