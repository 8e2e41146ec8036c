#!/bin/sh
# tool_round.sh - ulp round and ulp arith: results computed by hand, unusual lines, bad input.
. tests/programs/tool_support.sh

# ---- round ----

gives 'binary32 42c80000 (100) in e4m3' 0 '42c80000\n' '6c\n' round --format e4m3 --from f32
gives '65520 overflows binary16 to Inf' 0 '477ff000\n' '7c00\n' round --format fp16 --from f32
gives '65520 toward zero stays' 0 '477ff000\n' '7bff\n' round --format fp16 --mode rz --from f32
gives '0.01 in binary16, code and value' 0 '0.01\n' '211f 0.01000213623046875\n' round --format fp16 --from text --to both
gives '464 is a tie of e4m3 and stays' 0 '43e80000\n' '7e\n' round --format e4m3 --overflow inf --from f32
gives 'above 464 e4m3 overflows to NaN' 0 '43e80001\n' '7f\n' round --format e4m3 --overflow inf --from f32
gives 'e4m3 saturates by default' 0 '43e80001\nc7c35000\n7f800000\n' '7e\nfe\n7e\n' round --format e4m3 --from f32
gives 'overflow to NaN on request' 0 '1e9\ninf\n448\n' '7f\n7f\n7e\n' round --format e4m3 --overflow nan
gives 'NaN payloads of both kinds and signs stay NaN' 0 '7fc00000\nffc00001\n7f800001\nffbfffff\n7fffffff\n' '7e00\n7e00\n7e00\n7e00\n7e00\n' round --format fp16 --from f32
gives 'NaN payloads of binary64' 0 '7ff0000000000001\nfff8000000000000\n' 'nan\nnan\n' round --format e4m3 --from f64 --to value
gives '-1e-30 keeps its sign in binary16' 0 '-1e-30\n' '8000 -0\n' round --format fp16 --to both
gives '-1e-30 has none in q8.8' 0 '-1e-30\n' '0000 0\n' round --format q8.8 --to both
gives 'negative zero' 0 '-0\n0\n-0.0\n' '8000 -0\n0000 0\n8000 -0\n' round --format fp16 --to both
gives 'infinities' 0 'inf\n-inf\nInfinity\n' '7c00 inf\nfc00 -inf\n7c00 inf\n' round --format fp16 --to both
gives 'decimals beyond binary64' 0 '1e999\n-1e999\n1e-999\n' '7c00\nfc00\n0000\n' round --format fp16
gives 'hex floats and signs' 0 '0x1p-3\n+1.5\n0X1.8P1\n' '3000\n3e00\n4200\n' round --format fp16
gives 'codes are padded to their width' 0 '0\n6\n-6\n' '0\n7\nf\n' round --format e2m1
gives 'a 19-bit code has five digits' 0 '1\n' '1fc00\n' round --format tf32
gives 'binary64 passes unchanged' 0 '3ff0000000000001\n0000000000000001\n' '3ff0000000000001\n0000000000000001\n' round --format fp64 --from f64
# a text is an exact number, rounded once
gives 'infinity over zero raises no flag' 0 '7c00 0000\n' '7c00 -\n' arith --format fp16 --op div --flags
gives 'just above the middle' 0 '2049.00000000000000001\n2049\n2048.99999999999999999\n0x801.0000000000000000000000001\n' '6801\n6800\n6800\n6801\n' round --format fp16
gives 'just above the middle of binary32' 0 '8.8817857851880284252e-16\n' '26800001\n' round --format fp32
gives 'below 0.1' 0 '0.1\n' '0.099999999999999992\n' round --format fp64 --mode rd --to value
gives 'beyond binary64, toward zero' 0 '1e400\n-1e-400\n' '7bff\n8000\n' round --format fp16 --mode rz
gives 'beyond 2^128, modulo 2^16' 0 '340282366920938463463374607431768211457.25\n1e30\n' '1.25\n0\n' round --format q16.16:wrap --to value
head -c 100001 /dev/zero | tr '\0' 7 >long
refuses 'a number of more than 100000 characters' 'long:1: a number of 100001 characters: at most 100000 are read' round --format fp16 long
tail -c 100000 long >short
prints 'a number of 100000 characters' '^7c00$' round --format fp16 short
gives 'values with 17 digits' 0 '0.1\n' '0.10000000000000001\n' round --format fp64 --to value
gives 'fixed point: ties, ends, two-s complement' 0 '2.5\n-2.5\n200\n-200\n' '02\nfe\n7f\n80\n' round --format int8
gives 'fixed point wraps around on request' 0 '128\n-129\n256\n' '80\n7f\n00\n' round --format int8 --overflow wrap
gives 'a suffix says the same' 0 '128\n-129\n256\n' '80\n7f\n00\n' round --format q8.0:wrap
gives 'no subnormals on request' 0 '0x1p-15\n0x1.8p-15\n' '0000\n0400\n' round --format fp16:nosub
for mode in rne=3c00,bc00 rna=3c01,bc01 rz=3c00,bc00 ru=3c01,bc00 rd=3c00,bc01 ro=3c01,bc01 rnu=3c01,bc00 rnz=3c00,bc00 rnd=3c00,bc01; do
    gives "a tie, ${mode%%=*}" 0 '1.00048828125\n-1.00048828125\n' "$(echo ${mode#*=} | tr , '\n')\n" round --format fp16 --mode ${mode%%=*}
