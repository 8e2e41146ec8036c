#!/bin/sh
# mutants.sh - plants each fault of tests/proofs/mutants/*.faults in a copy of the tree, builds, and runs the tests that should see it.
#
# `make mutants` calls this script in the tree's root. From the environment: JOBS faults at a time (default: one per
# processor); SAMPLE=N draws N faults by the commit; ONLY="NAME ..." takes the named faults; RESULTS=FILE gets the lines
# of the results (default build/mutants/results.txt); CC; FOLDER is another place for build/mutants. The sources are only read.
#
# build/mutants/base is a copy of the tree with a fast build: CFLAGS=-O1 -g0, no CUDA by nvcc, no MPI. A fault gets a copy
# of the base, so that make compiles what the fault touches and nothing has to be put back. The tests run in the order of
# the table, and the first `not ok` ends them. A test that sees a fault has to pass in the base. A fault that does not
# compile is an error, and so is a text that is no longer in its file exactly once. build/mutants/journal.txt has what is known of the
# present sources: an interrupted run goes on where it stopped, and a fault whose text and tests are as they were is not
# run again. FRESH=1 forgets the journal.

folder=${FOLDER:-build/mutants}
base=$folder/base
journal=$folder/journal.txt
green=$folder/green.txt
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
# MAKEFLAGS of a calling make would bring its own variables
build() { # build TREE TARGET...
    tree=$1
    shift
    (cd "$tree" && unset MAKEFLAGS MFLAGS MAKELEVEL && make -s CC="${CC:-gcc}" CFLAGS='-O1 -g0' NVCC= MPICC= BUILD_ID=00000000 \
        COMMIT=mutants "$@")
}
awk_tables() { awk -v mode="$1" -v name="$2" -f tests/proofs/mutants/mutants.awk tests/proofs/mutants/*.faults; }
key_of() { sed -n "s/^$1 //p" $folder/keys.txt; }
now() { date +%s.%N; }
since() { awk -v from="$1" -v to="$(now)" 'BEGIN { printf "%.1f", to - from }'; }

# the programs that a script of tests runs: those that it names, and those of the scripts that it reads; all programs if it
# has a variable in the place of a name, or looks for programs in the folder
programs_of() {
    grep -q 'PATH=\$BIN' "tests/programs/$1" && echo programs
    for script in "tests/programs/$1" $(sed -n 's,^\. \(tests/programs/[a-z_]*\.sh\).*,\1,p' "tests/programs/$1"); do cat "$script"; done |
        grep -o '\$BIN"\{0,1\}/[$a-z_0-9]*\|\$TESTS/walled/[a-z_0-9]*' | sed 's,^\$TESTS,build/test,' |
        sed '/^build/b; s,.*/\$.*,programs,; s,.*/,build/bin/,' | sort -u
}

# the goals of make for tests
goals_of() {
    for test in "$@"; do
        case $test in
        check_emulated*) echo build/test/check_emulated ;;
        *.sh) programs_of "$test" ;;
        *)
            echo "build/test/$test"
            [ ! -e "tests/unit/$test.c" ] || ! grep -q 'getenv("BIN")' "tests/unit/$test.c" || echo build/bin/ulp
            ;;
        esac
    done | sort -u
}

# passes TREE TEST SECONDS: runs a test in a tree until its first failure. check_emulated:PART:ONLY is a part of cuda.sh, and
# check_emulated@CAPABILITY:PART:ONLY is one on a device of this compute capability.
passes() (
    fifo=$PWD/$folder/fifo.$$ # outside of the tree, which may be copied at this time
    cd "$1" || exit 2
    test=$2 part=${2#check_emulated*:}
    export CMOCKA_MESSAGE_OUTPUT=TAP OMP_WAIT_POLICY=passive BIN=build/bin TESTS=build/test MODE=release NVCC=
    case $test in check_emulated@*) EMULATED_CAPABILITY=${test#*@} && export EMULATED_CAPABILITY="${EMULATED_CAPABILITY%%:*}" ;; esac
    case $test in
    check_emulated*:*:*) set -- "$3" build/test/check_emulated --small --tap --part "${part%%:*}" --only "${part#*:}" ;;
    check_emulated*:*) set -- "$3" build/test/check_emulated --small --tap --part "$part" ;;
    *.sh) set -- "$3" sh "tests/programs/$test" ;;
    *) set -- "$3" "build/test/$test" ;;
    esac
    command -v stdbuf >/dev/null && lines='stdbuf -oL' || lines=
    limit=$1
    shift
    rm -f "$fifo"
    mkfifo "$fifo" || exit 2
    # timeout makes a group of processes and ends all of them
    timeout -k 5 "$limit" $lines "$@" >"$fifo" 2>&1 </dev/null &
    child=$!
    trap 'kill $child 2>/dev/null; rm -f "$fifo"' EXIT
    awk '/^not ok/ && !/# SKIP/ { bad = 1; exit } END { exit bad }' <"$fifo" || exit 1
    wait $child
)

