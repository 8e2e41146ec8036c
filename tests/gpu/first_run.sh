#!/bin/sh
# first_run.sh OUT [SECONDS] - what a GPU that is there for minutes can answer, most valuable first; OUT always has all rows so far.
#
# OUT is a folder for at most 8 files of less than 16 MiB, which replace those of an earlier run: facts.txt (the machine, and the
# course of the run), a.txt and b.txt (two reports of report.sh, written at the same time), bench.txt, ncu.txt, again.txt (rows
# with FAIL, once more and alone) and sanitizer.txt. SECONDS (520 without it) is the time for everything; what does not fit is
# left out, and named.
# The programs are those of .gpu (make gpu-kit). If they do not start on this machine, make builds others, with the headers of
# .gpu/include. PROGRAMS in the environment names another folder with test/check_gpu and bin/bench, and ULPLAB_CUBLASLT
# the library of cuBLASLt; without it the script looks where machines have it.
# The rows of an earlier run are removed when the device has answered. The exit status is 0 if every part ended and no row
# failed, 1 if a row failed or a part did not end, 2 for wrong arguments, 3 if there is no device, and 130 if INT, TERM or HUP
# ended the run.
set -fu # names of parts are lists of words
began=$(date +%s)
wrong() { echo "first_run.sh: $1" >&2; exit 2; }
usage='sh tests/gpu/first_run.sh OUT [SECONDS]: OUT is a folder, SECONDS a whole number, 520 without it'
case ${1:-} in --help) echo "$usage"; exit 0 ;; esac
[ $# -eq 1 ] || [ $# -eq 2 ] || wrong "$# arguments ('$*'): $usage"
out=$1 total=${2-520}
case $total in '' | 0* | *[!0-9]* | ???????*) wrong "SECONDS '$total': it is a whole number, from 1 to 999999" ;; esac
case $out in '' | -*) wrong "OUT '$out': it is the name of a folder; ./$out if it begins with -" ;; esac
[ ! -e "$out" ] || [ -d "$out" ] || wrong "OUT '$out': it is a file, not a folder"
programs=${PROGRAMS:-}
if [ -n "$programs" ]; then
    [ -d "$programs" ] || wrong "PROGRAMS='$programs': there is no such folder"
    for name in test/check_gpu bin/bench; do
        [ -x "$programs/$name" ] || wrong "PROGRAMS='$programs': it has no program $name"
    done
    programs=$(cd "$programs" && pwd)
fi
[ -z "${ULPLAB_CUBLASLT:-}" ] || [ -f "$ULPLAB_CUBLASLT" ] || wrong "ULPLAB_CUBLASLT='$ULPLAB_CUBLASLT': there is no such file"
(mkdir -p "$out" && : > "$out/facts.txt") 2> /dev/null || wrong "OUT '$out': no file can be written in it"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/../.." || exit 2
PATH=$PATH:/usr/local/cuda/bin:/usr/sbin:/sbin
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
exec 4>&1 # `run` may have another standard output when a signal arrives
trap interrupted INT TERM HUP

left() { echo $((began + total - $(date +%s))); }
fail() { echo "FAIL $*" | tee -a "$out/facts.txt"; }
say() { echo "[$(($(date +%s) - began)) s] $*" | tee -a "$out/facts.txt"; }

# A shell acts on a signal only when its foreground program has ended, so programs run in the background.
children=
run() { # run COMMAND...: its exit status
    "$@" &
    children=$!
    wait $children
    set -- $?
    children=
    return "$1"
}

# shellcheck disable=SC2317 # trap calls it
interrupted() {
    trap '' INT TERM HUP
    exec >&4
    # shellcheck disable=SC2086 # a list of processes
    [ -z "$children" ] || kill $children 2> /dev/null
    wait
    end_lanes
    add_rows
    say interrupted
    verdict
    exit 130
}

# ---- the machine: what later numbers depend on ----

first_file() { # the first path of the input that is a file
    while read -r path; do
        [ ! -f "$path" ] || { echo "$path"; return; }
    done
    return 1
}

