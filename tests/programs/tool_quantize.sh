#!/bin/sh
# tool_quantize.sh - ulp quantize: results computed by hand, arrays and their layouts, blocks of GGUF, bad input.
. tests/programs/tool_support.sh

gives 'quantize: int8, the scale is 1 / 127' 0 '1\n-0.5\n0.1\n' '3c010204 7f 1\n3c010204 c0 -0.5039370059967041\n3c010204 0d 0.10236220061779022\n' quantize --format int8 --to both
gives 'quantize: uint8 with a zero point, which is the third column' 0 '-64\n191\n0.5\n' '3f800000 00 64\n3f800000 ff 64\n3f800000 40 64\n' quantize --format uint8 --zero-point
gives 'quantize: nf4' 0 '2\n-1\n0\n' '40000000 f 2\n40000000 2 -1.0501461029052734\n40000000 7 0\n' quantize --format nf4 --to both
gives 'quantize: blocks of two, the last one is short' 0 '127\n1\n254\n' '127\n1\n254\n' quantize --format int8 --per 2 --to value
gives 'quantize: scales of e8m0, noclip' 0 '449\n' '80 76 448\n' quantize --format e4m3 --scale e8m0 --rule noclip --to both
gives 'quantize: scales of ue5m3' 0 '1270\n' '92 7f 1270\n' quantize --format int8 --scale ue5m3 --to both
gives 'quantize: the narrow range' 0 '-300\n300\n100\n127\n1\n' '-127\n127\n100\n127\n1\n' quantize --format int8 --percentile 60 --narrow --to value
gives 'quantize: and the full one' 0 '-300\n300\n100\n127\n1\n' '-128\n127\n100\n127\n1\n' quantize --format int8 --percentile 60 --to value
gives 'quantize: NaN makes the scale NaN' 0 '1\nnan\n' '7fc00000 00 nan\n7fc00000 00 nan\n' quantize --format int8 --to both
gives 'quantize: Inf saturates on request' 0 '127\n-inf\n' '3f800000 7f\n3f800000 80\n' quantize --format int8 --overflow sat
printf '127\n2.50000000000000000000000000000000000000000000000000000000001\n2.5\n' | "$ULP" quantize --format int8 | cut -d ' ' -f 2 >out
printf '7f\n03\n02\n' >want
cmp out want
verdict $? 'quantize: a number of 60 digits is rounded once'
gives 'quantize: no numbers' 0 '' '' quantize --format int8

# a block format is the same in both commands
awk 'BEGIN { for (i = 0; i < 150; i++) print i % 37 ? i * 1.37 - 60 : 300 }' >many
for name in mxfp4 mxfp8-e5m2:ceil nvfp4 nvfp4:te mxint8 mxint4 nvint4 bfp8 block:e2m1,16,e4m3 block:e2m3,7,ue5m3:noclip; do
    for mode in rne sra; do
        "$ULP" block --format $name --mode $mode --to both many >want 2>err
        "$ULP" quantize --format $name --mode $mode --to both many >out 2>>err
        [ -s out ] && cmp out want
        verdict $? "quantize: $name, $mode, is that of ulp block"
    done
done
gives 'block: nvfp4:te, zero and tiny numbers have scale 00' 0 '0\n-1e-9\n' '00 0 0\n00 f -0\n' block --format nvfp4:te --to both
gives 'block: nvfp4 has 01' 0 '0\n-1e-9\n' '01 0 0\n01 8 -0\n' block --format nvfp4 --to both
prints 'block --help: te' 'nvfp4 without the smallest scale' block --help
gives 'block: auto tensor scale' 0 '3\n' '7e 7\n' quantize --format nvfp4 --tensor-scale auto
gives 'block: its other name' 0 '3\n' '7e 7\n' quantize --format nvfp4 --tensor-scale amax
says 'quantize: stderr says which' '^ulp quantize: tensor scale ' err

# codes to values
for options in 'int8' 'uint4 --zero-point --per 8' 'nf4 --per 64' 'e4m3 --scale e8m0 --per 32' 'int12 --scale bf16' 'nvfp4:te' 'mxint4'; do
    "$ULP" quantize --format $options many >codes && "$ULP" quantize --format $options --to value many >want
    "$ULP" quantize --format $options --decode codes >out
    [ -s out ] && cmp out want
    verdict $? "quantize: $options and back"
done
for line in '3f800000' '3f800000 7f 0' '3f800000 17f' 'x 00' '3f800000 g' 'ff800000 00' '7f800000 00' 'bf800000 00'; do
    gives "quantize --decode: '$line' is refused" 2 "$line\n" '' quantize --format int8 --decode
done
gives 'quantize --decode: a zero point beyond the codes' 2 '3f800000 00 256\n' '' quantize --format uint8 --zero-point --decode
says 'quantize --decode: the limits are named' "'256' is no zero point: 0 to 255" err
gives 'quantize --decode: a NaN scale' 0 '7fc00000 00\n' 'nan\n' quantize --format int8 --decode

