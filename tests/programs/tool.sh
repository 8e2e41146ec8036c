#!/bin/sh
# tool.sh - the tool as a whole, its help, formats, show and backends; output that cannot be written.
. tests/programs/tool_support.sh

# ---- the program ----

exits 'no command' 2
says 'no command: the commands are listed' ' verify ' err
exits 'an unknown command' 2 nonsense
says 'an unknown command is named' "nonsense" err
prints '--help' ' round ' --help
says '--help names what the environment sets' '^environment: ULPLAB_ISA' out
says '--help names the device' '^ *ULPLAB_CUDA_DEVICE' out
prints 'a negative subnormal number keeps its sign' ' -0x12688b70e62bp-1074' show --format fp64 -- -1e-310
prints '--version' '^ulp .*[0-9]\.[0-9]' --version
for command in formats show round arith dot gemm probe block train verify backends; do
    prints "$command --help" "^usage: ulp $command" $command --help
    holds "$command --help fits 80 columns" [ "$(awk '{ if (length($0) > n) n = length($0) } END { print n + 0 }' out)" -le 80 ]
    if [ $command != formats ]; then # `help formats` is a topic of its own
        cp out help.txt
        exits "help $command" 0 help $command
        holds "help $command says the same" cmp out help.txt
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
for mode in rne rna rz ru rd ro sra srb src rnu rnz rnd; do says "help modes: $mode" "^$mode  *[a-z]" out; done
says 'help modes: the direction of a stochastic mode' '"up" means away from zero' out
prints 'help datapaths' '^serial:FORMAT:MODE ' help datapaths
tr ' ' '\n' <out >words
for name in $("$ULP" probe --list | cut -d ' ' -f 1); do grep -qx -- "$name" words || echo "$name"; done >wrong
holds 'help datapaths names every row' [ ! -s wrong ]
sed -n '/^The tests compare/,$p' out | tr ' ,' '\n\n' | sed 's/\.$//' >words
sed -n 's/^        {"/{"/p' "$tree/tests/unit/t_hardware.c" | tr '{' '\n' | sed -n 's/.*, "\([a-z0-9]*-[a-z0-9-]*\)"}.*/\1/p' | sort >measured
grep '^[a-z][a-z0-9]*-[a-z0-9-]*$' words | sort | cmp - measured && [ "$(grep -c . measured)" -gt 10 ]
verdict $? 'help datapaths names the rows that are compared with measurements'
prints 'help policies' '^mixed:FORMAT ' help policies
says 'help policies: keys' '^act ' out
exits 'help nets' 0 help nets
for layer in fc conv gru relu; do says "help nets: $layer" "^$layer" out; done
prints 'help optimizers' '^adam' help optimizers
prints 'help data' '^digits ' help data
refuses 'probe of a product of several words' 'h100-bf16:words=3: a product of several words is many sums; probe the unit, without words=' probe --datapath h100-bf16:words=3
refuses 'help of an unknown topic' "no topic 'fromats'; did you mean formats?" help fromats
refuses 'help of two topics' 'one topic at a time' help modes formats
refuses 'a command that is almost right' "no command 'rouns'; did you mean round?" rouns
refuses 'an option before the command' "'--format' stands before the command, which comes first: ulp round --format" --format fp16 round
refuses 'an option and no command' "'--fast' stands where the command belongs" --fast
for word in --help -h help; do
    prints "help $word" '^usage: ulp help ' help $word
done
refuses 'help: an unknown option' 'no option --topic' help --topic
refuses 'help of a command that is almost right' 'did you mean round?' help rouns

# ---- formats, show, backends ----

prints 'formats' '^e4m3 ' formats
exits 'formats --csv' 0 formats --csv
rows=$(grep -c . out)
[ "$rows" -gt 25 ] && [ "$(awk -F, '{ print NF }' out | sort -u | wc -l)" -eq 1 ]
verdict $? "formats --csv: $rows rows of one width"
holds 'formats --csv: every format once' [ "$(cut -d, -f1 out | sort | uniq -d | wc -l)" -eq 0 ]
says 'formats --csv: e4m3' '^e4m3,e4m3fn[^,]*,8,4,7,-6,8,448,0.015625,0.001953125,0.0625,no,' out
cut -d, -f1 out | sed 1d >names
while read -r name; do echo 1 | "$ULP" round --format "$name" --to value >/dev/null || echo "$name"; done <names >wrong
holds 'every listed format is understood' [ ! -s wrong ]
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
prints 'show 0.1 in binary16' '2e66' show --format fp16 0.1
says 'show: the exact value' '0.0999755859375' out
says 'show: the bits' '0 01011 1001100110' out
exits 'show --all-formats' 0 show --all-formats -3.7
holds 'show --all-formats: a line per format' [ "$(grep -c . out)" -ge "$rows" ]
for value in 1e400 -1e400 0x1p2000; do exits "show $value" 0 show --format fp16 $value && says "show $value: it overflows" '^  binary64  -\{0,1\}inf$' out; done
for value in 1e-400 -0.001e-400 0x0.ap-2000; do exits "show $value" 0 show --format fp16 $value && says "show $value: it underflows" '^  binary64  -\{0,1\}0$' out; done
for value in inf -INF nan 0 -0.00e7 0x0p5 0x1p300 0.5; do exits "show $value" 0 show --format fp16 $value && holds "show $value: a number of binary64" ! grep -q binary64 out; done
prints 'show --all-formats 1e400' '^binary64 *7ff0000000000000 inf' show --all-formats 1e400
prints 'show: a number is rounded once' '^  rne *2050 ' show --format fp16 2049.00000000000000001
prints 'show: an expression is rounded to binary64' '^  value *0.333.*(binary64)$' show --format fp16 1/3
exits 'show: several values' 0 show --format e4m3 1 2 3
exits 'show: negative values are no options' 0 show --format e4m3 -1 -.5 -0x1p3 -inf -INF -nan
holds 'show: all of them are shown' [ "$(grep -c '^-.* in e4m3: ' out)" -eq 6 ]
refuses 'show without a value' 'VALUE' show --format fp16
refuses 'show of a word' 'no number' show --format fp16 one
refuses 'show without a format' '--format' show 1

prints 'backends' 'baseline *offered' backends
says 'backends: one is in use' 'in use' out
ULPLAB_ISA=nonsense "$ULP" backends >out 2>err
status=$?
{ [ $status -eq 2 ] || [ $status -eq 3 ]; } && grep -q ULPLAB_ISA out err
verdict $? 'ULPLAB_ISA=nonsense: exit 2 or 3 with a message'
for isa in baseline neon sve256 avx2 avx512; do
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
says 'ulp show: the digits that are cut off leave the exponent' '^  binary64  1[.]0.*[.][.][.]e-30 (0x1' out
# the number of random bits is an option of its own
exits 'ulp round --mode sr/8' 2 round --format fp16 --mode sr/8
says 'the message names --bits' '[-]-bits R' err

exit $failed