find_library() { # cuBLASLt, for the loader, inside Python packages, or elsewhere
    for name in libcublasLt.so.13 libcublasLt.so.12; do
        echo "${LD_LIBRARY_PATH:-}" | tr : '\n' | sed "s,\$,/$name," | first_file && return
        ldconfig -p | awk -v name="$name" '$1 == name { print $NF }' | first_file && return
        timeout 5 python3 -c 'import sys; print("\n".join(sys.path))' | sed "s,\$,/nvidia/cu13/lib/$name,p; s,/cu13/lib/,/cublas/lib/," | first_file && return
        timeout 10 find -L /usr/local /opt -name "$name" | first_file && return
    done 2> /dev/null
}

facts() {
    echo "kit          $(cat .gpu/commit 2> /dev/null || echo none)"
    echo "source       $(git describe --always --dirty 2> /dev/null || echo 'no repository')"
    date -u
    uname -a
    echo "processors   $(nproc)"
    grep MemTotal /proc/meminfo
    timeout 20 nvidia-smi
    timeout 20 sh tests/gpu/state.sh
    nvcc --version | tail -n 2
    gcc --version | head -n 1
    echo "cuBLASLt     ${ULPLAB_CUBLASLT:-none}"
    for name in compute-sanitizer ncu cuobjdump python3; do echo "$name: $(command -v $name)"; done
}

starts() { run timeout 30 "$programs/test/check_gpu" --parts > "$tmp/parts" 2>> "$out/facts.txt"; }

build() { # the programs of this tree, for the GPU of this machine
    if ! [ -e /dev/nvidia0 ] && ! [ -e /dev/dxg ] && ! timeout 20 nvidia-smi -L > /dev/null 2>&1; then
        say 'no device: no GPU is here, and the programs of .gpu do not start'
        exit 3
    fi
    say 'the programs of .gpu do not start here: building'
    header=$(dirname "$(dirname "${ULPLAB_CUBLASLT:-/}")")/include
    [ ! -e "$header/cublasLt.h" ] || export NVCC_APPEND_FLAGS="-I$header"
    set -- -j"$(nproc)" build/test/check_gpu build/bin/bench
    [ ! -e .gpu/include ] || set -- "$@" RANDOM123="$PWD/.gpu/include"
    run timeout -k 5 $(($(left) * 2 / 3)) make "$@" > "$tmp/build.txt" 2>&1 && programs=$PWD/build && starts && return
    tail -n 20 "$tmp/build.txt" | cut -c 1-500 | tee -a "$out/facts.txt"
    fail 'programs: the build failed'
    exit 1
}

# ---- two lanes of checks at once: the GPU answers in the first, the processors work in the second ----

first='' second='' lanes=''
choose_parts() {
    known=" $(cut -f 1 "$tmp/parts" | tr '\n' ' ') "
    for part in layouts tensor chains library races; do
        case $known in *" $part "*) first="$first $part" ;; esac
    done
    # parts that this list does not name come last, in their order
    for part in open gemm training network sequences moves refusals elements $known; do
        case "$first $second " in *" $part "*) continue ;; esac
        case $known in *" $part "*) second="$second $part" ;; esac
    done
}

lane() { # lane NAME PARTS: begins it
    [ -n "$2" ] || return
    half=$(($(nproc) / 2))
    CHECK=$check REPORT="$out/$1.txt" PARTS=$2 PATIENCE=$((limit / 2 + 1)) \
        OMP_WAIT_POLICY=passive OMP_NUM_THREADS=$((half > 0 ? half : 1)) \
        timeout -k 12 "$limit" sh tests/gpu/report.sh > "$tmp/$1.txt" 2>&1 &
    children="$children $!"
}

unfinished() { # unfinished NAME PARTS: the parts that have no end in the report
    for part in $2; do
        grep -qs "^time  *part $part:" "$out/$1.txt" || printf '%s ' "$part"
    done
}