done
gives 'ties up, as AP_RND of ap_fixed and round half up' 0 '0.5\n1.5\n-0.5\n-1.5\n-2.5\n' '1\n2\n0\n-1\n-2\n' round --format int8 --mode rnu --to value
gives 'ties toward zero, AP_RND_ZERO' 0 '0.5\n1.5\n-0.5\n-1.5\n0.50001\n' '0\n1\n0\n-1\n1\n' round --format int8 --mode rnz --to value
gives 'ties down, AP_RND_MIN_INF' 0 '0.5\n1.5\n-0.5\n-1.5\n-2.5\n' '0\n1\n-1\n-2\n-3\n' round --format int8 --mode rnd --to value
gives 'no sign: the ends of uq8.0' 0 '255\n255.5\n1e9\n-0.4\n-3\ninf\n-inf\n' 'ff\nff\nff\n00\n00\nff\n00\n' round --format uq8.0
gives 'uint8 is uq8.0, and wraps around on request' 0 '256\n-1\n1e30\n257.5\n' '00\nff\n00\n02\n' round --format UINT8:wrap
gives '1 in uq0.8 is the largest number below it' 0 '1\n0.5\n-0.25\n' 'ff 0.99609375\n80 0.5\n00 0\n' round --format uq0.8 --to both
gives 'bits that begin after the point' 0 '0.1\n0.125\n0.12451171875\n-1\n' '66 0.099609375\n7f 0.1240234375\n7f 0.1240234375\n80 -0.125\n' round --format q-2.10 --to both
gives '53 bits' 0 '4503599627370495.25\n4503599627370496\n-1e99\n' '0fffffffffffff\n0fffffffffffff\n10000000000000\n' round --format q53.0
gives '53 bits without a sign' 0 '9007199254740991.499\n9007199254740990.5\n1e17\n' '1fffffffffffff\n1ffffffffffffe\n1fffffffffffff\n' round --format uq53.0
gives 'symmetric saturation' 0 '-128\n-127.4\n128\n-inf\n' '81\n81\n7f\n81\n' round --format int8:sym
gives 'saturation to zero' 0 '-128\n-129\n127.5\ninf\n' '80\n00\n00\n00\n' round --format int8 --overflow zero
gives 'overflow to zero keeps the sign where there is one' 0 '1e9\n-1e9\n448\n' '00\n80\n7e\n' round --format e4m3:zero
refuses '54 bits' 'q54.0: out of range: .*kept as binary64' round --format q54.0
refuses '64 bits' 'uq0.64: out of range: .*kept as binary64' round --format uq0.64
refuses 'two policies' 'no format' round --format int8:sym:sat

