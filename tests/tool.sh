#!/bin/sh
# tool.sh - the commands of the tool: results computed by hand, unusual input, bad input, exit codes.
#
# BIN is the folder of the programs (default build/bin). The script prints `ok - ...`, `not ok - ...` or
# `ok - ... # SKIP why`, and fails if a line is not ok.

ULP=$(cd "${BIN:-build/bin}" && pwd)/ulp || exit 2
HARDWARE=$(pwd)/tests/t_hardware.c
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
failed=0
export NO_COLOR=1 LC_ALL=C
unset ULPLAB_ISA OMP_NUM_THREADS

verdict() { # verdict STATUS TEXT
    if [ "$1" -eq 0 ]; then
        echo "ok - $2"
    else
        echo "not ok - $2"
        failed=1
    fi
}
skip() { echo "ok - $1 # SKIP $2"; }

# gives TEXT STATUS INPUT OUTPUT ARGUMENT...: for INPUT the tool prints OUTPUT (both printf formats) and exits with STATUS
gives() {
    text=$1 status=$2 input=$3 output=$4
    shift 4
    printf -- "$input" | "$ULP" "$@" >out 2>err
    got=$?
    printf -- "$output" >want
    if [ $got -ne "$status" ] || ! cmp -s out want; then
        echo "# ulp $*: exit $got, want $status; output, then what it should be, then errors:"
        sed 's/^/#   /' out want err
        verdict 1 "$text"
    else
        verdict 0 "$text"
    fi
}

# exits TEXT STATUS ARGUMENT...: the tool exits with STATUS; its output is in `out` and `err`
exits() {
    text=$1 status=$2
    shift 2
    "$ULP" "$@" >out 2>err </dev/null
    got=$?
    [ $got -eq "$status" ] || { echo "# ulp $*: exit $got, want $status"; sed 's/^/#   /' err; }
    [ $got -eq "$status" ]
    verdict $? "$text"
}
says() { # says TEXT PATTERN FILE
    grep -q -- "$2" "$3" || sed 's/^/#   /' "$3"
    grep -q -- "$2" "$3"
    verdict $? "$1"
}
lacks_cuda() { # lacks_cuda ARGUMENT...: with --backend cuda exit 3, nothing on stdout, a reason on stderr; skipped with a device
    text="$1 --backend cuda"
    "$ULP" "$@" --backend cuda >out 2>err </dev/null
    got=$?
    if [ $got -eq 0 ]; then skip "$text exits 3" 'there is a device'; return; fi
    [ $got -eq 3 ] && [ ! -s out ] && grep -q "^ulp $1: --backend cuda: ." err
    verdict $? "$text exits 3 and says why"
}
refuses() { # refuses TEXT PATTERN ARGUMENT...: exit 2, nothing on stdout, PATTERN on stderr
    text=$1 pattern=$2
    shift 2
    exits "$text" 2 "$@"
    if [ -s out ]; then verdict 1 "$text: nothing on stdout"; fi
    says "$text: says why" "$pattern" err
}

# ---- the program ----

exits 'no command' 2
says 'no command: the commands are listed' ' verify ' err
exits 'an unknown command' 2 nonsense
says 'an unknown command is named' "nonsense" err
exits '--help' 0 --help
says '--help goes to stdout' ' round ' out
says '--help names what the environment sets' '^environment: .*ULPLAB_CUDA_DEVICE' out
exits '--version' 0 --version
says '--version names the version' '^ulp .*[0-9]\.[0-9]' out
for command in formats show round arith dot gemm probe block verify backends; do
    exits "$command --help" 0 $command --help
    says "$command --help shows its options" "^usage: ulp $command" out
    [ "$(awk '{ if (length($0) > n) n = length($0) } END { print n + 0 }' out)" -le 80 ]
    verdict $? "$command --help fits 80 columns"
    if [ $command != formats ]; then # `help formats` is a topic of its own
        cp out help.txt
        exits "help $command" 0 help $command
        cmp out help.txt
        verdict $? "help $command says the same"
    fi
    refuses "$command --nonsense" 'no option --nonsense (--help lists the options)' $command --nonsense
    refuses "$command -x" 'no option -x (--help lists the options)' $command -x
done

exits 'help' 0 help
topics=$(sed -n '/^topics/,/^$/s/^  \([a-z]*\) .*/\1/p' out)
for word in round verify formats modes datapaths reductions policies nets optimizers scalers losses data; do says "help lists $word" "^  $word " out; done
for topic in $topics; do
    for columns in 80 40; do
        COLUMNS=$columns "$ULP" help $topic >out 2>err
        [ $? -eq 0 ] && [ -s out ] && [ "$(awk '{ if (length($0) > n) n = length($0) } END { print n + 0 }' out)" -le $columns ]
        verdict $? "help $topic fits $columns columns"
    done
