#!/bin/sh
# newrow.sh - a datapath is one row: a fictional GPU that is added to a copy of the table works, and a removed row is unknown.
#
# Only the table is compiled again, with the commands of this build; the tool is linked from the objects of this build.
# modes: release
# not with RUN: builds programs and starts them
tree=$(pwd) BIN=${BIN:-build/bin}
bin=$BIN build=$(dirname "$BIN")
. tests/programs/support.sh
cd "$tree" && BIN=$bin || exit 1 # as make names it

again() { make --no-print-directory MODE="${MODE:-release}" CC="${CC:-gcc}" BUILD="$build" "$@" 2>>"$work/log"; }

# command_of SOURCE TARGET: the command that makes TARGET in this build, with the static library
command_of() { again -n -W "$1" V=1 STATIC=1 "$2" | grep -- " -o $2\$" | tail -n 1; }

# tool NAME AWK: $work/NAME is the tool with a kernels/products/datapath_rows.c that AWK makes
tool() {
    mkdir -p "$work/$1.src"
    awk "$2" kernels/products/datapath_rows.c >"$work/$1.src/datapath_rows.c"
    cp "$build/lib/libulp.a" "$work/libulp.a"
    eval "$(echo "$compile" | sed "s| -I\. | -I. -Ikernels/products |; s| -MMD | |; s| -c kernels/products/datapath_rows\.c -o .*| -c '$work/$1.src/datapath_rows.c' -o '$work/datapath_rows.o'|")" &&
        ar r "$work/libulp.a" "$work/datapath_rows.o" &&
        eval "$(echo "$link" | sed "s| $build/lib/libulp\.a | '$work/libulp.a' |; s| -o $BIN/ulp\$| -o '$work/$1'|")"
} >"$work/log" 2>&1

# gives TEXT TOOL DATAPATH LINE WANT: `ulp dot` prints WANT for the input LINE
gives() {
    got=$(echo "$4" | "$2" dot --datapath "$3" 2>"$work/err")
    [ "$got" = "$5" ] || { echo "# $3: $4 gives '$got', not $5"; sed 's/^/# /' "$work/err"; }
    [ "$got" = "$5" ]
    verdict $? "$1"
}

# refuses TEXT TOOL DATAPATH: the name is unknown, exit 2
refuses() {
    echo 0 | "$2" dot --datapath "$3" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && [ ! -s "$work/out" ] && grep -q -- "$3" "$work/err"
    verdict $? "$1"
}

compile=$(command_of kernels/products/datapath_rows.c "$build/obj/kernels/products/datapath_rows.o")
link=$(command_of tool/ulp.c "$BIN/ulp")
[ -n "$compile" ] && [ -n "$link" ] || sed 's/^/# /' "$work/log"
[ -n "$compile" ] && [ -n "$link" ]
verdict $? 'the commands of this build are known'
[ $failed -eq 0 ] || exit 1
# make removes objects that only the link of a program needs
again $(echo "$link" | tr ' ' '\n' | grep '\.o$') >>"$work/log"
verdict $? 'the objects of the tool are there'

refuses 'before, x1-fp16 is no name' "$BIN/ulp" x1-fp16
tool added '/^static const row rows\[\]/ { inside = 1 }
    inside && /^};/ { print "    CORE(\"x1\", \"\", \"unit\", \"fp16\", FP32, 0, 12, 20, 0, NONE, .fused.late = 0),"; inside = 0 }
    { print }'
verdict $? 'the tool with one row more is built'
[ $failed -eq 0 ] || { sed 's/^/# /' "$work/log" | head -20; exit 1; }
holds 'it is one line' [ "$(diff kernels/products/datapath_rows.c "$work/added.src/datapath_rows.c" | grep -c '^[<>]')" -eq 1 ]

# a (k), then b = 1: sums of binary16 values; 0010 is 2^-20, 0008 is 2^-21, 35800000 and 35000000 in binary32
ones() { for i in $(seq "$1"); do printf ' 3c00'; done; }
zeros=' 0000 0000 0000 0000 0000 0000 0000 0000 0000'
gives '1 + 2 3 in it' "$work/added" x1-fp16 '3f800000 4000 4200' 40e00000
gives 'F = 20: 1 - 1 + 2^-20 keeps its last term' "$work/added" x1-fp16 "00000000 3c00 bc00 0010$(ones 3)" 35800000
gives 'F = 20: 1 - 1 + 2^-21 loses it' "$work/added" x1-fp16 "00000000 3c00 bc00 0008$(ones 3)" 00000000
gives 'L = 12: the 12th product is in the same sum' "$work/added" x1-fp16 "00000000 3c00$zeros bc00 0008$(ones 12)" 00000000
gives 'L = 12: the 13th is in the next' "$work/added" x1-fp16 "00000000 3c00$zeros 0000 bc00 0008$(ones 13)" 35000000
"$work/added" probe --list 2>"$work/err" | grep -q 'x1-fp16'
verdict $? 'probe --list shows it'
"$work/added" gemm --datapath x1-fp16 --m 5 --n 7 --k 30 >"$work/out" 2>"$work/err" && grep -q '^checksum' "$work/out"
verdict $? 'gemm takes it'

gives 'before, t4-fp16-fp16 is a name' "$BIN/ulp" t4-fp16-fp16 '3c00 4000 4200' 4700
tool removed '!/^    CORE\("t4", "", .*"fp16", *FP16/'
verdict $? 'the tool with one row less is built'
holds 'it is one line' [ "$(diff kernels/products/datapath_rows.c "$work/removed.src/datapath_rows.c" | grep -c '^[<>]')" -eq 1 ]
refuses 't4-fp16-fp16 is none' "$work/removed" t4-fp16-fp16
gives 'its neighbour is as before' "$work/removed" t4-fp16 '3f800000 4000 4200' 40e00000
exit $failed