gives 'subnormals without and with a flush of results' 0 '0x1p-20\n-0x1p-20\n0x0.ffe8p-14\n0x0.fffp-14\n' '0000\n8000\n0000\n0400\n' round --format fp16:ftz
gives 'a flush of operands: only the number counts' 0 '0x1p-20\n-0x1p-20\n0x0.ffffp-14\n0x1p-14\n' '0000 -\n8000 -\n0000 -\n0400 -\n' round --format fp16:daz --flags
gives 'a flushed result underflows' 0 '0x1p-20\n' '0000 underflow|inexact\n' round --format fp16:ftz --flags
gives 'operands of an operation that are flushed' 0 '0001 0400\n8001 8001\n0001 3c00\n' '0400\n8000\n3c00\n' arith --format fp16:daz:ftz --op add
refuses 'a flush in fixed point' 'only formats with subnormals take :nosub, :daz and :ftz' round --format q8.8:ftz
refuses 'two flushes' 'no format' round --format fp16:ftz:ftz
refuses 'a sum of products in a format that flushes' 'fp16:ftz\|not offered' gemm --datapath serial:fp16:ftz:rne --m 2 --n 2 --k 2

# ---- exceptions ----

gives 'the exceptions of a rounding' 0 '65520\n1e-8\n1\n0.1\n-1e-30\nnan\ninf\n1e999\n' '7c00 overflow|inexact\n0000 underflow|inexact\n3c00 -\n2e66 inexact\n8000 underflow|inexact\n7e00 -\n7c00 -\n7c00 overflow|inexact\n' round --format fp16 --flags
gives 'tininess is detected after rounding' 0 '0x0.ffep-14\n0x0.ffe8p-14\n0x0.fffp-14\n' '0400 underflow|inexact\n0400 underflow|inexact\n0400 inexact\n' round --format fp16 --flags
gives 'a subnormal that is exact raises nothing' 0 '0x1p-24\n' '0001 5.9604644775390625e-08 -\n' round --format fp16 --flags --to both
gives 'exceptions of bits' 0 '3f800000\n00000001\n' '3c00 -\n0000 underflow|inexact\n' round --format fp16 --from f32 --flags
gives 'exceptions where the result saturates' 0 '500\n-1\n' 'ff overflow|inexact\n00 overflow|inexact\n' round --format uq8.0 --flags
gives 'exceptions where the result wraps' 0 '256\n1e30\n2.5\n' '00 overflow|inexact\n00 overflow|inexact\n02 inexact\n' round --format uq8.0:wrap --flags
refuses '--flags of binary output' '--flags ends lines of text' round --format fp16 --flags --to npy --out x.npy
refuses '--flags of binary input' '--flags ends lines of text' round --format fp16 --flags --from f32le

gives 'options with an equals sign' 0 '1\n' '3c00 1\n' round --format=fp16 --to=both --from=text
gives 'case of names does not matter' 0 '1\n' '38\n' round --format E4M3FN

# Random123's known words for key 0, counter 0 are 6627e8d5 e169c58d bc57ac4c 9b00dbd8; words from 80000000 on round half a unit up
half='1.00048828125\n'
gives 'stochastic: the word of line i' 0 "$half$half$half$half" '3c00\n3c01\n3c01\n3c01\n' round --format fp16 --mode sr --seed 0
gives 'stochastic: comments and blank lines take no word' 0 "# a\n$half\n   \n$half# b\n\n$half$half" '3c00\n3c01\n3c01\n3c01\n' round --format fp16 --mode sr --seed 0
gives 'stochastic: the default seed is 1' 0 "$half$half$half$half$half$half$half$half" '3c01\n3c01\n3c01\n3c01\n3c01\n3c01\n3c00\n3c01\n' round --format fp16 --mode sra
gives 'stochastic: seeds and streams of 64 bits' 0 "$half$half$half$half$half$half$half$half" '3c00\n3c00\n3c01\n3c01\n3c00\n3c01\n3c00\n3c01\n' round --format fp16 --mode sra --seed 8589934592 --stream 4294967303
printf "$half$half" >two
gives 'stochastic: lines count through all files' 0 '' '3c00\n3c01\n3c01\n3c01\n' round --format fp16 --mode sr --seed 0 two two
gives 'stochastic: one bit' 0 "$half$half$half$half" '3c00\n3c01\n3c01\n3c01\n' round --format fp16 --mode srb --bits 1 --seed 0
gives 'stochastic: an exact value stays' 0 '1\n1\n1\n1\n' '3c00\n3c00\n3c00\n3c00\n' round --format fp16 --mode src