done
exits 'help formats' 0 help formats
"$ULP" formats --csv | sed 1d | cut -d, -f1 >names
while read -r name; do grep -q "^$name " out || echo "$name"; done <names >wrong
[ -s names ] && [ ! -s wrong ]
verdict $? 'help formats lists every row'
says 'help formats: what is allowed in a name' 'eXmY takes X from 1 to 11' out
exits 'help modes' 0 help modes
for mode in rne rna rz ru rd ro sra srb src; do says "help modes: $mode" "^$mode  *[a-z]" out; done
says 'help modes: the direction of a stochastic mode' '"up" means away from zero' out
exits 'help datapaths' 0 help datapaths
says 'help datapaths: forms' '^serial:FORMAT:MODE ' out
tr ' ' '\n' <out >words
for name in $("$ULP" probe --list | cut -d ' ' -f 1); do grep -qx -- "$name" words || echo "$name"; done >wrong
[ ! -s wrong ]
verdict $? 'help datapaths names every row'
sed -n '/^The tests compare/,$p' out | tr ' ,' '\n\n' | sed 's/\.$//' >words
sed -n 's/^        {"/{"/p' "$HARDWARE" | tr '{' '\n' | sed -n 's/.*, "\([a-z0-9]*-[a-z0-9-]*\)"}.*/\1/p' | sort >measured
grep '^[a-z][a-z0-9]*-[a-z0-9-]*$' words | sort | cmp - measured && [ "$(grep -c . measured)" -gt 10 ]
verdict $? 'help datapaths names the rows that are compared with measurements'
exits 'help policies' 0 help policies
says 'help policies: presets' '^mixed:FORMAT ' out
says 'help policies: keys' '^act ' out
exits 'help nets' 0 help nets
for layer in fc conv gru relu; do says "help nets: $layer" "^$layer" out; done
exits 'help optimizers' 0 help optimizers
says 'help optimizers: adam' '^adam' out
exits 'help data' 0 help data
says 'help data: digits' '^digits ' out
refuses 'help of an unknown topic' "no topic 'fromats'; did you mean formats?" help fromats
refuses 'help of two topics' 'one topic at a time' help modes formats
refuses 'a command that is almost right' "no command 'rouns'; did you mean round?" rouns
refuses 'an option before the command' "'--format' stands before the command, which comes first: ulp round --format" --format fp16 round
refuses 'an option and no command' "'--fast' stands where the command belongs" --fast
for word in --help -h help; do
    exits "help $word" 0 help $word
    says "help $word shows its usage" '^usage: ulp help ' out
done
refuses 'help: an unknown option' 'no option --topic' help --topic
refuses 'help of a command that is almost right' 'did you mean round?' help rouns

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
gives 'values with 17 digits' 0 '0.1\n' '0.10000000000000001\n' round --format fp64 --to value
gives 'fixed point: ties, ends, two-s complement' 0 '2.5\n-2.5\n200\n-200\n' '02\nfe\n7f\n80\n' round --format int8
gives 'fixed point wraps around on request' 0 '128\n-129\n256\n' '80\n7f\n00\n' round --format int8 --overflow wrap
gives 'a suffix says the same' 0 '128\n-129\n256\n' '80\n7f\n00\n' round --format q8.0:wrap
gives 'no subnormals on request' 0 '0x1p-15\n0x1.8p-15\n' '0000\n0400\n' round --format fp16:nosub
for mode in rne=3c00,bc00 rna=3c01,bc01 rz=3c00,bc00 ru=3c01,bc00 rd=3c00,bc01 ro=3c01,bc01; do
    gives "a tie, ${mode%%=*}" 0 '1.00048828125\n-1.00048828125\n' "$(echo ${mode#*=} | tr , '\n')\n" round --format fp16 --mode ${mode%%=*}
done
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
refuses 'fixed point out of range' 'q40.2: out of range: qI.F takes I from 1.* up to 32' round --format q40.2
refuses 'an empty format' 'no format' round --format ''
refuses 'a bad suffix' 'no format' round --format fp16:foo
refuses 'wrap on floating point' 'wrap' round --format fp16 --overflow wrap
refuses 'an unknown mode' 'known: rne rna .*`ulp help modes`' round --format fp16 --mode up
refuses 'an unknown policy' 'saturate' round --format fp16 --overflow saturate
refuses 'an unknown --from' 'known: text f32 f64' round --format fp16 --from f16
refuses 'an unknown --to' 'hex' round --format fp16 --to hex
for mode in rne rna rz ru rd ro; do refuses "--bits with $mode" "random bits are of the stochastic modes.*not of $mode" round --format fp16 --mode $mode --bits 8; done
refuses '--bits without a mode' 'not of rne' round --format fp16 --bits 32
for bits in 0 33 -1 x 1.5 99999999999999999999; do refuses "--bits $bits" 'from 1 to 32' round --format fp16 --bits $bits; done
refuses 'a seed beyond 64 bits' 'whole number' round --format fp16 --seed 18446744073709551616
refuses 'an option without its value' 'needs a value' round --format
refuses 'an option of another command' 'no option --op' round --format fp16 --op add
refuses 'an option that is almost right' 'did you mean --format?' round --fromat fp16
refuses 'an option given twice' "format is given twice: 'fp16' and 'bf16'" round --format fp16 --format bf16
refuses 'a flag given twice' 'csv is given twice' formats --csv --csv
refuses 'a long word' 'zzz\.\.\. (100000 characters)' round --format "$(head -c 100000 /dev/zero | tr '\0' z)"
[ "$(wc -c <err)" -lt 1000 ]
verdict $? 'a long word is not echoed whole'
gives 'seeds like 1e3 and 0x3e8' 0 "$half$half$half$half" "$(printf "$half$half$half$half" | "$ULP" round --format fp16 --mode sr --seed 1000)\n" round --format fp16 --mode sr --seed 1e3
gives 'the same in hex' 0 "$half$half$half$half" "$(cat out)\n" round --format fp16 --mode sr --seed 0x3e8
gives 'a byte order mark and line ends of DOS' 0 '\357\273\2771\r\n2\r\n' '3c00\n4000\n' round --format fp16
gives 'a byte order mark inside a file is no number' 2 '1\n\357\273\2772\n' '3c00\n' round --format fp16
for variable in ULPLAB_ISA=foo ULPLAB_DATA=/nonexistent OMP_NUM_THREADS=many; do
    echo 1 | env "$variable" "$ULP" round --format fp16 >out 2>err
    [ $? -eq 2 ] && [ ! -s out ] && grep -q "^ulp round: $variable: " err
    verdict $? "$variable ulp round is refused"
