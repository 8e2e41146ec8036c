#!/bin/sh
# tool_codes.sh - codes as input of the tool: ulp decode, --from code:F and npy:F, arrays of codes and integers in other commands.
. tests/programs/tool_support.sh

# ---- ulp decode ----

gives 'values of codes, exactly' 0 '7e\n0x01 ff,80\n' '448\n0.001953125\nnan\n-0\n' decode --format e4m3
prints 'codes as arguments' '^0.0999755859375$' decode --format fp16 2e66
gives 'the fewest digits' 0 '2e66\n7bff\n0001\n3c01\nfc00\n8000\n' '0.1\n65500\n6e-8\n1.001\n-inf\n-0\n' decode --format fp16 --to short
gives 'the fewest digits of binary64' 0 '3fb999999999999a\n0000000000000001\n7fefffffffffffff\n44b52d02c7e14af6\n4341c37937e08000\n' '0.1\n5e-324\n1.7976931348623157e308\n1e23\n10000000000000000\n' decode --format fp64 --to short
gives 'code and value' 0 '7e\n' '7e 448\n' decode --format e4m3 --to both
for format in e4m3 hif8 posit8 binary8p4uf e8m0; do
    awk 'BEGIN { for (i = 0; i < 256; i++) printf "%02x\n", i }' >codes
    "$ULP" decode --format $format --to short --file codes >short
    grep -v '^nan$' short | "$ULP" round --format $format >back
    paste codes short | grep -v 'nan$' | cut -f 1 | cmp - back
    verdict $? "the fewest digits of every code of $format read back"
done
refuses 'a code of too many bits' "'17e' is no code of e4m3: 8 bits in hex" decode --format e4m3 17e
refuses 'codes twice' 'the codes are in the file, or they are arguments' decode --format e4m3 --file codes 7e
refuses 'no file' 'cannot read nothing.npy' decode --format e4m3 --file nothing.npy
npy '|u1' False '(3,)' '\176\001\200' >a.npy
prints 'a .npy file' '^0.002$' decode --format e4m3 --to short --file a.npy
npy '|u1' False '(4,)' '\176\377\177\200' >a.npy
"$ULP" decode --format e4m3 --to both --file a.npy >out
[ "$(tr '\n' ' ' <out)" = '7e 448 ff nan 7f nan 80 -0 ' ]
verdict $? 'every code of a .npy file, of NaN too'
npy '<i2' False '(1,)' '\377\377' >a.npy
prints 'a code of fixed point in a .npy file' '^ffff -1$' decode --format q16.0 --to both --file a.npy
npy '<u8' False '(1,)' '\001\000\000\000\000\000\360\277' >a.npy
prints 'a code of binary64 in a .npy file' '^bff0000000000001 -1.0000000000000002$' decode --format fp64 --to both --file a.npy
gives 'arith prints values' 0 '3c00 1400\n' '3c01 1.0009765625\n' arith --format fp16 --op add --to both
gives 'arith prints few digits' 0 '3c00 1400\n' '1.001\n' arith --format fp16 --op add --to short
gives 'arith takes numbers' 0 '0.3\n' '3e96 0.29296875\n' arith --format bf16 --op tanh --from text --to both
gives 'numbers are rounded once' 0 '2049.00000000000000001 0\n' '6801\n' arith --format fp16 --op add --from text
gives 'a number that is none' 2 '0.3x\n' '' arith --format bf16 --op tanh --from text
gives 'a number as a code' 2 '0.3\n' '' arith --format bf16 --op tanh
says 'a number as a code: leads to --from text' "'0.3' is no code of bfloat16: 16 bits in hex; --from text takes numbers" err
gives 'dot prints values' 0 '3c00 3c00 4000\n' '3\n' dot --datapath serial:fp16:rne --to value

# ---- ulp round ----

gives 'codes in lines' 0 '7e\n0x7e\n80\n' '448\n448\n-0\n' round --from code:e4m3 --format fp16 --to value
gives 'bits with 0x' 0 '0x3f800000\n3f800000\n' '1\n1\n' round --from f32 --format fp16 --to value
refuses_line() { printf -- "$3" >line && refuses "$1" "$2" round --format fp16 --from "$4" line; }
refuses_line 'a code of too many bits in a line' "line:1: '17e' is no code of e4m3: 8 bits" '17e\n' code:e4m3
refuses_line 'bits of too few digits' "'0x3f8' is not 8 hex digits" '0x3f8\n' f32
refuses 'a form without its format' 'the format of the codes is needed, as in code:e4m3' round --format fp16 --from code
refuses 'a form with a format that it does not take' 'f32 takes no format' round --format fp16 --from f32:e4m3
refuses 'a form with a wrong format' "no format 'e4m9x'" round --format fp16 --from npy:e4m9x
gives 'plain bytes of codes' 0 'abc' '36\n40\n44\n' round --from codele:e4m3 --format fp16 --to value
for type in '|u1' '<u1' '|i1' '<V1' '|V1' '<f1'; do
    npy "$type" False '(3,)' '\176\001\200' >a.npy
    "$ULP" round --from npy:e4m3 --format fp16 --to value a.npy >out
    [ "$(xargs <out)" = '448 0.001953125 -0' ]
    verdict $? "codes in an array of $type"