# more lines than are rounded at once
awk 'BEGIN { for (i = 0; i < 9000; i++) printf i % 7 ? "1.00048828125\n" : " 1.00048828125\t\n# odd\n" }' >many
"$ULP" round --format fp16 --mode sr --seed 3 many >all
holds 'sr rounds 9000 lines both ways' [ "$(sort all | uniq -c | wc -l)" -eq 2 ]
for first in 0 1 4095 4096 4097 8999; do
    { yes 5 | head -n $first; awk -v first=$first '/^ *1/ && n++ >= first' many; } | "$ULP" round --format fp16 --mode sr --seed 3 >part
    tail -n +$((first + 1)) all >want
    tail -n +$((first + 1)) part | cmp -s - want && [ -s want ]
    verdict $? "a line has the word of its place, however the $first lines before it look"
done
{ yes 1 | head -n 5000; echo nan; yes 1 | head -n 5000; echo x; } | "$ULP" round --format e2m1 >out 2>err
[ $? -eq 2 ] && [ "$(wc -l <out)" -eq 5000 ] && grep -q '^ulp round: stdin:5001: the result, nan, has no code' err
verdict $? 'a result without a code far behind: what came before, and its line'
{ yes 1 | head -n 5000; echo x; echo nan; } | "$ULP" round --format e2m1 >out 2>err
[ $? -eq 2 ] && [ "$(wc -l <out)" -eq 5000 ] && grep -q "^ulp round: stdin:5001: 'x' is no number" err
verdict $? 'a bad line far behind: the same'
printf '1\nnan' >nan
gives 'a result without a code at the end of a file is of that file' 2 '' '2\n' round --format e2m1 nan many
says 'and named' '^ulp round: nan:2: the result' err
gives 'a result without a code before a bad line' 2 '1\nnan\nx\n' '2\n' round --format e2m1
says 'comes first' 'stdin:2: the result' err
gives 'a result without a code before a zero byte' 2 '1\nnan\n\0001\n' '2\n' round --format e2m1
says 'comes first, too' 'stdin:2: the result' err
gives 'capitals and short exponents' 0 'NaN\n-INF\n1E2\n.5\n5.\n-.5e+1\n' 'nan\n-inf\n100\n0.5\n5\n-5\n' round --format fp16 --to value
for word in . - + e5 1e 1e+ +-1 1e5.5 'nan(1)' 1,5 0x 1_0; do gives "no number: $word" 2 "$word\n" '' round --format fp16; done