done

# ---- arith ----

gives '1 + 2^-10' 0 '3c00 1400\n' '3c01\n' arith --format fp16 --op add
gives '1 + 2^-11 is a tie' 0 '3c00,1000\n3c01, 1000\n' '3c00\n3c02\n' arith --format fp16 --op add
gives '1 - 1, to nearest and down' 0 '3c00 3c00\n' '0000\n' arith --format fp16 --op sub
gives '1 - 1 down is -0' 0 '3c00 3c00\n' '8000\n' arith --format fp16 --op sub --mode rd
gives '1.5 1.5 in e4m3' 0 '3c 3c\n' '41\n' arith --format e4m3 --op mul
gives '1 / 3 in e4m3 is 0.34375' 0 '38 44\n' '2b\n' arith --format e4m3 --op div
gives '1 / 0, -1 / 0, 0 / 0' 0 '3c00 0000\nbc00 0000\n0000 0000\n' '7c00\nfc00\n7e00\n' arith --format fp16 --op div
gives 'sqrt 2, sqrt 4, sqrt -1, sqrt -0' 0 '4000\n4400\nbc00\n8000\n' '3da8\n4000\n7e00\n8000\n' arith --format fp16 --op sqrt
gives '2 3 - 6' 0 '4000 4200 c600\n' '0000\n' arith --format fp16 --op fma
gives 'fixed point 100 + 100 saturates' 0 '64 64\n' '7f\n' arith --format int8 --op add
gives 'fixed point 100 + 100 wraps' 0 '64 64\n' 'c8\n' arith --format int8 --op add --overflow wrap
gives '448 + 448 is NaN without saturation' 0 '7e 7e\n' '7f\n' arith --format e4m3 --op add --overflow inf
gives 'upper case, 0x and short codes' 0 '0x3C00 0X3C00\n1 0\n' '4000\n0001\n' arith --format fp16 --op add
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
refuses 'an unknown operation' '^known: add sub mul div sqrt fma$' arith --format fp16 --op pow

# ---- dot ----

gives '1 + 2 3 + 4 5 = 27 in binary16' 0 '3c00 4000 4400 4200 4500\n' '4ec0\n' dot --datapath serial:fp16:rne
gives 'the order counts: 2048 + 1 + 1' 0 '0000 6800 3c00 3c00 3c00 3c00 3c00\n' '6800\n' dot --datapath serial:fp16:rne
gives 'the other way round: 1 + 1 + 2048' 0 '0000 3c00 3c00 6800 3c00 3c00 3c00\n' '6801\n' dot --datapath serial:fp16:rne
gives 'binary16 products in binary32: 2048 + 1 + 1' 0 '00000000 6800 3c00 3c00 3c00 3c00 3c00\n' '45002000\n' dot --datapath fp32 --in fp16
gives 'no products' 0 '3c00\n' '3c00\n' dot --datapath serial:fp16:rne
gives 'e4m3 in binary16' 0 '0000 7e 7e\n' '7c00\n' dot --datapath serial:fp16:rne --in e4m3
gives 'stochastic: step j of line i takes word i k + j' 0 '3c00 1000 3c00\n3c00 1000 3c00\n3c00 1000 3c00\n' '3c00\n3c01\n3c01\n' dot --datapath serial:fp16:sr --seed 0
first='3c00 1000 0000 3c00 3c00\n' second='3c00 0000 1000 3c00 3c00\n'
gives 'stochastic: the first of two products' 0 "$first$first$first$first" '3c00\n3c01\n3c00\n3c00\n' dot --datapath serial:fp16:sr --seed 8589934592 --stream 4294967303
gives 'stochastic: the second of two products' 0 "$second$second$second$second" '3c00\n3c01\n3c01\n3c01\n' dot --datapath serial:fp16:sr --seed 8589934592 --stream 4294967303
gives 'an even number of codes' 2 '3c00 3c00\n' '' dot --datapath serial:fp16:rne
refuses 'no datapath' '--datapath' dot
refuses 'an unknown datapath' "--datapath: no datapath 'warp'$" dot --datapath warp
says 'an unknown datapath: where the list is' '`ulp help datapaths` lists them' err
refuses 'a datapath that is almost right' 'h100-fp16' dot --datapath h100-pf16
refuses 'a block that is too long' 'block65:fp16:rne: .*; blockN: N is 1 to 64$' dot --datapath block65:fp16:rne
refuses 'a block without products' 'blockN: N is 1 to 64$' dot --datapath block0:fp16:rne
refuses 'an empty datapath' "--datapath: no datapath ''$" dot --datapath ''
refuses 'a datapath that is a colon' "--datapath: no datapath ':'" dot --datapath :
refuses 'a datapath that ends in a colon' 'nothing follows the last colon' dot --datapath h100-fp16:
for bits in ' 8' +8; do refuses "random bits '$bits'" "no mode 'sr/$bits'" dot --datapath "serial:fp16:sr/$bits"; done
refuses 'a datapath with a bad mode' "no mode 'up'" dot --datapath serial:fp16:up
refuses 'a setting without a value' 'F needs a value, as F=...: a whole number from 0 to 40' dot --datapath h100-fp16:F
refuses 'random bits of a mode without' "no mode 'rne/8'" dot --datapath serial:fp16:rne/8
refuses 'random bits out of range' 'out of range' dot --datapath serial:fp16:sr/33
gives 'a Tensor Core: 1 - 1 + 2^-25 keeps 25 bits, 2^-26 is lost' 0 '00000000 3c00 bc00 0800 3c00 3c00 0c00\n00000000 3c00 bc00 0800 3c00 3c00 0800\n' '33000000\n00000000\n' dot --datapath h100-fp16
gives 'mixed inputs: 1 x 1 in e4m3 x e5m2' 0 '0 38 3c\n' '3f800000\n' dot --datapath h100-e4m3.e5m2
gives 'mixed inputs the other way round' 0 '0 3c 38\n' '3f800000\n' dot --datapath h100-e5m2.e4m3
gives 'integers in two-s complement: -127 + 16384' 0 '00000000 ff 80 7f 80\n' '00003f81\n' dot --datapath int8
gives 'a negative integer result' 0 'ffffffff ff 01\n' 'fffffffe\n' dot --datapath int8
gives 'block scales: 1 x 1 with 2 and 2, c is not scaled' 0 '3f800000 38 38 / 80 / 80\n' '40a00000\n' dot --datapath b200-e4m3-mx
gives 'block scales are ones unless given' 0 '3f800000 38 38\n' '40000000\n' dot --datapath b200-e4m3-mx
gives 'a NaN scale' 0 '0 38 38 / ff / 7f\n' '7fffffff\n' dot --datapath b200-e4m3-mx
gives 'scales of one side only' 2 '0 38 38 / 80\n' '' dot --datapath b200-e4m3-mx
gives 'too many scales' 2 '0 38 38 / 80 80 / 80\n' '' dot --datapath b200-e4m3-mx
gives 'scales of a datapath without' 2 '0 38 38 / 80 / 80\n' '' dot --datapath h100-e4m3
gives 'a code too wide for the input format' 2 '0 138 38\n' '' dot --datapath h100-e4m3
gives 'a code of b that a would take' 2 '0 38 10\n' '' dot --datapath b200-e4m3.e2m1
refuses '--in that contradicts the row' 'takes a in binary16' dot --datapath h100-fp16 --in bf16
refuses '--in for mixed inputs' 'takes a in e4m3' dot --datapath h100-e4m3.e5m2 --in e4m3
exits 'dot --help names the datapaths' 0 dot --help
says 'dot --help: Tensor Cores' 'h100-e4m3.e5m2' out