done
npy '>u2' False '(2,)' '\077\300\100\000' >a.npy
prints 'codes with the highest byte first' '^1.5$' round --from npy:bf16 --format fp16 --to value a.npy
npy '|u1' False '(2,)' '\007\020' >a.npy
refuses 'a byte that is no code' 'element 1, counted from 0, is 10: a code of e2m1 has 4 bits' round --from npy:e2m1 --format fp16 --to npy --out b.npy a.npy
holds 'nothing is left of it' ! [ -e b.npy ]
refuses 'bytes without a format' "elements are '|u1', which may be codes or integers without a sign" round --from npy --format fp16 a.npy
refuses 'elements that are too short' "elements are '|u1', of 1 bytes; codes of binary16 have 16 bits" round --from npy:fp16 --format fp16 a.npy
npy '<f4' False '(1,)' '\000\000\200\077' >a.npy
refuses 'values as codes' "elements are '<f4', which are values; codes of e4m3 have 8 bits" round --from npy:e4m3 --format fp16 a.npy
npy '<i2' False '(2,)' '\377\377\002\000' >a.npy
prints 'signed integers are numbers' '^-1$' round --from npy --format fp16 --to value a.npy
npy '<i8' False '(1,)' '\001\000\000\000\000\000\000\020' >a.npy
refuses 'an integer beyond 2^53' 'is 1152921504606846977, which binary64 does not hold' round --from npy --format fp16 a.npy

# ---- other commands ----

npy '<f4' False '(2,)' '\000\000\200\077\315\314\314\075' >x.npy # 1, 0.1
npy '|V1' False '(2,)' '\070\035' >y.npy                         # 1, 0.1015625 in e4m3
if "$ULP" verify --format e4m3 --sample 1 >/dev/null 2>&1; then
    prints 'verify reads codes' 'PASS y.npy e4m3 rne default: 2 results, 0 mismatches' verify --format e4m3 --mode rne --inputs x.npy --results y.npy --results-format e4m3
    prints 'verify finds the modes' '^the results follow: .*rne.*rna.*ru' verify --format e4m3 --mode all --inputs x.npy --results y.npy --results-format e4m3
    npy '|V1' False '(2,)' '\070\036' >z.npy
    exits 'no mode has these results' 1 verify --format e4m3 --mode all --inputs x.npy --results z.npy --results-format float8_e4m3fn
    says 'no mode: says so' '^the results follow: none$' out
    refuses 'codes without files' 'inputs-format: goes with --inputs' verify --format e4m3 --inputs-format e4m3
else
    skip 'verify reads codes' 'no MPFR'