# lines
gives 'empty input' 0 '' '' round --format fp16
gives 'only comments' 0 '# 1\n\n   \n#\n' '' round --format fp16
gives 'line ends of DOS' 0 '1\r\n2\r\n\r\n' '3c00\n4000\n' round --format fp16
gives 'no line end at the end' 0 '1\n2' '3c00\n4000\n' round --format fp16
gives 'spaces and tabs around' 0 '  1\t \n\t2\n' '3c00\n4000\n' round --format fp16
gives 'a bad line ends it, with what came before' 2 '1\n# c\n\n2\nx\n3\n' '3c00\n4000\n' round --format fp16
says 'and the line is named' 'stdin:5: ' err
gives 'two numbers on a line' 2 '1 2\n' '' round --format fp16
gives 'a number and more' 2 '1x\n' '' round --format fp16
gives 'too few digits of binary32' 2 '42c8000\n' '' round --format fp16 --from f32
gives 'too many digits of binary32' 2 '42c800000\n' '' round --format fp16 --from f32
gives 'no hex' 2 '42c8000g\n' '' round --format fp16 --from f32
gives 'a sign before hex' 2 '-2c80000\n' '' round --format fp16 --from f32
gives '0x before hex does not count as digits' 2 '0x42c800\n' '' round --format fp16 --from f32
gives 'a zero byte' 2 '1\n2\0003\n' '3c00\n' round --format fp16
gives 'NaN has no code in e2m1' 2 '1\nnan\n' '2\n' round --format e2m1
says 'and the reason is given' 'stdin:2: .*NaN' err
gives 'but NaN is a value there' 0 'nan\n' 'nan\n' round --format e2m1 --to value
gives 'e8m0: negative values have no code but an end' 0 '-1\n0\n3\n' '00\n00\n80\n' round --format e8m0
head -c 100000 /dev/zero | tr '\0' 1 >long
exits 'a line of 100000 digits' 0 round --format fp16 long
head -c 3000 /dev/urandom >noise
"$ULP" round --format fp16 noise >out 2>err
[ $? -eq 2 ]
verdict $? 'noise is refused'
printf '1\n' >one
printf '2\nbad\n' >bad
gives 'files in order, - is stdin' 0 '3\n' '3c00\n4200\n3c00\n' round --format fp16 one - one
gives 'a bad line of a file' 2 '' '3c00\n4000\n' round --format fp16 one bad one
says 'file and line are named' 'bad:2: ' err
gives 'a missing file' 2 '' '3c00\n' round --format fp16 one missing
says 'it is named' 'cannot read missing: No such file or directory$' err
for word in 0.1 -3; do
    refuses "the number $word as an argument" "numbers come on standard input: echo $word | ulp round " round --format fp16 $word
done
refuses 'a code as an argument' 'echo 3c00 | ulp arith ' arith --format fp16 --op sqrt 3c00
refuses 'a file without a name' 'the name of a file is empty' round --format fp16 ''
exits 'a folder is no file' 2 round --format fp16 .
says 'a folder is no file: says why' '^ulp round: cannot read \.: it is a folder' err
cp one ./-x
gives 'a file whose name begins with a dash, behind --' 0 '' '3c00\n' round --format fp16 -- -x
{ echo 1; head -c 16777215 /dev/zero | tr '\0' ' '; echo 2; echo 3; } >limit
gives 'a line of 16 MiB' 0 '' '3c00\n4000\n4200\n' round --format fp16 limit
{ echo 1; head -c 16777216 /dev/zero | tr '\0' ' '; echo 2; echo 3; } >limit
gives 'a longer one ends it, with what came before' 2 '' '3c00\n' round --format fp16 limit
says 'a longer line: its number and the limit are named' 'limit:2: the line is longer than 16 MiB' err
rm limit
# little SIZE ARGUMENT...: run the tool in SIZE KiB of address space; its output is in `out` and `err`
little() { (ulimit -v $1 && shift && exec "$ULP" "$@") >out 2>err; }
if little 300000 formats; then
    { echo 1; head -c 400000000 /dev/zero | tr '\0' 1; echo; echo 2; } | little 300000 round --format fp16
    [ $? -eq 2 ] && [ "$(cat out)" = 3c00 ] && grep -q 'stdin:2: the line is longer' err
    verdict $? 'a line longer than memory is refused'
    little 300000 round --format fp16 /dev/zero
    [ $? -eq 2 ] && grep -q '/dev/zero:1: the line holds a zero byte' err
    verdict $? 'an endless file of zeros is refused'
    { echo 0; yes 0 | head -c 15999998 | tr '\n' ' '; echo; } | little 100000 dot --datapath serial:fp16:rne
    [ $? -eq 1 ] && [ "$(cat out)" = 0000 ] && grep -q '^ulp dot: stdin:2: out of memory' err
    verdict $? 'no memory for the codes of a line: exit 1 and why'
    little 300000 gemm --datapath fp32 --m 8192 --n 8192 --k 8192
    [ $? -eq 1 ] && [ ! -s out ] && [ "$(cat err)" = 'ulp gemm: out of memory for m 8192, n 8192, k 8192; smaller --m, --n, --k need less' ]
    verdict $? 'no memory for a matrix: exit 1, and what to do'
    little 300000 gemm --datapath serial:fp64:rne --m 4500 --n 4500 --k 1
    [ $? -eq 1 ] && [ ! -s out ] && grep -q '^ulp gemm: out of memory for m 4500' err
    verdict $? 'no memory for the product: the same'
    little 400000 gemm --datapath fp32 --m 1 --n 1 --k 6000000 --threads 2
    case $? in
    0) says 'a long sum in little memory' '^checksum' out ;;
    1) says 'a long sum in little memory' '^ulp gemm: out of memory' err ;;
    *) verdict 1 'a long sum in little memory' ;;
    esac