# ---- gemm ----

shape='--m 17 --n 9 --k 70 --seconds 0'
for d in fp32 h100-fp16 h100-e4m3.e5m2 h100-e4m3-mma a100-tf32 b200-e2m1-nvf4 b200-e4m3-mx int8 serial:fp64:rne serial:fp16:sr kahan:bf16:rne; do
    exits "gemm $d" 0 gemm --datapath $d $shape --threads 1
    grep -v '^time' out >one
    "$ULP" gemm --datapath $d $shape --threads 3 2>err | grep -v '^time' >three
    cmp -s one three && grep -q '^checksum    [0-9a-f]\{16\},' one
    verdict $? "gemm $d: the same with 3 threads"
    ULPLAB_ISA=baseline "$ULP" gemm --datapath $d $shape 2>err | grep -v '^time' >three
    cmp -s one three
    verdict $? "gemm $d: the same with ULPLAB_ISA=baseline"
done
for d in fp32 serial:fp16:rne serial:bf16:sr kahan:fp16:rne a100-fp16 h100-e4m3 b200-e4m3-mx b200-e2m1-nvf4 int8; do
    "$ULP" gemm --datapath $d --m 33 --n 65 --k 70 --seconds 0 2>err | grep -v '^time' >one
    for tile in 1x1 3x5 7x13 31x33; do
        "$ULP" gemm --datapath $d --m 33 --n 65 --k 70 --seconds 0 --tile $tile 2>err | grep -v '^time' >three
        cmp -s one three
        verdict $? "gemm $d: the same in tiles of $tile"
    done
done
for tile in 0x4 4 x4 4x 4x5x6 -1x4 4x-1; do refuses "gemm: --tile $tile" 'as in 7x13' gemm --datapath fp32 --tile "$tile"; done
exits 'gemm --backend cpu' 0 gemm --datapath fp32 $shape --backend cpu
says 'gemm: the last line names the machine' '^time .*, cpu [a-z0-9]*, ' out
refuses 'gemm: --seconds -1' '-1' gemm --datapath fp32 --seconds -1
exits 'gemm with one thread' 0 gemm --datapath fp32 $shape --threads 1
says 'gemm: one thread is no plural' ', 1 thread$' out
refuses 'gemm: an unknown backend' 'known: cpu cuda' gemm --datapath fp32 --backend tpu
lacks_cuda gemm --datapath fp32
export CUDA_VISIBLE_DEVICES=''
exits 'gemm: a native product without a device' 3 gemm --datapath native:mma:fp16 --backend cuda
unset CUDA_VISIBLE_DEVICES
says 'gemm: and why' '^ulp gemm: --backend cuda: .' err
refuses 'gemm: a native product and no --backend cuda' 'which takes --backend cuda' gemm --datapath native:mma:fp16
refuses 'gemm: an unknown backend comes before a native product' 'known: cpu cuda' gemm --datapath native:mma:fp16 --backend tpu
refuses 'dot: names of native products' 'where there is a device' dot --datapath native:mma:fp16
exits 'gemm: integers' 0 gemm --datapath int8 $shape
says 'gemm: integers are exact' '^max error   0$' out
exits 'gemm: another seed' 0 gemm --datapath h100-fp16 $shape --seed 2
grep '^checksum' out >two
exits 'gemm: seed 1' 0 gemm --datapath h100-fp16 $shape
grep '^checksum' out >one
! cmp -s one two
verdict $? 'gemm: another seed gives another checksum'
for data in normal positive; do exits "gemm: --data $data" 0 gemm --datapath h100-fp16 $shape --data $data; done
exits 'gemm: fp16 overflows' 0 gemm --datapath exact:fp16:rne --m 2 --n 2 --k 300000 --data positive
says 'gemm: and says how many' '^not finite  4' out
exits 'gemm: --in' 0 gemm --datapath fp32 --in e4m3 $shape
says 'gemm: --in is named' 'a in e4m3, b in e4m3' out
refuses 'gemm without a datapath' '--datapath NAME is needed' gemm
refuses 'gemm: an unknown datapath' '`ulp help datapaths`' gemm --datapath h200
exits 'gemm: as many threads as anybody asks for' 0 gemm --datapath fp32 --m 1e1 --n 0x10 --k 70 --threads 65536
says 'gemm: sizes like 1e1 and 0x10' '^shape       m 10, n 16, k 70$' out
refuses 'gemm: a size of 0' 'whole number' gemm --datapath fp32 --m 0
refuses 'gemm: a size that is no number' 'whole number' gemm --datapath fp32 --k many
refuses 'gemm: --in that contradicts' 'takes a in binary16' gemm --datapath h100-fp16 --in e4m3
refuses 'gemm: unknown data' 'known: uniform normal positive' gemm --datapath fp32 --data cauchy
refuses 'gemm: words' 'takes no words' gemm --datapath fp32 8