# blocks of GGUF: 2 = 16 / 8, -16 is element 0
awk 'BEGIN { for (i = -16; i < 16; i++) print i }' >block
"$ULP" quantize --format q4_0 block >out
[ "$(cut -c 1-6 out)" = 004080 ] && [ "$(wc -c <out)" -eq 37 ]
verdict $? 'quantize: q4_0 has the bytes of ggml'
"$ULP" quantize --format q4_0 --to value block >want && "$ULP" quantize --format q4_0 --decode out >values
[ -s values ] && cmp values want && [ "$(head -n 1 values)" = -16 ]
verdict $? 'quantize: q4_0 and back'
gives 'quantize: q8_0 of 31 numbers' 2 '1\n2\n' '' quantize --format q8_0
says 'quantize: q8_0 takes 32' 'no multiple of 32' err
{ cat block | sed 's/^3$/nan/'; } >bad
refuses 'quantize: q4_1 of NaN' 'not finite' quantize --format q4_1 bad
gives 'quantize --decode: a short block' 2 '0040\n' '' quantize --format q4_0 --decode
refuses 'quantize: q8_0 and --per' 'leaves no choice' quantize --format q8_0 --per row
refuses 'quantize: q8_0 --to both' 'a block' quantize --format q8_0 --to both

# arrays: a matrix (3, 5)
"$ULP" round --format binary32 --to npy --out v.npy <<'END'
1
2
3
4
-127
0.5
0.25
-1
0
0
1
1
1
1
7
END
{ head -c 60 v.npy; printf '(3, 5), }%*s\n' 58 ''; tail -c 60 v.npy; } >m.npy
"$ULP" round --format binary32 --from npy m.npy >/dev/null 2>err
holds 'quantize: the matrix is one' [ ! -s err ]
for options in 'int8' 'int8 --per row' 'uint8 --zero-point --per channel --axis 1' 'int4 --per 2x2' 'nf4 --per 2' 'e2m1 --per 4 --scale e4m3' 'int12 --per 2x3' 'mxfp4' 'uint16 --per row' 'e5m10 --per row'; do
    "$ULP" quantize --format $options --from npy --to npy --out want.npy m.npy
    "$ULP" quantize --format $options --from npy --to npz --out codes.npz m.npy
    "$ULP" quantize --format $options --from npz --to npy --decode --out back.npy codes.npz
    [ -s back.npy ] && cmp back.npy want.npy
    verdict $? "quantize: arrays, $options and back"
    "$ULP" quantize --format $options --from npz --to npy --decode codes.npz >back.npy
    cmp back.npy want.npy
    verdict $? "quantize: arrays, $options, on stdout"
done
for options in 'int4 --per row' 'nf4' 'e2m1 --per 2 --scale e4m3'; do
    "$ULP" quantize --format $options --from npy --to npy --out want.npy m.npy
    case $options in *e4m3) more=--swizzled ;; *) more= ;; esac
    "$ULP" quantize --format $options --packed $more --from npy --to npz --out packed.npz m.npy
    "$ULP" quantize --format $options --from npz --to npy --decode --out back.npy packed.npz
    [ -s back.npy ] && cmp back.npy want.npy
    verdict $? "quantize: $options --packed $more, an odd length, and back"
done
grep -aq "swizzled.npy" packed.npz && grep -aq "'shape': (512,)" packed.npz
verdict $? 'quantize: a swizzled tile has 512 bytes'
"$ULP" quantize --format q8_0 --from npy --to npz --out q.npz v.npy 2>err
[ $? -eq 2 ] && grep -q 'no multiple of 32' err && [ ! -e q.npz ]
verdict $? 'quantize: q8_0 of 15 elements'
"$ULP" round --format binary32 --to npy --out b.npy block && "$ULP" quantize --format q4_1 --from npy --to npz --out q.npz b.npy &&
    "$ULP" quantize --format q4_1 --from npz --to npy --decode --out back.npy q.npz && "$ULP" quantize --format q4_1 --from npy --to npy --out want.npy b.npy && cmp back.npy want.npy
verdict $? 'quantize: q4_1, arrays and back'

# bad archives
"$ULP" quantize --format int4 --per row --from npy --to npz --out codes.npz m.npy
refuses 'quantize --decode: another --per' 'scales has the shape (3,); with this --per and the shape of the codes it is (); --per has to be' quantize --format int4 --from npz --to npy --decode codes.npz
"$ULP" quantize --format int8 --from npy --to npz --out codes.npz m.npy
refuses 'quantize --decode: codes of another element' 'is no code of q4.0: 4 bits' quantize --format int4 --from npz --to npy --decode codes.npz
for format in uint8 e4m3; do
    refuses "quantize --decode: signed codes as $format" 'has signed integers; codes of' quantize --format $format --from npz --to npy --decode codes.npz