else
    skip 'lines and little memory' 'this build does not start in 300 MB'
fi

refuses 'no format' '--format' round
refuses 'an unknown format' "no format 'fp17'; did you mean 'fp16'?" round --format fp17
says 'an unknown format: where the list is' '`ulp help formats` lists them' err
refuses 'a format out of range' 'e12m3: out of range: eXmY takes X from 1 to 11 and Y from 0 to 52' round --format e12m3
refuses 'fixed point out of range' 'q40.20: out of range: qI.F.* take I from -32 and I + F from 1 to 53: values are kept as binary64' round --format q40.20
refuses 'an empty format' 'no format' round --format ''
refuses 'a bad suffix' 'no format' round --format fp16:foo
refuses 'wrap on floating point' 'wrap' round --format fp16 --overflow wrap
refuses 'an unknown mode' 'known: rne rna .*`ulp help modes`' round --format fp16 --mode up
refuses 'an unknown policy' 'saturate' round --format fp16 --overflow saturate
refuses 'an unknown --from' 'known: text f32 f64' round --format fp16 --from f16
refuses 'an unknown --to' 'hex' round --format fp16 --to hex
for mode in rne rna rz ru rd ro rnu rnz rnd; do refuses "--bits with $mode" "random bits are of the stochastic modes.*not of $mode" round --format fp16 --mode $mode --bits 8; done
refuses '--bits without a mode' 'not of rne' round --format fp16 --bits 32
for bits in 0 33 -1 x 1.5 99999999999999999999; do refuses "--bits $bits" 'from 1 to 32' round --format fp16 --bits $bits; done
refuses 'a seed beyond 64 bits' 'whole number' round --format fp16 --seed 18446744073709551616
refuses 'an option without its value' 'needs a value' round --format
refuses 'an option of another command' 'no option --op' round --format fp16 --op add
refuses 'an option that is almost right' 'did you mean --format?' round --fromat fp16
refuses 'an option given twice' "format is given twice: 'fp16' and 'bf16'" round --format fp16 --format bf16
refuses 'a flag given twice' 'csv is given twice' formats --csv --csv
refuses 'a long word' 'zzz\.\.\. (100000 characters)' round --format "$(head -c 100000 /dev/zero | tr '\0' z)"
holds 'a long word is not echoed whole' [ "$(wc -c <err)" -lt 1000 ]
gives 'seeds like 1e3 and 0x3e8' 0 "$half$half$half$half" "$(printf "$half$half$half$half" | "$ULP" round --format fp16 --mode sr --seed 1000)\n" round --format fp16 --mode sr --seed 1e3
gives 'the same in hex' 0 "$half$half$half$half" "$(cat out)\n" round --format fp16 --mode sr --seed 0x3e8
gives 'a byte order mark and line ends of DOS' 0 '\357\273\2771\r\n2\r\n' '3c00\n4000\n' round --format fp16
gives 'a byte order mark inside a file is no number' 2 '1\n\357\273\2772\n' '3c00\n' round --format fp16
for variable in ULPLAB_ISA=foo ULPLAB_DATA=no/such/folder OMP_NUM_THREADS=many; do
    echo 1 | env "$variable" "$ULP" round --format fp16 >out 2>err
    [ $? -eq 2 ] && [ ! -s out ] && grep -q "^ulp round: $variable: " err
    verdict $? "$variable ulp round is refused"