incomplete=
end_lane() { # end_lane NAME PARTS: its report gets its name, and parts that are missing are named
    [ ! -e "$out/$1.txt.tmp" ] || mv "$out/$1.txt.tmp" "$out/$1.txt"
    missing=$(unfinished "$1" "$2")
    [ -n "$missing" ] || return
    incomplete=yes
    [ -e "$out/$1.txt" ] || { fail "lane $1: $(tail -n 1 "$tmp/$1.txt" | cut -c 1-500)"; return; }
    rest=${missing#* }
    say "lane $1: the part ${missing%% *} did not end; did not begin: ${rest:-none}"
}
end_lanes() {
    [ -n "$lanes" ] || return
    lanes=
    end_lane a "$first"
    end_lane b "$second"
}

checks() {
    choose_parts
    limit=$(($(left) > 0 ? $(left) * 3 / 5 + 1 : 1)) lanes=begun
    say "checks: begin, at most $limit s"
    lane a "$first"
    lane b "$second"
    for child in $children; do
        wait "$child"
        say "checks: a lane ended with status $?"
    done
    children=
    end_lanes
}

# ---- stages, one after the other ----

# stage FILE MOST NAME COMMAND...: runs the command for at most MOST seconds and at most half of the time that is left, so
# that later stages have a turn; FILE gets at most 250 kB of what it prints, and the rows of $csv while they are written.
# Returns the exit status of the command, or 124 if it did not end or is left out.
csv=
stage() {
    file=$out/$1 most=$2 name=$3
    shift 3
    [ "$most" -le $(($(left) / 2)) ] || most=$(($(left) / 2))
    [ "$most" -ge 2 ] || { say "$name: left out, $(left) s are left"; return 124; }
    say "$name: begins, at most $most s" | tee -a "$file"
    [ -p "$tmp/pipe" ] || mkfifo "$tmp/pipe"
    # byte by byte: dd counts each read of a pipe as a block, however short it is, and head writes when it ends
    { dd bs=1 count=250000 status=none; cat > /dev/null; } < "$tmp/pipe" >> "$file" &
    timeout -k 2 "$most" "$@" > "$tmp/pipe" 2>&1 &
    children=$!
    [ -z "$csv" ] || tail -q -n +1 -s 0.2 -F --pid="$children" "$csv.part" >> "$file" 2> /dev/null &
    wait "$children"
    result=$?
    children=
    wait
    [ $result -ne 137 ] || result=124
    say "$name: $([ $result -eq 124 ] && echo "did not end in $most s" || echo "exit $result")" | tee -a "$file"
    return $result
}

add_rows() { # rows that the benchmark has written and that bench.txt does not have
    [ -n "$csv" ] || return
    for rows in "$csv" "$csv.part"; do
        # shellcheck disable=SC2094 # what is added comes after what is read
        [ ! -s "$rows" ] || awk 'NR == FNR { sub(/^# columns: /, ""); seen[$0]; next } !($0 in seen)' "$out/bench.txt" "$rows" >> "$out/bench.txt"
    done
    csv=
    rm -rf "$tmp/rows"
}

speed() { # alone on the GPU
    mkdir -p "$tmp/rows"
    csv=$tmp/rows/rows.csv
    stage bench.txt 190 bench "$programs/bin/bench" --backend cuda --seconds 0.1 --restart --out "$csv"
    status=$?
    add_rows
    case $status in 0 | 124) ;; *) fail "bench: it ended with status $status" ;; esac
    run timeout 20 sh tests/gpu/state.sh >> "$out/bench.txt" 2>&1
}

counters() { # of the kernels whose bound is a calculation
    command -v ncu > /dev/null || return
    for kernel in wgmma_kernel round_groups aligned_kernel; do
        case $kernel in round_groups) n=33554432 ;; *) n=65536 ;; esac
        stage ncu.txt 25 "ncu $kernel" ncu --clock-control none --kill yes -c 2 -k "regex:$kernel" --section SpeedOfLight \
            --section Occupancy --section WarpStateStats "$programs/bin/bench" --backend cuda --parts memory,products,native \
            --seconds 0.0001 --rounds 1 --memory $n --arrays 1 --formats e4m3 --modes sr --datapath h100-fp16 --size 2048 \
            --native-size 4096 --restart --out "$tmp/ncu.csv"
    done
}

failed_rows() { # failed_rows NAME PARTS: a line for each row with FAIL: its part, a tab, its name; no name: the whole part
    missing=$(unfinished "$1" "$2")
    awk -v last="${missing%% *}" '
        function end(part) { for (i = 0; i < n; i++) print part "\t" names[i]; n = 0 }
        /^FAIL part [a-z]+ ended with status / { names[n++] = ""; next }
        /^FAIL / { name = substr($0, 6, 64); sub(/ +$/, "", name); names[n++] = name }
        /^time +part / { sub(/:$/, "", $3); end($3) }
        END { end(last) }' "$out/$1.txt"
}

