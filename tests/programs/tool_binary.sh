#!/bin/sh
# tool_binary.sh - ulp round: files of binary32 and binary64 values, .npy files and hostile ones, --out.
. tests/programs/tool_support.sh

# ---- text, bytes and .npy files give the same bits ----

awk 'BEGIN {
    print "inf\n-inf\n0\n-0\n1e-45\n-3e-42\n1e-38\n3.4e38\n65520\n448\n-464.5\n0x1.8p-24\n1.00048828125\n-1.00048828125"
    for (i = 1; i < 9000; i++) printf "%s%d.%07de%d\n", i % 3 ? "" : "-", i % 10, i * 7919 % 10000000, i % 23 - 12
}' >numbers
"$ULP" round --format fp32 --out bits numbers 2>err && "$ULP" round --format fp32 --to f32le --out x.f32 numbers &&
    "$ULP" round --format fp32 --to npy --out x.npy numbers && "$ULP" round --format fp64 --to f64le --out x.f64 numbers &&
    "$ULP" round --format fp64 --out bits64 numbers && "$ULP" round --format fp64 --to npy --out y.npy numbers
verdict $? 'numbers as text, bytes and .npy files'
[ "$(wc -c <x.f32)" -eq 36052 ] && [ "$(wc -c <x.npy)" -eq 36180 ] && [ "$(wc -c <y.npy)" -eq 72232 ] && tail -c +129 x.npy | cmp -s - x.f32
verdict $? 'their sizes'
# codes FORMAT: raw codes from standard input as hex digits, one a line
codes() {
    case $1 in e4m3 | e2m1 | int8) bytes=1 ;; fp16 | bf16 | q8.8) bytes=2 ;; fp64) bytes=8 ;; *) bytes=4 ;; esac
    od -An -v -tx1 | tr -s ' ' '\n' | awk -v bytes=$bytes '/./ { code = $1 code; if (++n % bytes == 0) { print code; code = "" } }'
}
# same TEXT FILE FILE: the files hold the same and something
same() {
    [ -s "$2" ] && cmp -s "$2" "$3"
    verdict $? "$1"
}
round() { "$ULP" round --format $format --mode ${mode%@*} --seed ${mode#*@} "$@"; }
for case in fp16/rne@1 fp16/sr@5 bf16/rz@1 bf16/sra@9 e4m3/ru@1 e4m3/sr@7 q8.8/rne@1 q8.8/src@3 fp32/ro@1 tf32/sr@2 fp64/rne@1 e8m12/sr@4; do
    format=${case%/*} mode=${case#*/}
    round --from f32 --to code bits >code && round --from f32 --to value bits >value
    round --from f32le --to code x.f32 | cmp -s - code && round --from f32le --to value x.f32 | cmp -s - value &&
        round --from npy --to value x.npy | cmp -s - value && round --from npy --to both x.npy | cut -d' ' -f2 | cmp -s - value
    verdict $? "$case: text of binary32 bytes"
    digits=$(head -n 1 code | tr -d '\n' | wc -c)
    round --from f32le --to codele x.f32 | codes $format | sed "s/.*\(.\{$digits\}\)\$/\1/" >out
    same "$case: bytes of codes" out code
    round --from f32le --to f64le x.f32 >y.f64 && "$ULP" round --format fp64 --from f64le --to value y.f64 >out
    same "$case: binary64 bytes of values" out value
    round --from npy --to npycode x.npy | tail -c +129 >out && round --from f32 --to codele bits >want
    same "$case: codes of a .npy file" out want
    round --from npy --to npy x.npy >z.npy && "$ULP" round --format fp64 --from npy --to value z.npy >out
    same "$case: a .npy file of values" out value
    round --from f64 --to code bits64 >code && round --from f64le --to code x.f64 >out
    same "$case: binary64 bytes" out code
    round --from npy --to code y.npy >out
    same "$case: a .npy file of binary64" out code
    if [ $format = fp64 ]; then continue; fi
    round --from f32le --to f32le <x.f32 | "$ULP" round --format fp32 --from f32le --to value >out
    same "$case: binary32 bytes of values" out value
    round --from npy --to npy --out z.npy x.npy && tail -c +129 z.npy >want && round --from f32le --to f32le x.f32 >out
    same "$case: the values of the .npy file" out want
done
for isa in baseline neon sve256 avx2 avx512; do
    ULPLAB_ISA=$isa "$ULP" round --format e4m3 --mode sr --from f32le --to codele x.f32 >out.$isa 2>err
    if [ $? -eq 3 ]; then skip "ULPLAB_ISA=$isa gives the same bytes" 'not offered here'; else same "ULPLAB_ISA=$isa gives the same bytes" out.$isa out.baseline; fi
done
head -c 20000 x.f32 >one && tail -c +20001 x.f32 >two
"$ULP" round --format fp16 --mode sr --from f32le --to f32le x.f32 >want
"$ULP" round --format fp16 --mode sr --from f32le --to f32le one two >out
same 'elements count through all files' out want
(cat one; sleep 0.1; cat two) | "$ULP" round --format fp16 --mode sr --from f32le --to f32le >out
same 'a pipe that waits' out want
gives 'binary32 of 1, -2 and NaN' 0 '1\n-2\n-nan\n' '\000\000\200\077\000\000\000\300\000\000\300\177' round --format bf16 --to f32le
gives 'codes of 4 bits take a byte' 0 '1\n-6\n' '\002\017' round --format e2m1 --to codele
gives 'codes of 19 bits take four' 0 '1\n' '\000\374\001\000' round --format tf32 --to codele
gives 'codes of 64 bits take eight' 0 '1\n' '\000\000\000\000\000\000\360\077' round --format fp64 --to codele

# ---- ends of files ----

for kind in 'f32le 7 3 32 4' 'f64le 15 7 64 8'; do
    set -- $kind
    head -c $2 x.$(echo $1 | tr -d le) >cut
    exits "$1: $2 bytes" 2 round --format fp64 --from $1 --to value cut
    [ "$(cat out)" = inf ] || [ "$(grep -c . out)" -eq 1 ]
    verdict $? "$1: the whole number before is written"
    says "$1: the bytes are named" "cut holds $2 bytes: $3 more than a whole number of binary$4 values, $5 bytes each" err
done
gives 'an empty file' 0 '' '' round --format fp16 --from f32le
gives 'an empty file to bytes' 0 '' '' round --format fp16 --from f64le --to codele
printf '1\n2\nnan\n3\n' | "$ULP" round --format fp32 --to f32le --out nan.f32
exits 'NaN without a code' 2 round --format e2m1 --from f32le --to codele nan.f32
says 'the element is named' 'nan.f32: element 2, counted from 0: the result, nan, has no code in e2m1' err
holds 'what came before is written' [ "$(wc -c <out)" -eq 2 ]
exits 'a folder' 2 round --format fp16 --from f32le .
refuses 'a missing file' 'cannot read missing: No such file' round --format fp16 --from npy missing
refuses 'binary32 of binary64' 'fp64\|binary64 has values that binary32 does not hold; f64le holds them' round --format fp64 --to f32le
refuses 'a .npy file of text on stdout' 'name a file with --out' round --format fp16 --to npy
refuses 'two arrays into one' 'a .npy file holds one array' round --format fp16 --from npy --to npy x.npy x.npy
if command -v script >/dev/null 2>&1 && script -qec true /dev/null >/dev/null 2>&1; then
    script -qec "'$ULP' round --format fp16 --from f32le --to f32le x.f32" /dev/null >typed 2>/dev/null
    says 'no bytes on a terminal' 'binary numbers do not go to a terminal' typed
    script -qec "'$ULP' round --format fp16 --from f32le" /dev/null >typed 2>/dev/null
    says 'no bytes from a terminal' 'stdin is a terminal' typed
else
    skip 'bytes on a terminal' 'no script(1)'
fi

# ---- --out ----

echo old >kept
printf '1\nx\n' | "$ULP" round --format fp16 --out kept 2>err
[ $? -eq 2 ] && [ "$(cat kept)" = old ] && [ ! -e kept.tmp ]
verdict $? 'a bad line leaves an old file as it was'
echo 1 | "$ULP" round --format fp16 --out kept && [ "$(cat kept)" = 3c00 ] && [ ! -e kept.tmp ]
verdict $? 'else it is replaced'
cp x.f32 self && "$ULP" round --format fp32 --from f32le --to f32le --out self self && "$ULP" round --format fp32 --from f32le self >out
same 'the output may be an input' out bits
refuses '--out in a missing folder' 'cannot write none/x' round --format fp16 --out none/x
refuses '--out of a folder' 'cannot write .: Is a directory' round --format fp16 --out .
if [ -w /dev/full ]; then
    "$ULP" round --format fp16 --from f32le --to f32le --out /dev/full x.f32 2>err
    [ $? -eq 1 ] && grep -q 'cannot write /dev/full' err
    verdict $? '--out on a full disk exits 1'
fi

# ---- .npy files ----

two='\000\000\200\077\000\000\000\300' # 1 and -2 in binary32
# reads TEXT VALUES ARGUMENT...: the file a.npy holds the values
reads() {
    text=$1 values=$2
    shift 2
    gives "$text" 0 '' "$values" round --format fp32 --to value --from npy "$@" a.npy
}
npy '<f4' False '(2,)' "$two" >a.npy && reads 'binary32' '1\n-2\n'
npy '>f4' False '(2,)' '\077\200\000\000\300\000\000\000' >a.npy && reads 'binary32, the highest byte first' '1\n-2\n'
npy '<f2' False '(2,)' '\000\074\001\200' >a.npy && reads 'binary16' '1\n-5.9604644775390625e-08\n'
npy '>f2' False '(2,)' '\074\000\374\000' >a.npy && reads 'binary16, the highest byte first' '1\n-inf\n'
npy '<f8' False '(1,)' '\000\000\000\000\000\000\360\077' >a.npy && reads 'binary64' '1\n'
npy '>f8' False '(1,)' '\077\360\000\000\000\000\000\000' >a.npy && reads 'binary64, the highest byte first' '1\n'
npy '<f4' False '()' '\000\000\200\077' >a.npy && reads 'a single element' '1\n'
npy '<f4' False '(0, 9223372036854775807)' '' >a.npy && reads 'no elements' ''
npy '<f4' True '(1, 2)' "$two" >a.npy && reads 'two dimensions' '1\n-2\n'
npy '<f4' False '(1L, 2L,)' "$two" >a.npy && reads 'lengths of Python 2' '1\n-2\n'
for version in 2 3; do { header $version "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }" && printf "$two"; } >a.npy && reads "version $version.0" '1\n-2\n'; done
{ header 1 '{"shape":(2,),"fortran_order":False,"descr":"<f4"}   
' && printf "$two"; } >a.npy && reads 'keys in another order, other quotes, no blanks, padding' '1\n-2\n'
# begins TEXT DICTIONARY FILE: the file is a .npy file with this dictionary, padded to a multiple of 64 bytes
begins() {
    { printf '\223NUMPY\001\000v\000' && printf '%-117s\n' "$2"; } >want
    head -c 128 "$3" | cmp - want
    verdict $? "$1"
}
npy '>f4' True '(1, 2)' "$two" >a.npy
"$ULP" round --format fp16 --from npy --to npy a.npy >z.npy
begins 'shape and order stay' "{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }" z.npy
"$ULP" round --format fp16 --from npy --to npycode a.npy >z.npy
begins 'codes of two bytes' "{'descr': '<u2', 'fortran_order': True, 'shape': (1, 2), }" z.npy
"$ULP" round --format e4m3 --from npy --to npycode a.npy >z.npy
begins 'codes of one byte' "{'descr': '|u1', 'fortran_order': True, 'shape': (1, 2), }" z.npy
"$ULP" round --format fp64 --from npy --to npy a.npy >z.npy
begins 'values of binary64' "{'descr': '<f8', 'fortran_order': True, 'shape': (1, 2), }" z.npy
npy '<f2' False '(2,)' '\000\074\001\200' >a.npy && "$ULP" round --format e4m3 --from npy --to npy a.npy >z.npy
begins 'binary16 stays where it holds the format' "{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }" z.npy
printf '\000\074\000\200' >want && tail -c +129 z.npy | cmp - want
verdict $? 'and its values'
"$ULP" round --format bf16 --from npy --to npy a.npy >z.npy
begins 'and widens where it does not' "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }" z.npy
"$ULP" round --format e4m3 --to npycode --out z.npy bits 2>err
[ $? -eq 2 ] && [ ! -e z.npy.tmp ]
verdict $? 'a bad line leaves no .npy file'
printf '1\n2\n' | "$ULP" round --format e4m3 --to npycode --out z.npy
begins 'codes of text' "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }" z.npy
"$ULP" round --format bf16 --from f64le --to npy --out z.npy x.f64
begins 'binary64 stays' "{'descr': '<f8', 'fortran_order': False, 'shape': (9013,), }" z.npy

# hostile PATTERN: a.npy is refused with exit 2 and PATTERN, and nothing is written, in little memory; a program with a
# sanitizer does not start in little memory
limit=300000
(ulimit -v $limit && exec "$ULP" formats) >out 2>err || limit=unlimited
hostile() {
    (ulimit -v $limit; exec "$ULP" round --format fp16 --from npy --to npy a.npy) >out 2>err
    [ $? -eq 2 ] && [ ! -s out ] && grep -q -- "^ulp round: a.npy.*$1" err || { sed 's/^/#   /' err; false; }
    verdict $? "hostile .npy file: $1"
}
# dictionary PATTERN TEXT: a .npy file with this dictionary and 8 bytes is refused
dictionary() { { header 1 "$2" && printf "$two"; } >a.npy && hostile "$1"; }
: >a.npy && hostile 'is no .npy file'
printf '\223NUMP' >a.npy && hostile 'is no .npy file'
printf '\223NUMPX\001\000v\000' >a.npy && hostile 'is no .npy file'
printf 'PK\003\004 an archive' >a.npy && hostile 'is no .npy file'
printf '\223NUMPY\004\000v\000' >a.npy && hostile 'has version 4.0; known: 1.0 2.0 3.0'
printf '\223NUMPY\001\001v\000' >a.npy && hostile 'has version 1.1'
printf '\223NUMPY\001\000v' >a.npy && hostile 'is cut off: 1 of 2 bytes'
printf '\223NUMPY\001\000v\000{' >a.npy && hostile 'is cut off: 117 of 118 bytes'
printf '\223NUMPY\002\000\377\377\377\377{}' >a.npy && hostile 'has 4294967295 bytes; at most 65535 are read'
printf '\223NUMPY\001\000\377\377{}' >a.npy && hostile 'is cut off: 65533 of 65535 bytes'
{ header 1 '{' && printf '\000'; } >a.npy && hostile "in place of a quoted key"
printf '\223NUMPY\001\000\002\000{\000' >a.npy && hostile 'holds the byte 00'
printf '\223NUMPY\001\000\003\000{\033}' >a.npy && hostile 'holds the byte 1b'
dictionary "lacks 'descr'" '{}'
dictionary "has '' at byte 0" ''
dictionary "in place of '{'" '[]'
dictionary "lacks 'shape'" "{'descr': '<f4', 'fortran_order': False}"
dictionary "twice the key 'descr'" "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}"
dictionary "unknown key 'more'" "{'more': 1, 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}"
dictionary 'in place of a quoted key' "{'descr"
dictionary "in place of ':'" "{'descr' '<f4'}"
dictionary "in place of ','" "{'descr': '<f4' 'fortran_order': False}"
dictionary 'in place of its end' "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x"
dictionary 'in place of True or False' "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}"
dictionary 'records are not read' "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,)}"
for type in '|O' '<f16' '<f' '=f4' '<c8' '<U1' 'f4' '' '<f4 ' '<f3' '|b1' '|f4' '<V3'; do dictionary "elements are '$type'; known: floats <f2" "{'descr': '$type', 'fortran_order': False, 'shape': (2,)}"; done
for type in '|u1' '<u2' '|V4' '<V1' '<f1' '>u8'; do dictionary "elements are '$type', which may be codes or integers" "{'descr': '$type', 'fortran_order': False, 'shape': (2,)}"; done
# shape PATTERN SHAPE
shape() { dictionary "$1" "{'descr': '<f4', 'fortran_order': False, 'shape': $2, }"; }
shape "in place of '('" 2
shape "in place of ','" '(2)'
shape 'a length, a whole number' '(-2,)'
shape 'a length, a whole number' '(,)'
shape 'a length, a whole number' '(2,,)'
shape 'a length, a whole number' '(x,)'
shape "in place of ','" '(2.0,)'
shape "in place of ','" '(1 2)'
shape 'a length, a whole number' '(2,1'
shape 'a length below 2^63' '(9223372036854775808,)'
shape 'a length below 2^63' '(99999999999999999999999999999999999999,)'
shape 'a shape of 2^63 bytes or more' '(4294967296, 4294967296)'
shape 'a shape of 2^63 bytes or more' '(2305843009213693952,)'
shape 'announces 9223372036854775804 bytes of elements, and the file holds 8' '(2305843009213693951,)'
shape 'announces 12 bytes of elements, and the file holds 8' '(3,)'
shape 'announces 4 bytes of elements, and the file holds 8' '(1,)'
shape 'announces 0 bytes of elements, and the file holds 8' '(0,)'
shape 'announces 4 bytes of elements, and the file holds 8' '()'
shape 'has more than 64 dimensions' "($(yes '1, ' | head -n 65 | tr -d '\n'))"
npy '<f4' False '(3,)' "$two" | "$ULP" round --format fp16 --from npy --to value >out 2>err
[ $? -eq 2 ] && grep -q 'stdin ends after 8 bytes of elements; its header announces 12' err && [ "$(wc -l <out)" -eq 2 ]
verdict $? 'a pipe that ends too early'
npy '<f4' False '(1,)' "$two" | "$ULP" round --format fp16 --from npy --to value >out 2>err
[ $? -eq 2 ] && grep -q 'stdin goes on after the 4 bytes of elements' err && [ "$(cat out)" = 1 ]
verdict $? 'a pipe that goes on'

exit $failed