done

# ---- convert ----

gives 'two values of cvt.rs share one word' 0 '10000000 0x1.002p0 0x1.002p0\n0fff1000 0x1.002p0 0x1.002p0\n' '3c01 3c00\n3c00 3c01\n' convert --by cvt.rs.f16x2
gives 'one value, and a value beyond the range' 0 'ffffffff 70000\n' '7c00\n' convert --by cvt.rs.f16x2
gives 'a bias of 8 bits' 0 '7f 1.125\n80 1.125\n' '3c\n3d\n' convert --by vcvtbiasph2bf8
gives 'saturation, without a random word' 0 '1e9 -inf\n' '7e fe\n' convert --by cvt.rn.satfinite.e4m3x2
refuses 'an unknown conversion' "no conversion 'cvt.rs.f16'; did you mean cvt.rs.f16x2?" convert --by cvt.rs.f16
refuses 'no conversion' '--by NAME is needed' convert
gives 'a random word that is none' 2 'zz 1\n' '' convert --by cvt.rs.f16x2
says 'it is named' "'zz' is no random word" err
gives 'a value that binary16 does not hold' 2 '00 1.0001\n' '' convert --by vcvtbiasph2bf8
says 'it is named, too' "'1.0001' is no number of binary16" err
gives 'three values for two' 2 '0 1 2 3\n' '' convert --by cvt.rs.f16x2
gives 'no value' 2 '0\n' '' convert --by cvt.rs.f16x2

# ---- convert ----

gives 'VCVTNEPS2BF16 takes subnormal numbers for zero' 0 '0x1.01p0 0x1.03p0 -0x1p-127 0x1p-126\n0x1.fffffep127 -0 nan inf\n' '3f80 3f82 8000 0080\n7f80 8000 7fc0 7f80\n' convert --by vcvtneps2bf16

# ---- arith ----