done
"$ULP" quantize --format nvfp4 --tensor-scale auto --from npy --to npz --out four.npz m.npy 2>err
"$ULP" quantize --format nvfp4 --from npz --to npy --decode --out want.npy four.npz &&
    "$ULP" quantize --format nvfp4 --tensor-scale auto --from npz --to npy --decode --out back.npy four.npz && cmp back.npy want.npy
verdict $? 'quantize --decode: the tensor scale is that of the archive'
refuses 'quantize --decode: another tensor scale' '--tensor-scale 2: four.npz:tensor_scale is 0.' quantize --format nvfp4 --tensor-scale 2 --from npz --to npy --decode four.npz
refuses 'quantize --decode: auto for lines' 'lines of codes do not hold the number' quantize --format nvfp4 --tensor-scale auto --decode
refuses 'quantize --decode: no zero points' "no array 'zero_points'" quantize --format int8 --zero-point --from npz --to npy --decode codes.npz
"$ULP" quantize --format int8 --zero-point --from npy --to npz --out codes.npz m.npy
refuses 'quantize --decode: zero points that nobody asked for' 'add --zero-point' quantize --format int8 --from npz --to npy --decode codes.npz
refuses 'quantize --decode: no archive of blocks' "no array 'blocks'" quantize --format q8_0 --from npz --to npy --decode codes.npz
echo old >kept.npy
"$ULP" quantize --format int8 --from npz --to npy --decode --out kept.npy codes.npz 2>err
[ "$(cat kept.npy)" = old ]
verdict $? 'quantize: an old output stays'

# bad options
gives 'quantize: a bad line' 2 '1\nx\n' '' quantize --format int8
says 'quantize: the line is named' 'stdin:2: ' err
refuses 'quantize without a format' 'int8 for example' quantize
for name in foo int1 uint17 fp32 '' block:int8,0,e8m0; do refuses "quantize: --format '$name'" 'format\|empty\|16 bits' quantize --format "$name"; done
for name in int8 e2m1 fp64 foo posit16; do refuses "quantize: --scale $name" "--scale $name: must be a floating-point format" quantize --format int8 --scale $name; done
for part in 0 0x3 3x x3 column -1 1x2x3 99999999999999999999; do refuses "quantize: --per $part" 'must be tensor, row, channel, RxC' quantize --format int8 --per $part; done
for p in 0 101 1e1 99.1234567 x .; do refuses "quantize: --percentile $p" 'above 0 and at most 100' quantize --format int8 --percentile $p; done
gives 'quantize: four over six' 0 '10\n20\n30\n40\n' '10\n20\n30\n40\n' quantize --format nvfp4 --rule mse46 --to value
refuses 'quantize: mse46 with a zero point' 'takes no zero point' quantize --format uint4 --zero-point --scale e4m3 --rule mse46
refuses 'quantize: best of a code book' 'no code book' quantize --format nf4 --scale e4m3 --rule best
refuses 'quantize: best of wide scales' 'elements and scales of up to 8 bits' quantize --format e2m1 --rule best
refuses 'quantize: tiles of an element' 'take --per RxC' quantize --format int8 --tiles
refuses 'quantize: an unknown rule' 'known: floor ceil even noclip amax te mse46 best up17 mse' quantize --format int8 --rule max
refuses 'quantize: a zero point of floats' 'no integer' quantize --format e4m3 --zero-point
refuses 'quantize: a narrow uint8' 'no negative integers' quantize --format uint8 --narrow
refuses 'quantize: wrap on floats' 'wraps around' quantize --format e4m3 --overflow wrap
refuses 'quantize: a tensor scale of a book' 'code book' quantize --format nf4 --tensor-scale 2
refuses 'quantize: auto without need' 'without it' quantize --format int8 --tensor-scale auto
refuses 'quantize: --per of a block format' 'says it' quantize --format mxfp4 --per row
refuses 'quantize: --axis alone' 'goes with --per channel' quantize --format int8 --axis 1
refuses 'quantize: an axis that is not there' 'from -2 to 1' quantize --format int8 --per channel --axis 2 --from npy --to npy m.npy
refuses 'quantize: tiles of a vector' 'of 2 at least' quantize --format int8 --per 2x2 --from npy --to npy v.npy
refuses 'quantize: packed int8' 'codes of 4 bits' quantize --format int8 --packed --from npy --to npz --out x.npz m.npy
refuses 'quantize: swizzled binary32' 'scales of 8 bits' quantize --format int8 --swizzled --from npy --to npz --out x.npz m.npy
refuses 'quantize: packed values' 'go with --to npz' quantize --format int4 --packed
refuses 'quantize: --out and text' 'text goes to stdout' quantize --format int8 --out x
prints 'quantize --help' 'nvfp4:te have scale code 00, not 01' quantize --help

exit $failed
