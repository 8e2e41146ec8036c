#!/bin/sh
# newrow.sh - a datapath is one row: a fictional GPU that is added to a copy of the table works, and a removed row is unknown.
#
# Only the table is compiled again, with the commands of this build; the tool is linked from the objects of this build.
# modes: release
BIN=${BIN:-build/bin}
build=$(dirname "$BIN")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0

verdict() { # verdict STATUS TEXT
    if [ "$1" -eq 0 ]; then
        echo "ok - $2"
    else
        echo "not ok - $2"
        failed=1
    fi
}

again() { make --no-print-directory MODE="${MODE:-release}" CC="${CC:-gcc}" BUILD="$build" "$@" 2>>"$dir/log"; }

# command_of SOURCE TARGET: the command that makes TARGET in this build, with the static library
command_of() { again -n -W "$1" V=1 STATIC=1 "$2" | grep -- " -o $2\$" | tail -n 1; }

# tool NAME AWK: $dir/NAME is the tool with a kernels/products/datapath_rows.c that AWK makes
tool() {
    mkdir -p "$dir/$1.src"
    awk "$2" kernels/products/datapath_rows.c >"$dir/$1.src/datapath_rows.c"
    cp "$build/lib/libulp.a" "$dir/libulp.a"
    eval "$(echo "$compile" | sed "s| -I\. | -I. -Ikernels/products |; s| -MMD | |; s| -c kernels/products/datapath_rows\.c -o .*| -c '$dir/$1.src/datapath_rows.c' -o '$dir/datapath_rows.o'|")" &&
        ar r "$dir/libulp.a" "$dir/datapath_rows.o" &&
        eval "$(echo "$link" | sed "s| $build/lib/libulp\.a | '$dir/libulp.a' |; s| -o $BIN/ulp\$| -o '$dir/$1'|")"
} >"$dir/log" 2>&1

# gives TEXT TOOL DATAPATH LINE WANT: `ulp dot` prints WANT for the input LINE
gives() {
    got=$(echo "$4" | "$2" dot --datapath "$3" 2>"$dir/err")
    [ "$got" = "$5" ] || { echo "# $3: $4 gives '$got', not $5"; sed 's/^/# /' "$dir/err"; }
    [ "$got" = "$5" ]
    verdict $? "$1"
}

# refuses TEXT TOOL DATAPATH: the name is unknown, exit 2
refuses() {
    echo 0 | "$2" dot --datapath "$3" >"$dir/out" 2>"$dir/err"
    [ $? -eq 2 ] && [ ! -s "$dir/out" ] && grep -q -- "$3" "$dir/err"
    verdict $? "$1"
}

compile=$(command_of kernels/products/datapath_rows.c "$build/obj/kernels/products/datapath_rows.o")
link=$(command_of tool/ulp.c "$BIN/ulp")
[ -n "$compile" ] && [ -n "$link" ] || sed 's/^/# /' "$dir/log"
[ -n "$compile" ] && [ -n "$link" ]
verdict $? 'the commands of this build are known'
[ $failed -eq 0 ] || exit 1
# make removes objects that only the link of a program needs
again $(echo "$link" | tr ' ' '\n' | grep '\.o$') >>"$dir/log"
verdict $? 'the objects of the tool are there'

refuses 'before, x1-fp16 is no name' "$BIN/ulp" x1-fp16
tool added '/^static const row rows\[\]/ { inside = 1 }
    inside && /^};/ { print "    CORE(\"x1\", \"\", \"unit\", \"fp16\", \"fp32\", 0, 12, 20, 0, NONE, .fused.late = 0),"; inside = 0 }
    { print }'
verdict $? 'the tool with one row more is built'
[ $failed -eq 0 ] || { sed 's/^/# /' "$dir/log" | head -20; exit 1; }
[ "$(diff kernels/products/datapath_rows.c "$dir/added.src/datapath_rows.c" | grep -c '^[<>]')" -eq 1 ]
verdict $? 'it is one line'

# a (k), then b = 1: sums of binary16 values; 0010 is 2^-20, 0008 is 2^-21, 35800000 and 35000000 in binary32
ones() { for i in $(seq "$1"); do printf ' 3c00'; done; }
zeros=' 0000 0000 0000 0000 0000 0000 0000 0000 0000'
gives '1 + 2 3 in it' "$dir/added" x1-fp16 '3f800000 4000 4200' 40e00000
gives 'F = 20: 1 - 1 + 2^-20 keeps its last term' "$dir/added" x1-fp16 "00000000 3c00 bc00 0010$(ones 3)" 35800000
gives 'F = 20: 1 - 1 + 2^-21 loses it' "$dir/added" x1-fp16 "00000000 3c00 bc00 0008$(ones 3)" 00000000
gives 'L = 12: the 12th product is in the same sum' "$dir/added" x1-fp16 "00000000 3c00$zeros bc00 0008$(ones 12)" 00000000
gives 'L = 12: the 13th is in the next' "$dir/added" x1-fp16 "00000000 3c00$zeros 0000 bc00 0008$(ones 13)" 35000000
"$dir/added" probe --list 2>"$dir/err" | grep -q 'x1-fp16'
verdict $? 'probe --list shows it'
"$dir/added" gemm --datapath x1-fp16 --m 5 --n 7 --k 30 >"$dir/out" 2>"$dir/err" && grep -q '^checksum' "$dir/out"
verdict $? 'gemm takes it'

gives 'before, t4-fp16-fp16 is a name' "$BIN/ulp" t4-fp16-fp16 '3c00 4000 4200' 4700
tool removed '!/^    CORE\("t4", "", .*"fp16", *"fp16"/'
verdict $? 'the tool with one row less is built'
[ "$(diff kernels/products/datapath_rows.c "$dir/removed.src/datapath_rows.c" | grep -c '^[<>]')" -eq 1 ]
verdict $? 'it is one line'
refuses 't4-fp16-fp16 is none' "$dir/removed" t4-fp16-fp16
gives 'its neighbour is as before' "$dir/removed" t4-fp16 '3f800000 4000 4200' 40e00000
exit $failed