fi
npy '|u1' False '(1, 2)' '\070\070' >a.npy
npy '|u1' False '(2, 1)' '\070\100' >b.npy
prints 'gemm reads codes' '^data  *a.npy, b.npy' gemm --datapath h100-e4m3 --a a.npy --b b.npy --a-format e4m3 --b-format e4m3 --seconds 0 --out c.npy
[ "$(tail -c 4 c.npy | od -An -tx1 | xargs)" = '00 00 40 40' ]
verdict $? 'gemm: 1 1 + 1 2 is 3'
npy '<f4' False '(1, 2)' '\000\000\200\077\315\314\314\075' >tenth.npy # 1, 0.1
npy '|u1' False '(2, 2)' '\070\100\070\176' >rows.npy # 1, 2 and 1, 448
npy '<f4' False '(2, 2)' '\000\000\200\077\000\000\200\077\000\000\200\077\000\000\000\100' >twos.npy # 1, 1 and 1, 2
npy '<f4' False '(2,)' '\000\000\200\077\000\000\000\100' >start.npy # 1, 2
"$ULP" dot --datapath h100-e4m3 --a rows.npy --a-format e4m3 --b twos.npy --c start.npy --to both >out
[ "$(tr '\n' ' ' <out)" = '40800000 4 4460c000 899 ' ]
verdict $? 'dot: a sum for each row of arrays'
"$ULP" dot --datapath serial:e4m3:sr --a rows.npy --a-format e4m3 --b twos.npy --seed 7 >out
printf '00 38 40 38 38\n00 38 7e 38 40\n' | "$ULP" dot --datapath serial:e4m3:sr --seed 7 | cmp -s - out
verdict $? 'dot: rows have the random words of lines'
refuses 'dot: a alone' '--a rows.npy: --a and --b are given together' dot --datapath fp32 --a rows.npy
refuses 'dot: other shapes' 'has the shape (2, 2) and start.npy has (2,)' dot --datapath fp32 --a twos.npy --b start.npy
refuses 'dot: start values of another shape' 'there is a start value for each row' dot --datapath fp32 --a twos.npy --b twos.npy --c twos.npy
refuses 'dot: lines and arrays' 'do not go together' dot --datapath fp32 --a twos.npy --b twos.npy lines.txt
refuses 'dot: an element without a code' 'element (0, 1), 0.10000000149011612, has no code in e4m3' dot --datapath h100-e4m3 --a tenth.npy --b tenth.npy
gives 'dot: --in rounds' 0 '' '1.0102539\n' dot --datapath h100-e4m3 --in e4m3 --a tenth.npy --b tenth.npy --to short
refuses 'a format without a file' '--a-format e4m3: goes with --a and --b' gemm --datapath h100-e4m3 --a-format e4m3
npy '|i1' False '(1, 2)' '\377\002' >a.npy
npy '|i1' False '(2, 1)' '\003\004' >b.npy
exits 'gemm reads integers' 0 gemm --datapath int8 --a a.npy --b b.npy --seconds 0 --out c.npy
[ "$(tail -c 8 c.npy | od -An -tx1 | xargs)" = '00 00 00 00 00 00 14 40' ]
verdict $? 'gemm: -1 3 + 2 4 is 5'
npy '|u1' False '(2,)' '\070\176' >a.npy
exits 'block reads codes' 0 block --format mxfp8 --from npy:e4m3 --to npy --out c.npy a.npy
[ "$(tail -c 8 c.npy | od -An -tx1 | xargs)" = '00 00 80 3f 00 00 e0 43' ]
verdict $? 'block: 1 and 448'

# ---- ulp compare ----

npy '<f4' False '(2, 3)' '\000\000\200\077\000\000\000\100\000\000\000\200\000\000\300\177\000\000\200\177\000\000\100\100' >a.npy # 1 2 -0 nan inf 3
npy '<f4' False '(2, 3)' '\000\000\200\077\000\000\020\100\000\000\000\000\000\000\300\177\000\000\200\177\000\000\000\300' >b.npy # 1 2.25 0 nan inf -2
exits 'compare finds differences' 1 compare --format e4m3 a.npy b.npy
says 'compare: distances' '^  1 *1$' out
says 'compare: the zeros' '^zeros *1 of different signs' out
says 'compare: the largest distance' '^ulps *132 at element (1, 2): 3 and -2$' out
says 'compare: the largest relative error' '^relative *1.66666667 at element (1, 2): 3 and -2$' out
exits 'compare: a distance that passes' 0 compare --format e4m3 --ulps 132 a.npy b.npy
exits 'compare: equal arrays' 0 compare --format fp16 a.npy a.npy
says 'compare: counts' '^elements *6, equal 6$' out
npy '<f4' False '(2, 3)' '\000\000\200\077\000\000\300\177\000\000\000\200\000\000\300\177\000\000\200\377\000\000\100\100' >d.npy # 1 nan -0 nan -inf 3
exits 'compare: NaN and Inf apart' 1 compare --format fp32 a.npy d.npy
says 'compare: the first NaN' '^nan *1 in one array alone, first at element (0, 1)$' out
says 'compare: the first Inf' '^inf *1 in one array alone, or of different signs, first at element (1, 1)$' out
npy '<f4' False '(1,)' '\315\314\314\075' >c.npy
refuses 'compare: a number of another format' 'is no number of e4m3, the format of both arrays; round them first: ulp round --format e4m3' compare --format e4m3 c.npy c.npy
refuses 'compare: other shapes' 'has the shape (1,) and a.npy has (2, 3)' compare --format fp32 c.npy a.npy
refuses 'compare: one array' '1 is named' compare --format fp32 c.npy
npy '|i1' False '(3,)' '\200\377\177' >a.npy
npy '|i1' False '(3,)' '\201\001\200' >b.npy
exits 'compare: integers' 1 compare --format int8 a.npy b.npy
says 'compare: the largest distance of integers' '^ulps *255 at element (2,): 127 and -128$' out
exit $failed
