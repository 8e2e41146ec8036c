#!/bin/sh
# tool_files.sh - .npy and .npz files in ulp round, gemm and block, and hostile archives; comparisons with NumPy.
. tests/programs/tool_support.sh

python= # with NumPy, to compare with
if command -v python3 >/dev/null && python3 -c 'import zipfile' 2>/dev/null; then python=python3; fi
numpy=
if [ -n "$python" ] && $python -c 'import numpy' 2>/dev/null; then numpy=$python; fi

# same TEXT FILE FILE: the files hold the same and something
same() {
    [ -s "$2" ] && cmp -s "$2" "$3"
    verdict $? "$1"
}

# ---- archives that the tool writes and reads ----

awk 'BEGIN { for (i = 1; i < 700; i++) print i * 0.37 - 90 }' >numbers
"$ULP" round --format fp32 --to npy --out x.npy numbers && "$ULP" round --format fp32 --to npz --out x.npz numbers
verdict $? 'an archive of text'
"$ULP" round --format e4m3 --from npy x.npy >want
for file in x.npz x.npz:arr_0; do
    "$ULP" round --format e4m3 --from npz $file >out
    same "$file is the array" out want
done
"$ULP" round --format e4m3 --from npz <x.npz >out
same 'an archive on standard input' out want
cat x.npz | "$ULP" round --format e4m3 --from npz >out 2>err
[ $? -eq 2 ] && grep -q 'stdin: .*name a file, not a pipe' err
verdict $? 'an archive from a pipe is refused'
"$ULP" round --format e4m3 --from npy --to npycode --out code.npy x.npy && "$ULP" round --format e4m3 --from npz --to npzcode --out code.npz x.npz
verdict $? 'an archive of codes'
head -c $((39 + $(wc -c <code.npy))) code.npz | tail -c +40 >out
same 'its member is the .npy file' out code.npy
"$ULP" round --format e4m3 --mode sr --from npy --to npz --out y.npz x.npy && "$ULP" round --format e4m3 --mode sr --from npz --to npz --out z.npz x.npz
same 'the same bytes from either file' y.npz z.npz
cp y.npz self.npz && "$ULP" round --format e4m3 --from npz --to npz --out self.npz self.npz && cmp -s self.npz y.npz
verdict $? 'the output may be the input'
refuses 'an archive on stdout' 'stands at its end; name a file with --out' round --format fp16 --from npz --to npz x.npz
refuses 'two archives into one' 'the arrays of one file' round --format fp16 --from npz --to npz --out z.npz x.npz x.npz
refuses 'an array that is not there' "x.npz: the archive has no array 'w'; it holds: arr_0" round --format fp16 --from npz x.npz:w
refuses 'an array without a name' "has no array ''" round --format fp16 --from npz x.npz:
refuses 'a missing archive' 'cannot read none.npz: No such file' round --format fp16 --from npz none.npz:w
refuses 'no archive' 'x.npy: no .npz file' round --format fp16 --from npz x.npy
if [ -w /dev/full ]; then refuses 'an archive on a device' 'name a file with --out' round --format fp16 --from npz --to npz --out /dev/full x.npz; fi

# ---- hostile archives ----