# is_green TEST TREE: whether a test passes without a fault, in a new copy of the base; its seconds go to a list
is_green() {
    grep -q "^$1 " $green && return
    green_begun=$(now)
    rm -rf "$2"
    cp -Rp $base "$2" && passes "$2" "$1" 600 && echo "$1 $(since "$green_begun")" >>$green
}

# --one NAME: plants a fault and writes its line
one() {
    name=$1 begun=$(now) tree=$folder/tree-$1 built=
    read -r name file tests <<END
$(grep "^$1 " $folder/list.txt)
END
    equal=$(sed -n "s/^$name: //p" $folder/equal.txt)
    rm -rf "$tree"
    line=
    cp -Rp $base "$tree" || line="error $name: the base cannot be copied"
    if [ -z "$line" ] && ! awk_tables plant "$name" >"$tree/planted.tmp"; then
        line="error $name: $(tail -n 1 "$tree/planted.tmp")"
    fi
    [ -z "$line" ] && cat "$tree/planted.tmp" >"$tree/$file"
    for test in $tests; do
        [ -n "$line" ] && break
        if ! build "$tree" $(goals_of "$test") >"$tree/build.log" 2>&1; then
            line="error $name: it does not build: $(grep -m 1 -E 'error|Error' "$tree/build.log")"
            break
        fi
        built=${built:-$(since "$begun")}
        limit=$(awk -v test="$test" '$1 == test { printf "%d", 60 + 10 * $2 }' $green)
        passes "$tree" "$test" "${limit:-400}" && continue
        times >"$tree/times" # line 2 has the user and the system time of the children, as 1m2.345s 0m0.678s
        cpu=$(awk -F '[ms ]+' 'NR == 2 { printf "%.0f", 60 * $1 + $2 + 60 * $3 + $4 }' "$tree/times")
        line="caught $name by $test in $(since "$begun") s, $cpu of the processor ($built s to build)"
        [ -n "$equal" ] && line="error $name: $test sees it, although its table says: $equal"
        is_green "$test" "$tree" || line="error $name: $test fails without it, too"
    done
    [ -z "$line" ] && [ -n "$equal" ] && line="equal $name: $equal"
    [ -z "$line" ] && line="SURVIVED $name: $tests pass"
    echo "$(key_of "$name") $line" >>$journal
    echo "$line"
    rm -rf "$tree"
}

if [ "${1:-}" = --one ]; then
    one "$2"
    exit 0
fi

# ---- which faults ----

mkdir -p $base || exit 1
rm -rf $folder/tree-*
awk_tables check '' >$folder/check.txt || { cat $folder/check.txt; echo '0 passed, 1 failed, 0 skipped'; exit 1; }
awk_tables list '' >$folder/list.txt
awk_tables equal '' >$folder/equal.txt
cut -d ' ' -f 1 $folder/list.txt >$folder/all.txt
# without a C++ compiler there is no emulated device
: >$folder/skipped.txt
command -v "${CXX:-g++}" >/dev/null || grep ' check_emulated\| t_gpu_' $folder/list.txt | cut -d ' ' -f 1 >$folder/skipped.txt
if [ -n "${ONLY:-}" ]; then
    printf '%s\n' $ONLY >$folder/wanted.txt
    grep -vxFf $folder/all.txt $folder/wanted.txt >$folder/unknown.txt
    [ -s $folder/unknown.txt ] && { echo "make mutants: no fault is called '$(head -n 1 $folder/unknown.txt)'" >&2; exit 2; }
elif [ -n "${SAMPLE:-}" ]; then
    case $SAMPLE in *[!0-9]* | 0) echo "make mutants: SAMPLE=$SAMPLE: must be a number from 1" >&2; exit 2 ;; esac
    # the commit and the name give a checksum; the least of them are the sample
    key=$(git rev-parse HEAD 2>/dev/null || echo "$BUILD_ID")
    while read -r name; do printf '%s %s\n' "$(printf '%s %s' "$key" "$name" | cksum | cut -d ' ' -f 1)" "$name"; done <$folder/all.txt |
        sort -n | head -n "$SAMPLE" | cut -d ' ' -f 2 >$folder/wanted.txt
    echo "drawn by $key: $(tr '\n' ' ' <$folder/wanted.txt)"