# ---- probe ----

exits 'probe --list' 0 probe --list
[ "$(grep -c . out)" -gt 100 ] && grep -q '^h100-e4m3-mma ' out
verdict $? 'probe --list names the rows'
for d in v100-fp16=4,23,rz t4-fp16=8,24,rz a100-tf32=4,24,rz l40s-e4m3=16,13,rz h100-fp16=16,25,rz h100-fp16-fp16=16,25,rne h100-e4m3=32,13,rz b200-e4m3=32,25,rz h100-fp16:L=8:F=24=8,24,rz; do
    name=${d%%=*} want=${d##*=}
    case $d in *:*) name=h100-fp16:L=8:F=24 ;; esac
    exits "probe $name" 0 probe --datapath $name --csv
    got=$(awk -F, '$2 == "L" || $2 == "F products" || $2 == "rounding" { printf "%s%s", sep, $3; sep = "," }' out)
    [ "$got" = "$want" ] || echo "# found $got, want $want"
    [ "$got" = "$want" ]
    verdict $? "probe $name: L, F and rounding are $want"
done
exits 'probe of fp32' 0 probe --datapath fp32
says 'probe of fp32: one product at a time' '^L  *1  *1  *ok' out
says 'probe: every column has a heading' '^property  *found  *the row says  *verdict  *vector' out
says 'probe says what is not reachable' '^F products  *not reachable' out
refuses 'probe without a datapath' '--list' probe
refuses 'probe: an unknown datapath' '`ulp help datapaths`' probe --datapath h200-fp16
refuses 'probe: a native product without --backend cuda' '--backend cuda, where there is a device' probe --datapath native:wgmma:e4m3:promote=64
refuses 'probe: --list and a datapath' 'stands alone' probe --list --datapath fp32
refuses 'probe: words' 'takes no words' probe fp32
refuses 'probe: an unknown backend' 'known: cpu cuda' probe --backend tpu
export CUDA_VISIBLE_DEVICES=''
exits 'probe of a device that is not there' 3 probe --backend cuda --list
exits 'probe of a product of a device that is not there' 3 probe --backend cuda --datapath native:mma:fp16
says 'probe: why there is none' '^ulp probe: --backend cuda: .' err
unset CUDA_VISIBLE_DEVICES

# ---- block ----

gives 'block: mxfp4, a scale of 1: a small neighbour is lost' 0 '6.4\n-1.7\n0.1\n' '7f 7 6\n7f b -1.5\n7f 0 0\n' block --format mxfp4 --to both
gives 'block: 0.7 is 5.6 2^-3' 0 '0.7\n' '7c 7 0.75\n' block --format mxfp4 --to both
gives 'block: codes are the default' 0 '6.4\n-1.7\n' '7f 7\n7f b\n' block --format mxfp4
gives 'block: values' 0 '6.4\n-1.7\n' '6\n-1.5\n' block --format mxfp4 --to value
gives 'block: e4m3 has no 9.5, ties to even' 0 '256\n-9.5\n' '7f 78 256\n7f d2 -10\n' block --format mxfp8-e4m3 --to both
gives 'block: six bits take two digits' 0 '28\n-0.0625\n' '7f 1f 28\n7f 21 -0.0625\n' block --format mxfp6-e3m2 --to both
gives 'block: mxint8' 0 '1\n-0.5\n0x1p-6\n' '7f 40 1\n7f e0 -0.5\n7f 01 0.015625\n' block --format mxint8 --to both
gives 'block: hex floats, signs, DOS, spaces, comments' 0 '# a\n 0x1.8p2\r\n\n+4\n' '7f 7\n7f 6\n' block --format MXFP4
gives 'block: modes' 0 '4\n2.1\n-2.1\n' '4\n2\n-3\n' block --format mxfp4 --mode rd --to value