echo old >kept.npz
limit=400000 # a program with a sanitizer does not start in little memory
(ulimit -v $limit && exec "$ULP" formats) >out 2>err || limit=unlimited
# hostile PATTERN FILE: the file is refused with exit 2 and PATTERN in little memory, and an old output stays
hostile() {
    (ulimit -v $limit; exec "$ULP" round --format fp16 --from npz --to npz --out kept.npz "$2") >out 2>err
    got=$?
    [ $got -eq 2 ] && [ ! -s out ] && grep -q -- "^ulp round: $2.*$1" err && [ "$(cat kept.npz)" = old ] && [ ! -e kept.npz.tmp ] ||
        { echo "# exit $got"; sed 's/^/#   /' err; false; }
    verdict $? "hostile archive: $1"
}
: >h.npz && hostile 'no .npz file' h.npz
printf 'PK\003\004' >h.npz && hostile 'no .npz file' h.npz
{ printf 'PK\003\004' && head -c 100 x.npz; } >h.npz && hostile 'the archive is cut off' h.npz
printf 'PK\005\006\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000' >h.npz && "$ULP" round --format fp16 --from npz h.npz >out 2>err
[ $? -eq 2 ] && grep -q 'the archive holds no array' err
verdict $? 'an empty archive'
size=$(wc -c <x.npz)
# patched PATTERN PLACE BYTES: x.npz with other bytes at PLACE, counted back from its end if PLACE is negative
patched() {
    place=$2
    [ "$place" -ge 0 ] || place=$((size + place))
    cp x.npz h.npz && printf "$3" | dd of=h.npz bs=1 seek="$place" conv=notrunc 2>dd.txt
    hostile "$1" h.npz
}
# the record at the end has 22 bytes, the entry before it 46 and the name arr_0.npy
entry=$((-22 - 46 - 9))
patched 'ZIP64' -12 '\377\377'
patched 'ZIP64' -6 '\377\377\377\377'
patched 'in several parts' -18 '\001'
patched 'its end is byte' -6 '\000'
patched 'a list of 55 bytes does not hold 2 members' -14 '\002\000\002'
patched 'damaged at entry 1' $entry 'x'
patched 'is encrypted' $((entry + 8)) '\001'
patched 'compression method 12' $((entry + 10)) '\014'
patched 'does not have the\|cannot hold\|is damaged\|not that in the list' $((entry + 10)) '\010'
patched 'is damaged: its CRC-32' $((entry + 16)) 'crc'
patched 'is stored in' $((entry + 20)) '\001'
patched 'entry 1 of 1 in the list of members is cut off' $((entry + 28)) '\377\377'
patched 'begins after the members' $((entry + 42)) '\377\377\377\010'
patched 'of 4 GiB or more' $((entry + 42)) '\377\377\377\377'
patched 'holds a path from the root' $((entry + 46)) '/'
patched 'holds a path out of its folder' $((entry + 46)) '../'
patched 'holds a path out of its folder' $((entry + 46)) 'a/../'
patched 'holds a backslash' $((entry + 46)) 'a\\'
patched 'holds a control character' $((entry + 46)) '\033'
patched 'holds a zero byte' $((entry + 46)) 'a\000'
patched 'not that in the list of members' 26 '\010'
patched 'is cut off' 28 '\377\377'
patched 'is damaged: its CRC-32' 300 '\001'
patched 'is damaged: its CRC-32' 60 '9'

# archives by Python: compressed, with declared sizes that do not match, with other arrays
if [ -n "$python" ]; then
    cat >make.py <<'END'
import struct, zipfile
def npy(descr, shape, data, order='False'):
    text = "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(text)) + text.encode() + data