gives '1 + 2^-10' 0 '3c00 1400\n' '3c01\n' arith --format fp16 --op add
gives '1 + 2^-11 is a tie' 0 '3c00,1000\n3c01, 1000\n' '3c00\n3c02\n' arith --format fp16 --op add
gives '1 - 1, to nearest and down' 0 '3c00 3c00\n' '0000\n' arith --format fp16 --op sub
gives '1 - 1 down is -0' 0 '3c00 3c00\n' '8000\n' arith --format fp16 --op sub --mode rd
gives '1.5 1.5 in e4m3' 0 '3c 3c\n' '41\n' arith --format e4m3 --op mul
gives '1 / 3 in e4m3 is 0.34375' 0 '38 44\n' '2b\n' arith --format e4m3 --op div
gives '1 / 0, -1 / 0, 0 / 0' 0 '3c00 0000\nbc00 0000\n0000 0000\n' '7c00\nfc00\n7e00\n' arith --format fp16 --op div
gives 'sqrt 2, sqrt 4, sqrt -1, sqrt -0' 0 '4000\n4400\nbc00\n8000\n' '3da8\n4000\n7e00\n8000\n' arith --format fp16 --op sqrt
gives 'e, 1/e, e^0, e^inf' 0 '3c00\nbc00\n0000\n7c00\n' '4170\n35e3\n3c00\n7c00\n' arith --format fp16 --op exp
gives 'e upward, in binary32' 0 '3f800000\n' '402df855\n' arith --format fp32 --op exp --mode ru
gives 'log2 8, log2 0, log2 -1' 0 '4800\n0000\nbc00\n' '4200\nfc00\n7e00\n' arith --format fp16 --op log2
gives 'gelu 1 by erf' 0 '3f800000\n' '3f57625f\n' arith --format fp32 --op gelu
gives 'gelu 1 by tanh' 0 '3f800000\n' '3f57585c\n' arith --format fp32 --op gelu_tanh
gives 'a function of two numbers' 2 '3c00 3c00\n' '' arith --format fp16 --op tanh
says 'it is counted, too' 'tanh takes 1 operand, the line has 2' err
refuses 'exp with wrap-around' '--op exp is not offered with wrap-around' arith --format q8.8:wrap --op exp
gives '2 3 - 6' 0 '4000 4200 c600\n' '0000\n' arith --format fp16 --op fma
gives 'fixed point 100 + 100 saturates' 0 '64 64\n' '7f\n' arith --format int8 --op add
gives 'fixed point 100 + 100 wraps' 0 '64 64\n' 'c8\n' arith --format int8 --op add --overflow wrap
gives '448 + 448 is NaN without saturation' 0 '7e 7e\n' '7f\n' arith --format e4m3 --op add --overflow inf
gives 'upper case, 0x and short codes' 0 '0x3C00 0X3C00\n1 0\n' '4000\n0001\n' arith --format fp16 --op add
gives 'the exceptions of quotients' 0 '3c00 0000\n0000 0000\n3c00 4200\n7c00 0000\n7bff 0400\n0001 4000\n7e00 0000\n' '7c00 divbyzero\n7e00 invalid\n3555 inexact\n7c00 -\n7c00 overflow|inexact\n0000 underflow|inexact\n7e00 -\n' arith --format fp16 --op div --flags
gives 'the exceptions of infinities and roots' 0 '7c00 fc00\n7c00 7c00\n' '7e00 invalid\n7c00 -\n' arith --format fp16 --op add --flags
gives 'the exception of the root of -1' 0 'bc00\n4000\n4400\n' '7e00 invalid\n3da8 inexact\n4000 -\n' arith --format fp16 --op sqrt --flags
gives 'one operand too few' 2 '3c00 3c00\n3c00\n' '4000\n' arith --format fp16 --op add
says 'it is counted' 'stdin:2: .*2 operands.*1' err
gives 'one operand too many' 2 '3c00 3c00\n' '' arith --format fp16 --op sqrt
gives 'two for fma' 2 '3c00 3c00\n' '' arith --format fp16 --op fma
gives 'a code too wide' 2 '13c00 3c00\n' '' arith --format fp16 --op add
gives 'a code of 7 bits for a format of 6' 2 '40 00\n' '' arith --format e3m2 --op add
gives 'not hex' 2 '3c00 zz\n' '' arith --format fp16 --op add
empty_field() { # empty_field LINE FIELD ARGUMENT...
    line=$1 field=$2
    shift 2
    gives "'$line': an empty field" 2 "$line\n" '' "$@"
    says "'$line': the line and the field are named" "stdin:1: field $field of '.*' is empty" err
}
for pair in 3c00,,1=2 3c00,1,=3 ,3c00,1=1 '3c00 , ,1=2'; do empty_field "${pair%=*}" "${pair#*=}" arith --format fp16 --op add; done
empty_field '3c00,,1' 2 dot --datapath serial:fp16:rne
empty_field '0 38 38, / 80 / 80' 4 dot --datapath b200-e4m3-mx
empty_field '0 38 38 / ,80 / 80' 1 dot --datapath b200-e4m3-mx
empty_field '7f,,7' 2 block --format mxfp4 --decode
gives 'blanks around a comma' 0 '3c00 , 1400\n3c00\t,1400\n' '3c01\n3c01\n' arith --format fp16 --op add
gives 'a quotient that e3m2 has no code for' 2 '00 00\n' '' arith --format e3m2 --op div
refuses 'no operation' '--op' arith --format fp16
refuses 'arith: --bits with rz' 'random bits are of the stochastic modes.*not of rz' arith --format fp16 --op add --mode rz --bits 8
refuses 'arith: --bits without a mode' 'not of rne' arith --format fp16 --op add --bits 32
gives 'arith: one random bit' 0 '3c00 1000\n3c00 1000\n3c00 1000\n3c00 1000\n' '3c00\n3c01\n3c01\n3c01\n' arith --format fp16 --op add --mode srb --bits 1 --seed 0
refuses 'an unknown operation' '^known: add sub mul div sqrt fma exp .* rsqrt reciprocal$' arith --format fp16 --op pow

exit $failed