again() { # rows with FAIL alone, kernel by kernel, in half of the time that is left; only products by cuBLASLt write a log
    { failed_rows a "$first"; failed_rows b "$second"; } 2> /dev/null | head -n 40 > "$tmp/failed"
    stop=$(($(left) / 2))
    while IFS='	' read -r part name <&3; do
        [ "$(left)" -gt $stop ] || { say "again: the rows from $part${name:+ $name} on are left out, $(left) s are left"; break; }
        stage again.txt 60 "again: $part${name:+ $name}" env CUDA_LAUNCH_BLOCKING=1 CUBLASLT_LOG_LEVEL=2 CUBLASLT_LOG_FILE="$tmp/log" \
            "$check" --rows --part "$part" ${name:+--only "$name"}
        head -c 100000 "$tmp/log" >> "$out/again.txt" 2> /dev/null
        rm -f "$tmp/log"
    done 3< "$tmp/failed"
}

# Short rows: the prober, which the part tensor runs on some products, does not end in a minute under racecheck.
sanitizer() {
    command -v compute-sanitizer > /dev/null || return
    while read -r tool part name <&3; do
        text="compute-sanitizer $tool, short run of $part '$name'"
        stage sanitizer.txt 40 "$tool $part $name" compute-sanitizer --tool "$tool" --error-exitcode 9 \
            "$check" --small --rows --part "$part" --only "$name"
        case $? in
        0) echo "PASS $text" ;;
        124) echo "SKIP $text: it did not end" ;;
        *) echo "FAIL $text" ;;
        esac >> "$out/sanitizer.txt"
    done 3<< END
memcheck layouts small integers: wgmma:tf32
racecheck layouts small integers: wgmma:tf32
memcheck tensor wgmma:e4m3
memcheck gemm partial
racecheck gemm partial
END
}

verdict() { # prints rows with FAIL and the counts; sets $status
    for name in a b sanitizer facts; do
        [ ! -s "$out/$name.txt" ] ||
            awk '/^FAIL / { print; shown = 1; next } shown && /^     / { print } { shown = 0 }' "$out/$name.txt" | cut -c 1-240
    done | head -n 80
    [ -z "$incomplete" ] || say 'incomplete: parts did not end, or did not begin; facts.txt names them'
    cat "$out/a.txt" "$out/b.txt" "$out/sanitizer.txt" "$out/facts.txt" 2> /dev/null |
        awk '/^PASS / { p++ } /^FAIL / { f++ } /^SKIP / { s++ } END { printf "%d passed, %d failed, %d skipped\n", p, f, s }' > "$tmp/counts"
    tee -a "$out/facts.txt" < "$tmp/counts"
    for name in a b; do
        [ ! -e "$out/$name.txt" ] || [ "$(wc -c < "$out/$name.txt")" -le 15000000 ] || truncate -s 15000000 "$out/$name.txt"
    done
    status=1
    case $(cat "$tmp/counts") in 0*) ;; *' 0 failed'*) [ -n "$incomplete" ] || status=0 ;; esac
}

# ---- the course ----

export ULPLAB_CUBLASLT="${ULPLAB_CUBLASLT:-$(find_library)}"
facts >> "$out/facts.txt" 2>&1
if [ -z "$programs" ]; then
    [ ! -d .gpu/test ] || { chmod -R u+w,a+rX .gpu; chmod a+x .gpu/test/check_gpu .gpu/bin/bench; } 2> /dev/null
    programs=$PWD/.gpu
    starts || build
elif ! starts; then
    wrong "PROGRAMS='$programs': test/check_gpu does not list its parts"
fi
check=$programs/test/check_gpu
run timeout 60 "$check" --part none > "$tmp/device" 2>&1
status=$?
tee -a "$out/facts.txt" < "$tmp/device"
[ $status -eq 0 ] || { say "no device: check_gpu ended with status $status"; exit 3; }
for name in a.txt a.txt.tmp b.txt b.txt.tmp bench.txt ncu.txt again.txt sanitizer.txt; do rm -f "$out/$name"; done
checks
speed
counters
again
sanitizer
say end
trap '' INT TERM HUP
verdict
exit $status