rule_values() { # rule_values RULE OF_5 OF_6.5 OF_7
    for pair in 5=$2 6.5=$3 7=$4; do
        gives "block: mxfp4:$1 of ${pair%%=*}" 0 "${pair%%=*}\n" "$(echo "${pair#*=}" | tr , ' ')\n" block --format mxfp4:$1 --to both
    done
}
rule_values floor 7f,6,4 7f,7,6 7f,7,6
rule_values ceil 80,4,4 80,5,6 80,6,8
rule_values even 7f,6,4 7f,7,6 80,6,8
rule_values noclip 7f,6,4 80,5,6 80,6,8
for rule in floor=38,7,6 ceil=39,7,6.75 even=38,7,6 noclip=39,7,6.75; do
    gives "block: nvfp4:${rule%%=*}, 6.375 is between scales of 1 and 1.125" 0 '6.375\n' "$(echo "${rule#*=}" | tr , ' ')\n" block --format nvfp4:${rule%%=*} --to both
done

awk 'BEGIN { for (i = 0; i < 32; i++) print 1; print "# c"; print 6 }' >ragged
gives 'block: the last block may be short' 0 '' "$(awk 'BEGIN { for (i = 0; i < 32; i++) printf "7d 6\\n" }')7f 7\n" block --format mxfp4 ragged
printf '5\n' >five
gives 'block: a block goes on in the next file' 0 '0.25\n' '7f 6 4\n7f 0 0\n7f 6 4\n' block --format mxfp4 --to both five - five
gives 'block: empty input' 0 '# 1\n' '' block --format mxfp4
gives 'block: zeros' 0 '0\n-0\n' '00 0 0\n00 8 -0\n' block --format mxfp4 --to both
gives 'block: zeros of nvfp4' 0 '0\n-0\n' '01 0 0\n01 8 -0\n' block --format nvfp4 --to both
gives 'block: zeros of mxint8' 0 '0\n-0\n' '00 00 0\n00 00 0\n' block --format mxint8 --to both
gives 'block: NaN and Inf in e4m3 are NaN' 0 '1\nnan\n-inf\n' '77 78 1\n77 7f nan\n77 7f nan\n' block --format mxfp8 --to both
gives 'block: e5m2 has infinities' 0 '1\nnan\n-inf\n' '70 78 1\n70 7e nan\n70 fc -inf\n' block --format mxfp8-e5m2 --to both
gives 'block: NaN in e2m1 takes the block with it' 0 '1\nnan\n-2\n' 'ff 0 nan\nff 0 nan\nff 0 nan\n' block --format mxfp4 --to both
gives 'block: so does Inf' 0 '1\n-inf\n' '7f 0 nan\n7f 0 nan\n' block --format nvfp4 --to both
gives 'block: Inf saturates on request' 0 '1\n-inf\n' '7d 6 1\n7d f -1.5\n' block --format mxfp4 --overflow sat --to both
{ cat ragged; awk 'BEGIN { for (i = 0; i < 31; i++) print "inf" }'; echo 2; } >infinite
"$ULP" block --format mxfp4 --to value infinite >out 2>err
[ "$(sort out | uniq -c | xargs)" = '32 1 1 2 32 nan' ] && [ "$(tail -n 1 out)" = 2 ]
verdict $? 'block: the blocks beside it are not touched'
gives 'block: mxint8 clamps' 0 '1.9921875\n-1.9921875\n' '7f 7f 1.984375\n7f 81 -1.984375\n' block --format mxint8 --to both
gives 'block: mxint8 wraps around on request' 0 '1.9921875\n' '7f 80 -2\n' block --format mxint8 --overflow wrap --to both
gives 'block: past binary32 is infinite' 0 '1e39\n1\n' '70 7c inf\n70 78 1\n' block --format mxfp8-e5m2 --to both
gives 'block: numbers are rounded to binary32 once' 0 '0x1.000001000000001p0\n' '80 20 1\n' block --format mxint8:ceil --to both

# the scale of each block is 1, so `ulp round` rounds element i in the same way, with word i
awk 'BEGIN { for (i = 0; i < 150; i++) print i % 32 ? i * 1.37 - 60 : 300 }' >many
for mode in sra srb src; do
    "$ULP" round --format e4m3 --mode $mode --bits 7 --seed 5 --stream 9 --to value many >want
    "$ULP" block --format mxfp8 --mode $mode --bits 7 --seed 5 --stream 9 --to value many >out 2>err
    [ -s out ] && cmp out want
    verdict $? "block: $mode, the word of element i is that of line i"
done

# tensor scales: 1344 / (6 448) = 0.5
awk 'BEGIN { for (i = 0; i < 16; i++) print 3; print -1344; print 112 }' >tensor
gives 'block: nvfp4 with the tensor scale of the whole input' 0 '' "$(awk 'BEGIN { for (i = 0; i < 16; i++) printf "38 7 3\\n" }')7e f -1344\n7e 1 112\n" block --format nvfp4 --tensor-scale auto --to both tensor
says 'block: and says which' '^ulp block: tensor scale 0.5$' err
mv out want
exits 'block: the same tensor scale, given' 0 block --format nvfp4 --tensor-scale 0x1p-1 --to both tensor
cmp out want && [ ! -s err ]
verdict $? 'block: gives the same'
gives 'block: no numbers, a tensor scale of 1' 0 '' '' block --format nvfp4 --tensor-scale auto
says 'block: and says so' 'tensor scale 1$' err
gives 'block: without one 3000 clips' 0 '3000\n' '7e 7 2688\n' block --format nvfp4 --to both

# round trips
exits 'block --list' 0 block --list
says 'block --list: nvfp4' '^nvfp4  *e2m1  *e4m3  *16  *even  *NVIDIA' out
says 'block --list: aliases' '^mxfp8-e4m3  *mxfp8  *e4m3  *e8m0  *32  *floor  *OCP' out
sed 1d out | cut -d ' ' -f 1 >names
for name in $(cat names); do
    "$ULP" block --format $name --to both many >both 2>err
    "$ULP" block --format $name many 2>err | "$ULP" block --format $name --decode >out 2>err
    [ "$(grep -c . out)" -eq 150 ] && cut -d ' ' -f 3 both | cmp - out
    verdict $? "block: $name and back"
done
"$ULP" block --format nvfp4 --tensor-scale auto many >codes 2>err
"$ULP" block --format nvfp4 --decode --tensor-scale "$(sed 's/.* //' err)" codes >out
"$ULP" block --format nvfp4 --tensor-scale auto --to value many >want 2>err
[ -s out ] && cmp out want
verdict $? 'block: nvfp4 with a tensor scale and back'
gives 'block --decode' 0 '0x7F,7\n7f f\n7f 8\n' '6\n-6\n-0\n' block --format mxfp4 --decode
gives 'block --decode: a NaN scale' 0 'ff 0\nff 7\n' 'nan\nnan\n' block --format mxfp4 --decode
gives 'block --decode: a scale of 0' 0 '00 7\n00 f\n' '0\n-0\n' block --format nvfp4 --decode
gives 'block --decode: beyond binary32' 0 'fe 7e\nfe fe\n' 'inf\n-inf\n' block --format mxfp8 --decode
gives 'block --decode: another scale in a block' 2 '# a\n7f 7\n7e 7\n' '6\n' block --format mxfp4 --decode
says 'block --decode: the line is named' 'stdin:3: .*7e.*7f.*32 lines' err
for line in 7f '7f 7 6' , '7f 10' '17f 7' '7f x' '-1 7' 7; do
    gives "block --decode: '$line' is refused" 2 "$line\n" '' block --format mxfp4 --decode
done

# bad input
gives 'block: a bad line leaves its block out' 2 '1\n2\nx\n' '' block --format mxfp4
says 'block: the line is named' 'stdin:3: .*no number' err
{ cat ragged; echo 1 2; } >bad
gives 'block: the blocks before it are printed' 2 '' "$(awk 'BEGIN { for (i = 0; i < 32; i++) printf "1\\n" }')" block --format mxfp4 --to value bad
says 'block: file and line are named' 'bad:35: ' err
gives 'block: but not under a tensor scale of all' 2 '' '' block --format nvfp4 --tensor-scale auto bad
gives 'block: a missing file' 2 '' '' block --format mxfp4 missing
gives 'block: a zero byte' 2 '1\n2\0003\n' '' block --format mxfp4
refuses 'block without a format' '--list names all' block
for name in mxfp5 e4m3 '' mxfp4: mxfp4:up; do refuses "block: --format '$name'" 'known: .*mxfp8-e4m3 mxfp8 .*nvfp4' block --format "$name"; done
says 'block: the rules are named' ':floor :ceil :even :noclip' err
! grep -q '  ' err
verdict $? 'block: no two blanks follow each other'
refuses 'block: an unknown mode' 'known: rne' block --format mxfp4 --mode up
refuses 'block: an unknown policy' 'saturate' block --format mxfp4 --overflow saturate
refuses 'block: wrap on floating point' 'wraps' block --format mxfp4 --overflow wrap
refuses 'block: an unknown --to' 'known: code value both' block --format mxfp4 --to hex
refuses 'block: --bits with ru' 'not of ru' block --format mxfp4 --mode ru --bits 8
refuses 'block: no random bits' 'from 1 to 32' block --format mxfp4 --bits 0
for x in 0 -1 inf nan 1e39 1e-60 x; do refuses "block: --tensor-scale '$x'" 'positive and finite' block --format nvfp4 --tensor-scale "$x"; done
refuses "block: --tensor-scale ''" 'the value is empty' block --format nvfp4 --tensor-scale ''
refuses 'block: auto for MX' 'nvfp4' block --format mxfp4 --tensor-scale auto
refuses 'block: auto for --decode' 'has to be told' block --format nvfp4 --tensor-scale auto --decode
refuses 'block: --decode and --mode' 'prints values' block --format mxfp4 --decode --mode rz
refuses 'block: --list and more' 'stands alone' block --list --format mxfp4
exits 'block --help' 0 block --help
says 'block --help: the rules' 'noclip: 2^ceil(log2 (amax / max))' out
tr '\n' ' ' <out >joined
says 'block --help: binary32' 'rounded to binary32 first' joined

# ---- formats, show, backends ----

exits 'formats' 0 formats
says 'formats lists e4m3' '^e4m3 ' out
exits 'formats --csv' 0 formats --csv
rows=$(grep -c . out)
[ "$rows" -gt 25 ] && [ "$(awk -F, '{ print NF }' out | sort -u | wc -l)" -eq 1 ]
verdict $? "formats --csv: $rows rows of one width"
[ "$(cut -d, -f1 out | sort | uniq -d | wc -l)" -eq 0 ]
verdict $? 'formats --csv: every format once'
says 'formats --csv: e4m3' '^e4m3,e4m3fn[^,]*,8,4,7,-6,8,448,0.015625,0.001953125,0.0625,no,' out
cut -d, -f1 out | sed 1d >names
while read -r name; do echo 1 | "$ULP" round --format "$name" --to value >/dev/null || echo "$name"; done <names >wrong
[ ! -s wrong ]
verdict $? 'every listed format is understood'
refuses 'formats takes no words' 'no words' formats fp16

bad=0 shown=0
for format in fp64 fp32 fp16 bf16 e4m3 e5m2fnuz binary8p1uf e8m0 dlfloat16 q8.8 q1.0 q4.0 fp16:nosub e5m0 e1m2 e11m4; do
    for value in 0 -0 nan inf -inf 1e-320 -3.7 1e999 -1e999 0x1p-1074 0.1 1e308 65519; do
        "$ULP" show --format $format $value >out 2>err || { echo "# show --format $format $value: exit $?"; bad=1; }
        [ -s out ] && [ ! -s err ] || bad=1
        shown=$((shown + 1))
    done
done
verdict $bad "show: $shown odd values and formats"
exits 'show 0.1 in binary16' 0 show --format fp16 0.1
says 'show: the code' '2e66' out
says 'show: the exact value' '0.0999755859375' out
says 'show: the bits' '0 01011 1001100110' out
exits 'show --all-formats' 0 show --all-formats -3.7
[ "$(grep -c . out)" -ge "$rows" ]
verdict $? 'show --all-formats: a line per format'
for value in 1e400 -1e400 0x1p2000; do exits "show $value" 0 show --format fp16 $value && says "show $value: it overflows" '(binary64, which this number overflows)' out; done
for value in 1e-400 -0.001e-400 0x0.ap-2000; do exits "show $value" 0 show --format fp16 $value && says "show $value: it underflows" '(binary64, which this number underflows)' out; done
for value in inf -INF nan 0 -0.00e7 0x0p5 1e300 1e-300; do exits "show $value" 0 show --format fp16 $value && says "show $value: neither" '(binary64)$' out; done
exits 'show --all-formats 1e400' 0 show --all-formats 1e400
says 'show --all-formats 1e400: it overflows' '1e400 is first rounded to binary64, which this number overflows' out
exits 'show: several values' 0 show --format e4m3 1 2 3
exits 'show: negative values are no options' 0 show --format e4m3 -1 -.5 -0x1p3 -inf -INF -nan
[ "$(grep -c '^-.* in e4m3: ' out)" -eq 6 ]
verdict $? 'show: all of them are shown'
refuses 'show without a value' 'VALUE' show --format fp16
refuses 'show of a word' 'no number' show --format fp16 one
refuses 'show without a format' '--format' show 1

exits 'backends' 0 backends
says 'backends: baseline is there' 'baseline *offered' out
says 'backends: one is in use' 'in use' out
ULPLAB_ISA=nonsense "$ULP" backends >out 2>err
status=$?
{ [ $status -eq 2 ] || [ $status -eq 3 ]; } && grep -q ULPLAB_ISA out err
verdict $? 'ULPLAB_ISA=nonsense: exit 2 or 3 with a message'
for isa in baseline avx2 avx512; do
    ULPLAB_ISA=$isa "$ULP" backends >out 2>err
    case $? in
    0) says "ULPLAB_ISA=$isa is used" "$isa *offered, in use" out ;;
    3) skip "ULPLAB_ISA=$isa is used" 'not offered here' ;;
    *) verdict 1 "ULPLAB_ISA=$isa is used" ;;
    esac