else cp $folder/all.txt $folder/wanted.txt; fi
grep -vxFf $folder/skipped.txt $folder/wanted.txt >$folder/chosen.txt || { echo '0 passed, 0 failed, 0 skipped'; exit 1; }

# ---- the base ----

sources() { (cd "$1" && find . \( -name .git -o -path ./build -o -path ./results -o -path ./figures -o -path ./.gpu -o -name '__pycache__' \) -prune -o -type f \
    ! -name '*.tmp' -print | LC_ALL=C sort); }
sources . >$folder/sources.txt
sources $base >$folder/copied.txt
LC_ALL=C comm -13 $folder/sources.txt $folder/copied.txt | while read -r file; do rm -f "$base/$file"; done
while read -r file; do
    cmp -s "$file" "$base/$file" && continue
    mkdir -p "$(dirname "$base/$file")"
    cp "$file" "$base/$file"
    echo "$file"
done <$folder/sources.txt >$folder/changed.txt
# what the journal knows holds for these sources of the programs, and for the text and the tests of a fault
known="# sources $(grep -E '^\./(formats|base|kernels|sim|experiments|tool|course|Makefile)' $folder/sources.txt | xargs cat | cksum), ${CC:-gcc}"
if [ "$(head -n 1 $journal 2>/dev/null)" != "$known" ] || [ -n "${FRESH:-}" ]; then
    echo "$known" >$journal
    rm -f $green
fi
touch $green
# texts_of NAME: the fault and its tests
texts_of() {
    awk_tables text "$1"
    for test in $(sed -n "s/^$1 [^ ]* //p" $folder/list.txt); do
        case $test in
        check_emulated*) cat tests/gpu/*.c ;;
        *) for file in "tests/programs/$test" "tests/unit/$test.c" "tests/gpu/emulated/$test.cpp"; do [ ! -e "$file" ] || cat "$file"; done ;;
        esac
    done
}
while read -r name; do echo "$name $(texts_of "$name" </dev/null | cksum | tr -d ' ')"; done <$folder/chosen.txt >$folder/keys.txt

tests=$(while read -r name; do grep "^$name " $folder/list.txt; done <$folder/chosen.txt | cut -d ' ' -f 3- | tr ' ' '\n' | sort -u)
begun=$(now)
echo "building the base, $(echo "$tests" | wc -w) tests"
build $base -j"$jobs" $(goals_of $tests) >$folder/base.log 2>&1 || {
    tail -n 20 $folder/base.log
    echo 'the base does not build'
    echo '0 passed, 1 failed, 0 skipped'
    exit 1
}
echo "the base is built in $(since "$begun") s"

# ---- the faults ----

# the lines of the journal on the chosen faults, in the order of the tables
judged() {
    awk 'FNR == 1 { pass++ } pass == 1 { order[++n] = $1; key[$1] = $2; next }
        { name = $3; sub(/:$/, "", name); if (name in key && key[name] == $1) { sub(/^[^ ]* /, ""); line[name] = $0 } }
        END { for (i = 1; i <= n; i++) if (order[i] in line) print line[order[i]] }' $folder/keys.txt $journal
}
judged | sed -n 's/^caught \([^ ]*\).*/\1/p; s/^equal \([^:]*\):.*/\1/p' >$folder/known.txt # the others are run again
[ -s $folder/known.txt ] && echo "$(wc -l <$folder/known.txt) faults are known from an earlier run of these sources: $journal"
grep -vxFf $folder/known.txt $folder/chosen.txt | xargs -r -P "$jobs" -n 1 sh tests/proofs/mutants/mutants.sh --one

count() { judged | grep -c "^$1 "; }
caught=$(count caught) survived=$(count SURVIVED) equal=$(count equal) errors=$(count error)
lost=$(($(wc -l <$folder/chosen.txt) - caught - survived - equal - errors)) skipped=$(grep -xFf $folder/skipped.txt $folder/wanted.txt | wc -l)
results=${RESULTS:-$folder/results.txt}
{
    echo "# the results of make mutants${SAMPLE:+ SAMPLE=$SAMPLE}${ONLY:+ ONLY=\"$ONLY\"} RESULTS=$results, JOBS=$jobs: which test saw each planted fault, seconds with its build"
    judged
} >"$results.tmp" && mv "$results.tmp" "$results"
judged | grep -v '^caught'
echo "$caught caught, $survived survive, $equal equal$(judged | sed -n 's/^equal \([^:]*\):.*/ \1/p' | tr '\n' ','), $errors errors"
[ "$lost" -gt 0 ] && echo "$lost are not judged: run make mutants again"
echo "$((caught + equal)) passed, $((survived + errors + lost)) failed, $skipped skipped"
[ $((survived + errors + lost)) -eq 0 ]
