#!/bin/sh
# verify.sh - ulp verify: its verdicts, and the journal of finished pieces. support.sh explains BIN.
. tests/programs/support.sh
ULP=$BIN/ulp

refuses() { # refuses TEXT PATTERN ARGUMENT...: exit 2, nothing on stdout, PATTERN on stderr
    pattern=$2
    text=$1
    shift 2
    exits 2 "$text" "$ULP" "$@"
    holds "$text: nothing on stdout" [ ! -s out.txt ]
    says "$pattern" err.txt "$text: says why"
}

"$ULP" verify --format e2m1 --mode rne --sample 10 >out.txt 2>err.txt
if [ $? -eq 3 ]; then
    skip 'ulp verify' 'this build has no MPFR'
    exit $failed
fi

exits 0 'verify passes' "$ULP" verify --format e4m3 --sample 3e3
[ "$(grep -c '^PASS ' out.txt)" -eq 36 ] && ! grep -q '^FAIL' out.txt
verdict $? 'a line per mode and policy'
says '36 cases, 108000 inputs: 36 passed, 0 failed' out.txt 'the verdict'
exits 0 'two formats, two modes' "$ULP" verify --format e4m3,fp16 --mode rz,sr/8 --overflow inf --sample 100
holds 'a line per format and mode' [ "$(grep -c '^PASS ' out.txt)" -eq 4 ]
says '^PASS 2/4 e4m3 sra/8 inf' out.txt 'a line names the number of random bits that --mode gives'
exits 0 'every format' "$ULP" verify --mode rne --overflow default --sample 500
holds 'a line per format' [ "$(grep -c '^PASS ' out.txt)" -eq "$("$ULP" formats --csv | sed 1d | grep -c .)" ]
sample="verify --format fp16 --mode sr --sample 50000"
"$ULP" $sample --jobs 1 2>/dev/null | grep PASS >one
"$ULP" $sample --jobs 2 2>/dev/null | grep PASS >two
holds 'a sample passes' [ -s one ]
same one two 'the same with one and two threads'
"$ULP" $sample --jobs 65536 2>/dev/null | grep PASS >two
same one two 'the same with as many threads as anybody asks for'