done

# ---- output that cannot be written ----

for command in 'round --format fp16' 'arith --format fp16 --op sqrt' 'dot --datapath serial:fp16:rne' 'gemm --datapath fp32 --m 2' 'probe --list' 'probe --datapath fp32' 'block --format mxfp4' 'block --list' formats 'show --format fp16 1' backends --help --version help 'help formats' 'round --help' 'round --version'; do
    echo 1 | "$ULP" $command >&- 2>err
    [ $? -eq 1 ]
    verdict $? "${command%% *} with stdout closed exits 1"
    if [ -w /dev/full ]; then
        echo 1 | "$ULP" $command >/dev/full 2>err
        [ $? -eq 1 ] && grep -q 'cannot write' err
        verdict $? "${command%% *} on a full disk exits 1"
    else
        skip "${command%% *} on a full disk exits 1" 'no /dev/full'
    fi
done
# on a terminal of 80 columns no line of a table is wider; elsewhere a table has one line per row
if command -v script >/dev/null 2>&1 && script -qec true /dev/null >/dev/null 2>&1; then
    for command in formats backends 'probe --datapath h100-fp16' 'probe --list' 'block --list' 'show --all-formats 0.1' \
        'show --format e4m3 0.1' 'help datapaths' help 'gemm --help'; do
        TERM=xterm script -qec "stty cols 80; '$ULP' $command" /dev/null 2>err | tr -d '\r' >typed
        [ -s typed ] && awk '{ gsub(/\033\[[0-9;]*[mK]/, "") } length($0) > 80 { wide = 1 } END { exit wide }' typed
        verdict $? "ulp $command on a terminal of 80 columns"
    done
    TERM=xterm script -qec "stty cols 80; '$ULP' formats" /dev/null 2>err | tr -d '\r' >typed
    "$ULP" formats >out
    [ "$(grep -c '^binary16 ' typed)" -gt 1 ] && [ "$(grep -c '^binary16 ' out)" -eq 1 ]
    verdict $? 'the table of formats in several parts, and in one'
    sed -n '/^binary16 /s/^binary16 *//p' typed | tr -s ' \n' ' ' >parts
    sed -n '/^binary16 /s/^binary16 *//p' out | tr -s ' \n' ' ' | cmp - parts
    verdict $? 'the parts together have every column'
else
    skip 'tables on a terminal' 'no script(1)'
fi
# long values keep their exponent
"$ULP" show --format binary32 1e-30 >out
says 'ulp show: the digits that are cut off leave the exponent' '^  value     1[.]0.*[.][.][.]e-30 (0x1' out
# the number of random bits is an option of its own
exits 'ulp round --mode sr/8' 2 round --format fp16 --mode sr/8
says 'the message names --bits' '[-]-bits R' err

exit $failed