two = struct.pack('<2f', 1, -2)
def archive(name, members, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(name, 'w', method) as z:
        for member, data in members: z.writestr(member, data)
    return open(name, 'rb').read()
good = npy("'<f4'", '(2,)', two)
archive('stored.npz', [('a.npy', good), ('note.txt', b'no array'), ('b/c.npy', npy("'>f2'", '(1, 1)', b'\x3c\x00'))])
packed = archive('packed.npz', [('a.npy', good)], zipfile.ZIP_DEFLATED)
archive('object.npz', [('a.npy', npy("'|O'", '(2,)', two))])
archive('shape.npz', [('a.npy', npy("'<f4'", '(4294967296, 4294967296)', two))])
archive('huge.npz', [('a.npy', npy("'<f8'", '(1000000000000,)', two))], zipfile.ZIP_DEFLATED)
archive('short.npz', [('a.npy', npy("'<f4'", '(3,)', two))])
archive('bad.npz', [('a.npy', good), ('b.npy', b'no array')])
archive('bzip2.npz', [('a.npy', good)], zipfile.ZIP_BZIP2)
import warnings
warnings.simplefilter('ignore')
archive('twice.npz', [('a.npy', good), ('a.npy', good)])
at = packed.index(b'PK\1\2')
def patched(name, data, place, new): open(name, 'wb').write(data[:place] + new + data[place + len(new):])
size = struct.unpack('<I', packed[at + 24:at + 28])[0]
patched('less.npz', packed, at + 24, struct.pack('<I', size - 1))
patched('more.npz', packed, at + 24, struct.pack('<I', size + 1))
patched('bomb.npz', packed, at + 24, struct.pack('<I', 4000000000))
patched('bits.npz', packed, 40, b'\xff\xff\xff')
patched('cut.npz', packed, at + 20, struct.pack('<I', struct.unpack('<I', packed[at + 20:at + 24])[0] - 5))
zeros = npy("'<f4'", '(30000000,)', bytes(120000000))
archive('zeros.npz', [('a.npy', zeros)], zipfile.ZIP_DEFLATED)
END
    $python make.py
    verdict $? 'archives by Python'
    gives 'the value of a member in a folder' 0 '' '1\n' round --format fp32 --to value --from npz stored.npz:b/c
    "$ULP" round --format fp32 --to npz --from npz --out all.npz stored.npz && $python -c 'import zipfile
z = zipfile.ZipFile("all.npz")
assert z.testzip() is None and z.namelist() == ["a.npy", "b/c.npy"] and z.read("a.npy")[128:] == bytes([0, 0, 128, 63, 0, 0, 0, 192])'
    verdict $? 'all arrays of an archive, read by Python'
    refuses 'one array of two' 'stored.npz: the archive holds 2 arrays; name one, as stored.npz:a: a b/c' round --format fp32 --from npz stored.npz
    refuses 'an array twice' "two arrays 'a'" round --format fp32 --from npz twice.npz:a
    hostile 'says that the elements are' object.npz
    hostile 'a shape of 2^63 bytes or more' shape.npz
    hostile 'announces 12 bytes of elements, and the file holds 8' short.npz
    hostile 'b is no .npy file' bad.npz
    hostile 'compression method 12' bzip2.npz
    if "$ULP" round --format fp32 --from npz packed.npz >out 2>err; then
        gives 'a compressed member' 0 '' '1\n-2\n' round --format fp32 --to value --from npz packed.npz
        hostile 'announces 8000000000000 bytes of elements, and the file holds 8' huge.npz
        hostile 'does not have the .* bytes' less.npz
        hostile 'does not have the .* bytes' more.npz
        hostile 'cannot hold the 4000000000 bytes' bomb.npz
        hostile 'compressed bytes of the member .a. are damaged' bits.npz
        hostile 'compressed bytes of the member .a. are damaged' cut.npz
        (ulimit -v $limit; exec "$ULP" round --format fp16 --from npz --to npycode --out zeros.npy zeros.npz) 2>err && [ "$(wc -c <zeros.npy)" -eq 60000128 ]
        verdict $? 'many zeros in little memory'
        rm -f zeros.np?
    else
        holds 'compressed members need zlib' grep -q 'this build has no zlib' err
    fi
else
    skip 'hostile archives by Python' 'no python3'
fi

# ---- gemm ----

# a matrix of numbers: matrix FILE ROWS COLUMNS FORMAT NUMBER...
matrix() {
    file=$1 rows=$2 columns=$3 format=$4
    shift 4
    printf '%s\n' "$@" | "$ULP" round --format $format --to f32le --out elements.f32
    text="{'descr': '<f4', 'fortran_order': False, 'shape': ($rows, $columns), }"
    { printf "\\223NUMPY\\001\\000\\$(printf %03o ${#text})\\000%s" "$text" && cat elements.f32; } >$file
}
matrix a.npy 2 3 fp32 1 2 3 4 5 6
matrix b.npy 3 2 fp32 1 0 -1 2 0.5 0.25
matrix c.npy 2 2 fp32 100 200 300 -0.125
prints 'gemm: matrices of files' '^shape       m 2, n 2, k 3$' gemm --datapath h100-fp16 --a a.npy --b b.npy --out p.npy --seconds 0
says 'gemm: names of the files' '^data        a.npy, b.npy, a in binary16, b in binary16$' out
says 'gemm: no error' '^max error   0$' out
gives 'gemm: the product' 0 '' '0.5\n4.75\n2\n11.5\n' round --format fp32 --from npy --to value p.npy
exits 'gemm: a start value' 0 gemm --datapath h100-fp16 --a a.npy --b b.npy --c c.npy --out p.npy --seconds 0.01
says 'gemm: its name' 'b in binary16, from c.npy$' out
says 'gemm: no error from there' '^max error   0$' out
gives 'gemm: the product and the start value' 0 '' '100.5\n204.75\n302\n11.375\n' round --format fp32 --from npy --to value p.npy
"$ULP" gemm --datapath serial:fp64:rne --a a.npy --b b.npy --c c.npy --out p.npy --seconds 0 >out && [ "$(wc -c <p.npy)" -eq 160 ]
verdict $? 'gemm: binary64 where the result needs it'
gives 'gemm: its values' 0 '' '100.5\n204.75\n302\n11.375\n' round --format fp64 --from npy --to value p.npy
"$ULP" round --format fp32 --from npy --to npz --out ab.npz a.npy && "$ULP" gemm --datapath h100-fp16 --a ab.npz:arr_0 --b b.npy --out q.npy --seconds 0 >out &&
    "$ULP" gemm --datapath h100-fp16 --a a.npy --b b.npy --out p.npy --seconds 0 >out
same 'gemm: an array of an archive' q.npy p.npy
"$ULP" gemm --datapath b200-e4m3-mx --a a.npy --b b.npy --seconds 0 >out
says 'gemm: block scales' ', scales 1$' out
"$ULP" gemm --datapath h100-fp16 --m 5 --n 6 --k 7 --seconds 0 --out p.npy >out && [ "$(wc -c <p.npy)" -eq 248 ]
verdict $? 'gemm: the product of random matrices in a file'
matrix tenth.npy 2 3 fp32 1 2 3 4 0.1 6
refuses 'gemm: an element that the format does not hold' 'tenth.npy: element (1, 1), 0.10000000149011612, has no code in e4m3; --in rounds' gemm --datapath h100-e4m3 --a tenth.npy --b b.npy
exits 'gemm: --in rounds it' 0 gemm --datapath h100-e4m3 --in e4m3 --a tenth.npy --b b.npy --seconds 0
prints 'gemm: --in' 'a in e4m3, b in e4m3$' gemm --datapath fp32 --in e4m3 --a tenth.npy --b b.npy --seconds 0
refuses 'gemm: start values of another shape' 'tenth.npy is (2, 3), and the product of A and B is (2, 2)' gemm --datapath serial:fp16:rne --a a.npy --b b.npy --c tenth.npy
matrix tenth.npy 2 2 fp32 1 2 3 0.1
refuses 'gemm: a start value that the result format does not hold' 'tenth.npy: element (1, 1), .*, has no code in binary16' gemm --datapath serial:fp16:rne --a a.npy --b b.npy --c tenth.npy
refuses 'gemm: sizes that differ' 'a.npy is (2, 3) and a.npy is (2, 3): A has 3 columns, and B has 2 rows' gemm --datapath fp32 --a a.npy --b a.npy
refuses 'gemm: --m that contradicts' '--m 4: m is 2 in the files of --a and --b' gemm --datapath fp32 --a a.npy --b b.npy --m 4
refuses 'gemm: --k that contradicts' '--k 2: k is 3' gemm --datapath fp32 --a a.npy --b b.npy --k 2
exits 'gemm: sizes that agree' 0 gemm --datapath fp32 --a a.npy --b b.npy --m 2 --n 2 --k 3 --seconds 0
refuses 'gemm: one matrix' '--a a.npy: --a and --b are given together' gemm --datapath fp32 --a a.npy
refuses 'gemm: a start value alone' '--c a.npy: goes with --a and --b' gemm --datapath fp32 --c a.npy
refuses 'gemm: --data and files' 'the data are those of --a and --b' gemm --datapath fp32 --a a.npy --b b.npy --data normal
refuses 'gemm: a vector' 'x.npy has 1 dimension; a matrix has 2' gemm --datapath fp32 --a a.npy --b x.npy
matrix empty.npy 3 0 fp32
refuses 'gemm: no elements' 'empty.npy has no elements' gemm --datapath fp32 --a a.npy --b empty.npy
refuses 'gemm: --out -' 'goes to a .npy file' gemm --datapath fp32 --out -
refuses 'gemm: --out p.npz' 'goes to a .npy file' gemm --datapath fp32 --out p.npz
refuses 'gemm: --out in a missing folder' 'cannot write none/p.npy' gemm --datapath fp32 --a a.npy --b b.npy --out none/p.npy
head -c $(($(wc -c <b.npy) - 1)) b.npy >cut.npy
refuses 'gemm: a file that is cut off' 'announces 24 bytes of elements, and the file holds 23' gemm --datapath fp32 --a a.npy --b cut.npy
{ printf '\223NUMPY\001\000\110\000' && printf '%-72s' "{'descr': '<f4', 'fortran_order': False, 'shape': (1048576, 16777216), }" && printf '12345678'; } >pipe.npy
cat pipe.npy | (ulimit -v $limit; exec "$ULP" gemm --datapath fp32 --a - --b b.npy) >out 2>err
[ $? -eq 2 ] && grep -q 'stdin ends after 8 bytes of elements; its header announces 70368744177664' err
verdict $? 'gemm: a pipe that announces much, in little memory'
echo old >kept.npy
refuses 'gemm: a missing file' 'cannot read none.npy' gemm --datapath fp32 --a a.npy --b none.npy --out kept.npy
[ "$(cat kept.npy)" = old ] && [ ! -e kept.npy.tmp ]
verdict $? 'gemm: an old file stays'

# ---- block ----

# text and arrays give the same codes and values: 2 rows of 48 elements, which are whole blocks of 16 in a row
awk 'BEGIN { for (i = 0; i < 96; i++) printf "%.6g\n", (i * 37 % 101 - 50) * substr("0.125 0.25  0.5   1     2     4     8", 1 + i % 7 * 6, 6) }' >numbers
"$ULP" round --format fp32 --to value --out exact numbers
matrix w.npy 2 48 fp32 $(cat exact)
for case in nvfp4/sr nvfp4/rne mxfp8/rz mxfp4/rne; do
    format=${case%/*} mode=${case#*/}
    "$ULP" block --format $format --mode $mode --from npy --to npz --out codes.npz w.npy && "$ULP" block --format $format --mode $mode --from npy --to npy --out values.npy w.npy
    verdict $? "block $case: arrays"
    if [ ${format#nv} = $format ]; then # 48 elements are a block and a half
        { head -n 48 exact | "$ULP" block --format $format --mode $mode --to value && tail -n 48 exact | "$ULP" block --format $format --mode $mode --to value; } >want
    else
        "$ULP" block --format $format --mode $mode --to value exact >want
    fi
    "$ULP" round --format fp32 --from npy --to value values.npy >out
    same "block $case: the values of lines" out want
    "$ULP" block --format $format --decode --from npz --to npy codes.npz >decoded.npy
    same "block $case: codes and back" decoded.npy values.npy
done
"$ULP" block --format nvfp4 --tensor-scale auto --from npy --to npz --out codes.npz w.npy 2>err && "$ULP" block --format nvfp4 --tensor-scale auto --to value exact >want 2>want.err
cmp -s err want.err && "$ULP" block --format nvfp4 --decode --from npz --to npy codes.npz | "$ULP" round --format fp32 --from npy --to value >out
same 'block: the tensor scale is in the file' out want
refuses 'block: the tensor scale twice' 'codes.npz holds the tensor scale' block --format nvfp4 --tensor-scale 2 --decode --from npz --to npy codes.npz
refuses 'block: codes of another format' 'the shape is not that of the elements with 2 scales' block --format mxfp4 --decode --from npz --to npy codes.npz
"$ULP" block --format mxfp8 --from npy --to npz --out codes.npz w.npy
refuses 'block: codes of more bits' 'codes.npz:elements: element (0, .*, is no code of e2m1: 4 bits' block --format mxfp4 --decode --from npz --to npy codes.npz
# positive numbers: codes of 5 bits
"$ULP" round --format e8m0 --from npy --to npy w.npy >positive.npy && "$ULP" block --format mxfp6 --from npy --to npz --out codes.npz positive.npy
refuses 'block: codes of one bit more' 'codes.npz:elements: element (0, .*, is no code of e2m1: 4 bits' block --format mxfp4 --decode --from npz --to npy codes.npz
refuses 'block: no codes' "ab.npz: the archive has no array 'elements'" block --format mxfp4 --decode --from npz --to npy ab.npz
refuses 'block: one array of the codes' 'takes the whole file' block --format mxfp4 --decode --from npz --to npy codes.npz:scales
refuses 'block: codes on stdout' 'name a file with --out' block --format mxfp4 --from npy --to npz w.npy
refuses 'block: lines to an array' 'go with --from npy' block --format mxfp4 --to npz numbers
refuses 'block: an array to lines' 'go with --to npy' block --format mxfp4 --from npy w.npy
refuses 'block: --out of lines' 'text goes to stdout' block --format mxfp4 --out out.txt numbers
refuses 'block: two arrays' 'name one file, not 2' block --format mxfp4 --from npy --to npy w.npy w.npy
refuses 'block: --decode to codes' '--decode takes --from npz and --to npy' block --format mxfp4 --decode --from npz --to npz codes.npz
refuses 'block: --list and --from' 'stands alone' block --list --from npy
cp kept.npy old.npy
refuses 'block: a file that is cut off' 'announces 24 bytes of elements, and the file holds 23' block --format mxfp4 --from npy --to npy --out old.npy cut.npy
[ "$(cat old.npy)" = old ] && [ ! -e old.npy.tmp ]
verdict $? 'block: an old file stays'
for format in nvfp4:mse46 mxfp4:8 nvint4:best; do
    auto=auto
    [ ${format#mx} = $format ] || auto=1
    "$ULP" block --format $format --tiles --tensor-scale $auto --from npy --to npz --out codes.npz w.npy 2>err &&
        "$ULP" block --format $format --tiles --decode --from npz --to npy codes.npz >out &&
        "$ULP" quantize --format $format --tiles --tensor-scale $auto --from npy --to npy w.npy >want 2>err
    same "block: tiles of $format, there and back, are those of quantize" out want
done
"$ULP" block --format nvfp4 --from npy --to npz --out rows.npz w.npy
refuses 'block: codes of rows are no tiles' 'scales of tiles of 16 x 16' block --format nvfp4 --tiles --decode --from npz --to npy --out old.npy rows.npz
{ echo 48; awk 'BEGIN { for (i = 1; i < 32; i++) print 0 }'; } | "$ULP" round --format fp32 --to npy --out spike.npy
for command in block quantize; do
    "$ULP" $command --format mxfp4 --hadamard 16:te --from npy --to npz --out codes.npz spike.npy &&
        "$ULP" $command --format mxfp4 --hadamard 16:te --decode --from npz --to npy codes.npz | "$ULP" round --format fp32 --from npy --to value | sed 's/^-0$/0/' >out
    "$ULP" round --format fp32 --from npy --to value spike.npy >want
    same "$command: a spike is spread, stored without error and gathered" out want
done
refuses 'block: rows of no whole groups' 'has rows of 48 numbers, which is no multiple of 32' block --format mxfp4 --hadamard 32 --from npy --to npy w.npy
cat w.npy | "$ULP" block --format mxfp4 --from npy --to npy >out && "$ULP" block --format mxfp4 --from npy --to npy w.npy >want
same 'block: an array from a pipe' out want

# ---- NumPy ----

if [ -n "$numpy" ]; then
    cat >numpy_round.py <<'END'
import subprocess, sys
import numpy as np
ulp = sys.argv[1]
rng = np.random.default_rng(1)
arrays = {'w': rng.normal(size=(33, 20)).astype('f4'), 'h': np.asfortranarray(rng.normal(size=(3, 5, 2)).astype('f2')),
          'd': rng.normal(size=7), 's': np.float32(1.1)}
whole = {'labels': rng.integers(-99, 99, (5, 3)), 'big': rng.integers(-99, 99, 9001).astype('>i4'), 'bytes': np.arange(7, dtype='u1'),
         'order': np.asfortranarray(rng.integers(0, 9, (3, 4)).astype('>u2')), 'flags': np.array([True, False])}
for save in (np.savez, np.savez_compressed):
    save('in.npz', **arrays, **whole)
    subprocess.run([ulp, 'round', '--format', 'fp16', '--from', 'npz', '--to', 'npz', '--out', 'out.npz', 'in.npz'], check=True)
    with np.load('out.npz') as out:
        assert sorted(out) == sorted([*arrays, *whole])
        for name, x in whole.items():
            assert out[name].dtype.kind == x.dtype.kind and out[name].dtype.itemsize == x.dtype.itemsize, name
            assert out[name].shape == x.shape and (out[name] == x).all(), name
        for name, x in arrays.items():
            assert out[name].dtype == x.dtype and out[name].shape == x.shape, name
            assert (out[name] == x.astype('f2').astype(x.dtype)).all(), name
END
    if "$ULP" round --format fp32 --from npz packed.npz >out 2>err; then
        $numpy numpy_round.py "$ULP" 2>err || { sed 's/^/#   /' err; false; }
        verdict $? 'NumPy: savez and savez_compressed, rounded and loaded; integers pass'
    else
        skip 'NumPy: savez and savez_compressed, rounded and loaded' 'no zlib'
    fi
    cat >numpy_gemm.py <<'END'
import subprocess, sys
import numpy as np
ulp = sys.argv[1]
rng = np.random.default_rng(2)
a = np.asfortranarray(rng.integers(-9, 10, (17, 33)).astype('f2'))
b = rng.integers(-9, 10, (33, 5)).astype('>f8')
c = rng.integers(-999, 1000, (17, 5)).astype('f4')
np.save('a.npy', a)
np.savez('bc.npz', b=b, c=c)
for datapath, dtype in (('fp32', 'f4'), ('serial:fp64:rne', 'f8'), ('a100-fp16', 'f4')):
    command = [ulp, 'gemm', '--datapath', datapath, '--a', 'a.npy', '--b', 'bc.npz:b', '--out', 'p.npy', '--seconds', '0']
    for more, want in (([], a.astype('f8') @ b), (['--c', 'bc.npz:c'], c + a.astype('f8') @ b)):
        subprocess.run(command + more, check=True, stdout=subprocess.DEVNULL)
        p = np.load('p.npy')
        assert p.dtype == dtype and p.shape == (17, 5) and (p == want).all(), datapath
END
    $numpy numpy_gemm.py "$ULP" 2>err || { sed 's/^/#   /' err; false; }
    verdict $? 'NumPy: matrices of whole numbers are multiplied without error'
    cat >numpy_block.py <<'END'
import subprocess, sys
import numpy as np
ulp = sys.argv[1]
rng = np.random.default_rng(3)
e2m1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6])
for x in (rng.normal(size=(3, 5, 40)).astype('f4'), np.asfortranarray(rng.normal(size=(4, 64)).astype('f2')), rng.normal(size=7), np.zeros((2, 0))):
    np.savez('x.npz', other=np.ones(3), x=x)
    command = [ulp, 'block', '--format', 'mxfp4', '--from', 'npz', 'x.npz:x']
    subprocess.run(command + ['--to', 'npz', '--out', 'codes.npz'], check=True)
    subprocess.run(command + ['--to', 'npy', '--out', 'values.npy'], check=True)
    y = np.load('values.npy')
    with np.load('codes.npz') as codes:
        assert sorted(codes) == ['elements', 'scales']
        e, s = codes['elements'], codes['scales']
    assert e.shape == y.shape == x.shape and s.shape == x.shape[:-1] + (-(-x.shape[-1] // 32),)
    scale = np.repeat(2.0 ** (s.astype(int) - 127), 32, axis=-1)[..., :x.shape[-1]]
    assert (e2m1[e] * scale == y).all() and (abs(y - x) <= scale * 2).all()
END
    $numpy numpy_block.py "$ULP" 2>err || { sed 's/^/#   /' err; false; }
    verdict $? 'NumPy: elements times scales are the values'
else
    skip 'NumPy: elements times scales are the values' 'no python3 with NumPy'
    skip 'NumPy: matrices of whole numbers are multiplied without error' 'no python3 with NumPy'
    skip 'NumPy: savez and savez_compressed, rounded and loaded' 'no python3 with NumPy'
fi

exit $failed