# on a terminal of 40 columns the progress line, which comes after a tenth of a second, fits into one line and is erased
if command -v script >/dev/null 2>&1 && script -qec true /dev/null >/dev/null 2>&1; then
    TERM=xterm script -qec "stty cols 40; '$ULP' verify --format fp16 --mode rne --overflow inf --sample 6e6" /dev/null >typed.txt 2>/dev/null
    tr '\r' '\n' <typed.txt | sed 's/\x1b\[K//g' | grep '%' >lines.txt
    [ -s lines.txt ] && [ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' lines.txt)" -lt 40 ]
    verdict $? 'the progress line fits 40 columns'
    tail -c 400 typed.txt | tr '\r' '\n' | grep -q "$(printf '^\033\[KPASS')"
    verdict $? 'and is erased before the verdict'
else
    skip 'the progress line fits 40 columns' 'no script(1)'
fi

# ---- the journal ----

# resumed JOURNAL TEXT: a run with this journal passes; its messages are in err.txt
resumed() {
    "$ULP" $sample --resume "$1" >out.txt 2>err.txt && grep PASS out.txt >two
    same one two "$2"
}
pieces() { grep -c '^# end ' "$1"; }
resumed journal 'verify --resume writes a journal'
all=$(pieces journal)
head -n 1 journal >first
says '^# journal of ulp verify: format mode overflow bits inputs exhaustive seed kernels piece$' first 'the journal says what it is'
sed -n 2p journal >second
"$ULP" --version | sed 's/.*build \([0-9a-f]*\).*/# build: \1/' >build
same second build 'and of which build'
cp journal before
resumed journal 'verify --resume of a finished run passes'
grep -v '^# ' before | sort >results
[ ! -s err.txt ] && [ "$(pieces journal)" -eq "$all" ] && grep -v '^# ' journal | sort | cmp - results
verdict $? 'and does nothing again'
head -n 5 journal >torn
printf '# piece 9: binary16 sra inf 32 500' >>torn
resumed torn 'verify --resume goes on after a torn piece'
holds 'and does the missing ones' [ "$(pieces torn)" -eq "$all" ]
head -n 6 journal >torn
resumed torn 'verify --resume goes on after a piece without its end'
holds 'and does it again' [ "$(pieces torn)" -eq "$all" ]
sed 's/$/\r/' journal >dos
printf '\357\273\277' | cat - dos >marked
for file in dos marked; do
    resumed $file "a journal with CRLF line ends ($file)"
    [ ! -s err.txt ] && [ "$(pieces $file)" -eq "$all" ]
    verdict $? "is read ($file)"
done

# a piece with a changed result, count, end or number is computed again, and so is a piece that occurs twice
for damage in '4s/^0 \(.*\)$/3 \1/' '4s/.$/x/' '4s/^/ /' '3s/ inf / sat /' '5s/.$/x/' '4d' '5d' '5s/ 1 / 2 /' '4s/.*//' \
    '3s/ 0:/ 9223372036854775840:/;5s/ 0:/ 9223372036854775840:/' '3s/ 0:/ 999999999999:/;5s/ 0:/ 999999999999:/'; do
    sed "$damage" journal >damaged
    cmp -s journal damaged && verdict 1 "the damage $damage changes the journal"
    resumed damaged "verify --resume of a journal with the damage $damage"
    says 'it is computed again' err.txt 'it says so'
    holds 'and the piece is there again' [ "$(pieces damaged)" -eq "$all" ]
    resumed damaged 'and the next time, too'
    holds 'then without a message' [ ! -s err.txt ]
done
{ cat journal; sed -n 3,5p journal; } >twice
resumed twice 'a piece that stands there twice'
says 'twice; it is computed again' err.txt 'is named'
{ cat journal; sed -n 3,5p journal | sed '1s/piece [0-9]*:/piece 999:/; 3s/end [0-9]*:/end 999:/'; } >twice
resumed twice 'a piece that stands there twice under two numbers'
says 'stands there 2 times; it is computed again' err.txt 'is named'
holds 'and stands there once afterwards' [ "$(pieces twice)" -eq "$all" ]

# another build
sed '2s/: .*/: 01234567/' journal >other
cp other before
refuses 'a journal of another build' 'was made by another build: there 01234567, here [0-9a-f]*; pieces of two builds are not mixed' $sample --resume other
same other before 'it is untouched'

# pieces of another seed or of other kernels are not used, and stay in the journal
"$ULP" $sample --seed 9 2>/dev/null | grep PASS >nine
"$ULP" $sample --seed 9 --resume journal >out.txt 2>err.txt && grep PASS out.txt >two
same nine two 'verify --resume after a run with another seed computes'
holds 'another seed gives another hash' ! cmp -s one nine
holds 'its pieces stand beside the others' [ "$(pieces journal)" -eq $((2 * all)) ]
resumed journal 'the first seed finds its own'
holds 'and computes nothing' [ "$(pieces journal)" -eq $((2 * all)) ]
resumed machines 'a journal of this instruction set'
ULPLAB_ISA=baseline "$ULP" $sample --resume machines >out.txt 2>err.txt && grep PASS out.txt >two
same one two 'verify --resume with another instruction set'
if "$ULP" backends | grep -q 'baseline .*in use'; then skip 'and it computes' 'there is one only'
else [ "$(pieces machines)" -eq $((2 * all)) ]; verdict $? 'and it computes'; fi
if "$ULP" $sample --backend cuda --resume machines >out.txt 2>err.txt; then
    grep PASS out.txt >two
    same one two 'verify --resume on a device'
    holds 'and it computes' [ "$(grep -c '^# piece .* cuda:' machines)" -eq "$all" ]
else
    skip 'verify --resume on a device computes after a run on the CPU' 'no device'
fi

# a file that is not a journal stays unchanged
printf 'hello my thesis' >n1
printf 'hello my thesis\n' >n2
sed 1d journal >n3
printf '# journal of ulp\0verify' >n4
head -c 10 /dev/zero >n5
printf '# journal of ulp verify: format mode overflow bits inputs exhaustive seed kernels piece mismatches hash\n' >n6
for file in n1 n2 n3 n4 n5 n6; do
    cp $file before
    refuses "verify --resume $file" "^ulp verify: --resume $file: this file is no journal" $sample --resume $file
    same $file before "$file is untouched"
done
for bytes in 0 20; do
    head -c $bytes journal >begun
    resumed begun "verify --resume of a journal stopped after $bytes bytes"
    holds 'it is whole afterwards' [ "$(pieces begun)" -eq "$all" ]
done
if [ -w /dev/full ]; then refuses 'verify --resume /dev/full' 'no journal' $sample --resume /dev/full; fi
refuses 'a journal that cannot be written' 'cannot write missing/journal' verify --sample 10 --resume missing/journal

# with a symbolic link the journal is the file that the link names, and the link stays
mkdir kept
ln -s kept/there link
resumed link 'a journal behind a symbolic link that leads to no file yet'
[ -L link ] && [ "$(readlink link)" = kept/there ] && [ "$(pieces kept/there)" -eq "$all" ]
verdict $? 'the link stays, and the journal is where it leads'
cp kept/there before
resumed link 'the journal behind the link is resumed'
[ -L link ] && grep -v '^# ' kept/there | sort >after && grep -v '^# ' before | sort | cmp - after && [ -z "$(ls kept | grep -v '^there$')" ]
verdict $? 'with its pieces, and nothing else beside it'

# two processes with one journal: the second is refused, and the first is not affected
"$ULP" verify --format fp16 --mode rne --sample 1e9 --jobs 1 --resume kept/long >first.txt 2>&1 &
child=$!
n=0
until grep -q '^# end' kept/long 2>/dev/null || [ $n -ge 600 ]; do sleep 0.05; n=$((n + 1)); done
kill -STOP $child
pieces kept/long >before
refuses 'a journal that another process has open' 'another run is writing kept/long: let it end, or choose another file with --resume' verify --sample 10 --resume kept/long
ln -s long kept/link
refuses 'the same behind a link' 'another run is writing kept/link' verify --sample 10 --resume kept/link
kill -CONT $child
n=0
until [ "$(pieces kept/long)" -gt "$(cat before)" ] || [ $n -ge 600 ]; do sleep 0.05; n=$((n + 1)); done
[ "$(pieces kept/long)" -gt "$(cat before)" ] && [ ! -s first.txt ]
verdict $? 'the first process goes on keeping pieces'
kill $child
wait $child 2>/dev/null
child=
"$ULP" verify --format e2m1 --mode rne --overflow inf --sample 10 --resume kept/long >out.txt 2>err.txt
[ $? -eq 0 ] && [ "$(pieces kept/long)" -gt "$(cat before)" ]
verdict $? 'once it has ended, its pieces are kept by the next'

# ---- the results of another program ----

awk 'BEGIN { for (i = 1; i < 3000; i++) print (i - 1500) * 0.37 }' >numbers
"$ULP" round --format fp64 --to npy --out x.npy numbers
for mode in rne rd sr; do
    "$ULP" round --format e4m3 --mode $mode --seed 7 --stream 3 --from npy --to npy --out $mode.npy x.npy
    exits 0 "results of ulp round, $mode" "$ULP" verify --format e4m3 --mode $mode --seed 7 --stream 3 --inputs x.npy --results $mode.npy
    says "^PASS $mode.npy e4m3 $mode[a]* default: 2999 results, 0 mismatches\$" out.txt "the verdict of $mode"
done
exits 1 'results in another mode' "$ULP" verify --format e4m3 --mode rz --inputs x.npy --results rne.npy
says '^FAIL rne.npy e4m3 rz default: 2999 results, [1-9][0-9]* mismatches$' out.txt 'they fail'
says '^ulp verify: element (.*,): x = .*: the result is .*, MPFR gives ' err.txt 'and the first are shown'
exits 1 'results of another seed' "$ULP" verify --format e4m3 --mode sr --seed 8 --stream 3 --inputs x.npy --results sr.npy
"$ULP" round --format e4m3 --overflow nan --from npy --to npz --out nan.npz x.npy
exits 0 'a policy, and a member of an archive' "$ULP" verify --format e4m3 --mode rne --overflow nan --inputs x.npy --results nan.npz:arr_0
head -n 5 numbers | "$ULP" round --format fp64 --to npy --out five.npy
refuses 'arrays of two shapes' 'x.npy has the shape (2999,) and five.npy has (5,)' verify --format e4m3 --mode rne --inputs x.npy --results five.npy
refuses 'inputs alone' 'given together' verify --format e4m3 --mode rne --inputs x.npy
prints 0 'two modes of results' '^the results follow: rne$' "$ULP" verify --format e4m3 --mode rne,rz --inputs x.npy --results rne.npy
refuses 'results under --sample' '\-\-sample does not go with --inputs' verify --format e4m3 --mode rne --sample 9 --inputs x.npy --results rne.npy
refuses 'all policies of results' 'one policy' verify --format e4m3 --mode rne --overflow all --inputs x.npy --results rne.npy
refuses 'wrap of results' 'wrap' verify --format e4m3 --mode rne --overflow wrap --inputs x.npy --results rne.npy
refuses 'a stream without inputs' 'goes with --inputs' verify --format e4m3 --stream 3
refuses 'a text as results' 'numbers is no .npy file' verify --format e4m3 --mode rne --inputs x.npy --results numbers

# ---- refusals ----

refuses 'sample and exhaustive' 'exclude' verify --sample 10 --exhaustive
refuses 'no inputs' 'whole number' verify --sample 0
refuses '--bits with rz' 'not of rz' verify --format e4m3 --mode rz --bits 8 --sample 10
refuses 'wrap of floating point' 'there is no case' verify --format e4m3 --overflow wrap --sample 10
mkfifo pipe
refuses 'a journal that is a pipe' '--resume pipe: a device or a pipe keeps no journal' verify --sample 10 --resume pipe
holds 'the pipe stays a pipe' [ -p pipe ]
"$ULP" verify --sample 10 --format e4m3 --mode rne --resume kept.txt >out.txt
cp kept.txt before.txt
refuses 'the list of runs in the journal' '--runs ./kept.txt is the file of --resume' verify --format e4m3 --mode rne --overflow nan \
    --exhaustive --runs ./kept.txt --resume kept.txt
same before.txt kept.txt 'the journal is as it was'
refuses 'the list of runs in a new journal' '--runs ./new.txt is the file of --resume' verify --format e4m3 --mode rne --overflow nan \
    --exhaustive --runs ./new.txt --resume new.txt
refuses 'the oracle as a backend' 'this is the oracle' verify --sample 10 --backend mpfr
refuses 'an unknown backend' 'known: cpu cuda' verify --sample 10 --backend tpu
refuses 'an unknown format' "no format 'fp17'; did you mean 'fp16'?" verify --format fp17
refuses 'an unknown mode' 'known: rne' verify --mode up
refuses 'an unknown policy' 'known: default inf sat nan wrap sym zero, or all' verify --overflow up
ULPLAB_ISA=nonsense "$ULP" verify --sample 10 >out.txt 2>err.txt
[ $? -eq 2 ] && grep -q '^ulp verify: ULPLAB_ISA=nonsense: ' err.txt
verdict $? 'ULPLAB_ISA=nonsense'
"$ULP" verify --sample 10 --format fp16 --backend cuda >out.txt 2>err.txt
case $? in
0) skip 'verify --backend cuda exits 3' 'there is a device' ;;
3) says '^ulp verify: --backend cuda: .' err.txt 'verify --backend cuda says what is missing' ;;
*) verdict 1 'verify --backend cuda exits 3' ;;
esac
if [ -w /dev/full ]; then
    "$ULP" verify --sample 10 --format fp16 >/dev/full 2>err.txt
    [ $? -eq 1 ]
    verdict $? 'verdicts that cannot be written exit 1'
fi
exit $failed
