#!/bin/sh
# mutants.sh - the tables of planted faults fit the sources: each text stands once in its file, and each named test exists.
#
# `make mutants` plants the faults; tests/proofs/mutants/README.md describes both. An edit that moves the text of a fault is seen
# here at once.
# modes: release
tree=$(pwd)
. tests/programs/support.sh
cd "$tree" || exit 1
tables() { awk -v mode="$1" -f tests/proofs/mutants/mutants.awk tests/proofs/mutants/*.faults; }

found=$(tables check)
verdict $? "every fault applies to the sources"
echo "$found" | grep -v '^[0-9]* faults$' | sed 's/^/# /'
holds 'there are at least 80 faults' [ "$(echo "$found" | sed -n 's/^\([0-9]*\) faults$/\1/p')" -ge 80 ]
holds 'at most 5 of them change no result' [ "$(tables equal | wc -l)" -le 5 ]

# a test of a fault is one that `make check` runs; a part of check_emulated is one of cuda.sh
missing=
for test in $(tables list | cut -d ' ' -f 3- | tr ' ' '\n' | sort -u); do
    case $test in
    check_emulated*:*) grep -q "{\"$(echo "$test" | cut -d : -f 2)\", check_" tests/gpu/check.c ;;
    t_gpu_*) [ -e "tests/gpu/emulated/$test.cpp" ] ;;
    *.sh) [ -e "tests/programs/$test" ] ;;
    *) [ -e "tests/unit/$test.c" ] ;;
    esac || missing="$missing $test"
done
holds "every test of a fault is there$missing" [ -z "$missing" ]

# the compiler reads each text with its fault in it. Texts of the device are C++, for the emulated device; a header that stands for
# several by macros is read through a file that includes it
cat >"$work/read.sh" <<'END'
name=$1 file=$2 root=$3/$1
mkdir -p "$root/$(dirname "$file")"
awk -v mode=plant -v name="$name" -f tests/proofs/mutants/mutants.awk tests/proofs/mutants/*.faults >"$root/$file"
text=$root/$file read="${CC:-gcc} -x c -std=c11"
case $file in kernels/cuda/* | *.cpp) read='g++ -x c++ -std=c++17 -Itests/gpu/emulated' ;; esac
case $file in
kernels/rounding/anchor.h | kernels/rounding/word.h) text=kernels/rounding/core.h ;;
kernels/cpu/products/chain_blocks.h) text=kernels/cpu/products/fp32_chain.c ;; esac
$read -fsyntax-only -w -D_POSIX_C_SOURCE=200809L -DULP_ISA=baseline -iquote "$(dirname "$file")" -I"$root" -I. - <"$text" >"$root/log" 2>&1 ||
    { echo "# $name:"; sed -n '1,3s/^/# /p' "$root/log"; }
END
if command -v g++ >/dev/null; then
    tables list | cut -d ' ' -f 1,2 | tr ' ' '\n' | xargs -P 2 -n 2 sh -c 'sh "$0/read.sh" "$1" "$2" "$0"' "$work" >"$work/unread"
    cat "$work/unread"
    holds 'every fault compiles' [ ! -s "$work/unread" ]
else skip 'every fault compiles' 'no g++'; fi

# the folders whose faults nobody would see, with the reason in the README
without=
for folder in formats base kernels kernels/* kernels/cpu/* sim sim/* experiments/harness experiments/harness/* tool course course/*; do
    [ -d "$folder" ] || continue
    grep -q "^file $folder/[^/]*$" tests/proofs/mutants/*.faults || grep -q "^| \`$folder/\`" tests/proofs/mutants/README.md || without="$without $folder"
done
holds "every folder has a fault or a reason in the README$without" [ -z "$without" ]
exit $failed
