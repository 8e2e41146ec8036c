#!/bin/sh
# t_experiments.sh - the programs of experiments: a run gives the same bytes in one or several parts; exit codes; messages.

SOURCES=$(pwd)/experiments
. tests/support.sh

S=$BIN/stagnation
small="--formats binary16,e4m3,q8.8 --runs 300"

exits 0 "stagnation: every claim passes" "$S" --out whole.csv
says '^PASS bfloat16: 100 steps' out.txt "the table and the claims go to standard output"
says '^binary16,rne,plain,path,1,100,100,5640,' whole.csv "binary16 stands still at 100, code 5640"
if grep -q '^FAIL' out.txt; then verdict 1 "no FAIL line"; else verdict 0 "no FAIL line"; fi

# the same bytes for every number of threads and instruction set
for threads in 1 2 5; do
    "$S" --threads $threads --quiet --out t.csv 2>/dev/null
    same whole.csv t.csv "the same CSV with $threads threads"
done
OMP_NUM_THREADS=3 "$S" --quiet --out t.csv
same whole.csv t.csv "the same CSV with OMP_NUM_THREADS=3"
says '"threads": 3' t.run.json "the record names the threads"
for isa in baseline avx2 avx512; do
    ULPLAB_ISA=$isa "$S" --quiet --out t.csv 2>err.txt
    case $? in
    0) same whole.csv t.csv "the same CSV with ULPLAB_ISA=$isa" ;;
    3) skip "the same CSV with ULPLAB_ISA=$isa" "this machine does not run it" ;;
    *) verdict 1 "the same CSV with ULPLAB_ISA=$isa" ;;
    esac
done
if command -v mpirun >/dev/null 2>&1; then
    mpirun --allow-run-as-root --oversubscribe -n 3 "$S" --threads 1 --quiet --out t.csv >out.txt 2>err.txt
    case $? in
    0) same whole.csv t.csv "the same CSV on 3 MPI ranks" ;;
    *) if grep -q 'this build has no MPI' err.txt; then skip "the same CSV on 3 MPI ranks" "built without MPI"
       elif grep -q 'stagnation:' err.txt; then sed 's/^/# /' err.txt; verdict 1 "the same CSV on 3 MPI ranks"
       else skip "the same CSV on 3 MPI ranks" "mpirun does not start here"; fi ;;
    esac
else
    skip "the same CSV on 3 MPI ranks" "no mpirun"
fi
"$S" --seed 2 --quiet --out t.csv
if cmp -s whole.csv t.csv; then verdict 1 "another seed gives other numbers"; else verdict 0 "another seed gives other numbers"; fi

# standard output
"$S" --out - 2>err.txt >t.csv
same whole.csv t.csv "--out - writes the same CSV to standard output"
says '^PASS' err.txt "with --out - the claims go to standard error"

# runs that are killed or interrupted, and resumed
long="--formats binary16,bfloat16,e4m3 --runs 6000"
"$S" $long --quiet --out long.csv
for signal in KILL INT; do
    rm -f r.csv*
    "$S" $long --quiet --threads 1 --out r.csv 2>err.txt &
    child=$!
    n=0
    until grep -q '^# end 7:' r.csv.part 2>/dev/null || [ $n -ge 6000 ]; do sleep 0.05; n=$((n + 1)); done
    kill -$signal $child 2>/dev/null
    wait $child 2>/dev/null
    status=$?
    child=
    if [ -f r.csv ]; then
        skip "a run killed by SIG$signal goes on with --resume" "it was over too soon"
        continue
    fi
    test -s r.csv.part
    verdict $? "SIG$signal leaves r.csv.part and no r.csv"
    # a shell starts background jobs with SIGINT ignored unless the program asks for it, as this one does
    if [ $signal = INT ]; then
        test $status -eq 1
        verdict $? "an interrupted run exits 1"
        says 'the same command with --resume goes on' err.txt "an interrupted run says how to go on"
    fi
    exits 2 "--resume with other options is refused" "$S" $long --seed 9 --resume --out r.csv
    exits 2 "without --resume nothing is destroyed" "$S" $long --out r.csv
    says 'r.csv.part holds [0-9]* finished points .* --restart forgets them' err.txt "it says what to do"
    exits 0 "--resume after SIG$signal" "$S" $long --resume --out r.csv
    same long.csv r.csv "a run killed by SIG$signal and resumed gives the same CSV"
    if grep -q '"points_resumed": 0,' r.run.json; then verdict 1 "it did not start again"; else verdict 0 "it did not start again"; fi
    test ! -e r.csv.part
    verdict $? "and r.csv.part is gone"
done

# two runs that write to the same file: the second is refused, and the first is not affected
rm -f r.csv*
"$S" $long --quiet --threads 1 --out r.csv 2>first.txt &
child=$!
n=0
until grep -q '^# end' r.csv.part 2>/dev/null || [ $n -ge 6000 ]; do sleep 0.05; n=$((n + 1)); done
kill -STOP $child
if [ -f r.csv ]; then skip "a second run with the same --out is refused" "the first was over too soon"
else
    exits 2 "a second run with the same --out is refused" "$S" $small --out r.csv
    says 'another run is writing r.csv' err.txt "it says why"
fi
kill -CONT $child
wait $child
verdict $? "the first one ends well"
child=
same long.csv r.csv "with the CSV of a run alone"

# shards and --list
"$S" $small --quiet --out small.csv
for i in 0 1 2 3; do "$S" $small --quiet --shard $i/4 --out shard$i.csv || verdict 1 "shard $i of 4"; done
exits 0 "--merge of 4 shards" "$S" $small --out m.csv --merge shard3.csv shard2.csv shard0.csv shard1.csv
same small.csv m.csv "merged shards give the same CSV"
exits 0 "--list" "$S" $small --list --out list.csv
grep -v '^#' out.txt >list.sh
points=$(grep -c . list.sh)
grep '^# then: ' out.txt | sed 's/^# then: //' >then.sh
sh -e list.sh >/dev/null 2>&1 && sh -e then.sh >/dev/null 2>&1
verdict $? "the $points commands of --list run, and the one that merges them"
same small.csv list.csv "and give the same CSV"

# refusals
exits 2 "an unknown option" "$S" --fromats binary16
says 'did you mean --formats?' err.txt "it suggests the right one"
exits 2 "an unknown format" "$S" --formats binray16
says "did you mean 'binary16'?" err.txt "it suggests the right one"
says 'ulp help formats. lists them' err.txt "it says where the list is"
exits 2 "a bad ULPLAB_ISA" env ULPLAB_ISA=sse9 "$S"
exits 2 "an output that cannot be written" "$S" --quick --out nowhere/x.csv
says 'cannot write nowhere/x.csv.*--out' err.txt "it says which and what to do"
[ -w /dev/full ] && exits 1 "a full disk" "$S" $small --quiet --out /dev/full
exits 0 "--start 10: the published numbers are not tested" "$S" --quick --start 10 --formats binary16 --out o.csv
says '^SKIP the published numbers' out.txt "and the run says so"
exits 0 "a single run" "$S" --quick --runs 1 --formats binary16 --out o.csv
says '(1 run: mean' out.txt "the claims name it in the singular"

exits 2 "--merge of a file that is not there" "$S" --quick --merge nofile --out m.csv
says 'cannot read nofile: ' err.txt "it names the file"
exits 2 "--merge into a folder that is not there" "$S" $small --merge shard1.csv --out nowhere/x.csv
says 'cannot write nowhere/x.csv.*--out' err.txt "it says which and what to do"
exits 2 "--resume in a folder that is not there" "$S" $small --resume --out nowhere/x.csv
says 'cannot write nowhere/x.csv.*--out' err.txt "it says which and what to do"
exits 2 "timings are not cut into shards" "$BIN/bench" --quick --shard 0/2
says 'run it whole' err.txt "it says why"

# bad texts of networks and optimizers end a run before it writes a file
for net in "gru0" "columns4 gru8" ""; do
    exits 2 "ctc --net '$net'" "$BIN/ctc" --quick --net "$net" --out bad.csv
    says '^ctc: .*net' err.txt "it says why"
done
for optimizer in "sdg" "sgd,rate=0.1" "sgd,kahan=1"; do
    exits 2 "ctc --optimizer '$optimizer'" "$BIN/ctc" --quick --optimizer "$optimizer" --recipes mixed:fp16 --out bad.csv
    says "^ctc: .*optimizer.*'$optimizer'" err.txt "it quotes what was given"
done
exits 2 "ctc --optimizer ''" "$BIN/ctc" --quick --optimizer "" --out bad.csv
says '^ctc: --optimizer: the value is empty' err.txt "it says so"
exits 2 "ctc --set digits" "$BIN/ctc" --quick --set digits --out bad.csv
says 'strips mnist-strips' err.txt "it says which sets there are"
many=$(awk 'BEGIN { for (i = 0; i < 200; i++) printf "tanh " }')
exits 2 "ctc --net of a thousand characters is read to its end" "$BIN/ctc" --quick --net "columns4 $many gru8 conv12@1" --out bad.csv
says 'a sequence of 11 x 1 x steps.* it is 12 x 1 x ' err.txt "it says what is wrong there"
exits 2 "gradient_underflow --net ''" "$BIN/gradient_underflow" --quick --net "" --out bad.csv
says "^gradient_underflow: --net: the value is empty" err.txt "it says why"
exits 2 "gradient_underflow with an unknown layer" "$BIN/gradient_underflow" --quick --net 'fc10 foo' --out refused.csv
says "^gradient_underflow: --net: no layer called 'foo'; known: " err.txt "it names the option and the layer"
exits 2 "gradient_underflow --formats e8m0" "$BIN/gradient_underflow" --quick --formats e8m0 --out bad.csv
says '^gradient_underflow: --formats e8m0: .* have a sign and a zero$' err.txt "it says why"
exits 2 "loss_scaling --policy with a datapath of no name" "$BIN/loss_scaling" --quick --policy mixed:fp16,acc=warp --out bad.csv
says "^loss_scaling: --policy: no datapath 'warp'; .ulp help datapaths. lists them$" err.txt "it says where they are listed"
for name in loss_scaling fixed_point; do
    exits 2 "$name --formats fp64" "$BIN/$name" --quick --formats fp64 --out bad.csv
    says "^$name: --formats binary64: has to lie within binary32" err.txt "it names the option that was given"
done
exits 0 "fixed_point with formats and modes in some places of --policy" "$BIN/fixed_point" --formats q2.14,e4m3 --modes sra/8 \
    --policy "weight=%,act=q6.10@amax/%,out=%,agrad=%,master=%" --epochs 1 --seeds 1 --out t.csv
says '^# policy in full: weight=q2.14/sra/8,act=q6.10@amax/sra/8,wgrad=binary32/rne,agrad=q2.14/sra/8,.*,master=q2.14/sra/8,.*,out=q2.14/sra/8,' \
    t.csv "FORMAT/MODE for %, MODE for % behind a /"
says '^# policy in full: weight=e4m3/sra/8,.*,agrad=e4m3:inf/sra/8,' t.csv "and gradients overflow, as they do without %"
exits 2 "fixed_point --policy with %/3" "$BIN/fixed_point" --policy "weight=%,act=%/3" --epochs 1 --out t.csv
says "^fixed_point: --policy: 'rne/3': random bits" err.txt "it says why"
# the first point of these runs is valid, a later point is not
exits 2 "fixed_point --optimizer kahan=1 with master weights" "$BIN/fixed_point" --quick --optimizer sgd,kahan=1 --policy mixed:fp16 --out bad.csv
says '^fixed_point: optimizer: kahan=1 takes the place of master weights' err.txt "it says why"
exits 2 "recurrence --optimizer kahan=1" "$BIN/recurrence" --quick --parts random,training --optimizer sgd,kahan=1 --out bad.csv
says '^recurrence: optimizer: kahan=1 takes the place of master weights' err.txt "it says why"
exits 2 "recipe --net fc7" "$BIN/recipe" --quick --net fc7 --out bad.csv
says '^recipe: the net.s last layer needs one output per class' err.txt "it says why"
exits 2 "fp8_accumulation --promote 33" "$BIN/fp8_accumulation" --quick --promote 33 --out bad.csv
says 'promote 33: has to be a multiple of 32' err.txt "it says which are"
exits 2 "order --datapath foo" "$BIN/order" --quick --datapath foo --out bad.csv
says "datapath: no datapath 'foo'$" err.txt "it says so"
ls bad.* >left.txt 2>/dev/null
[ ! -s left.txt ]
verdict $? "no file is left"

# files that are not from a stopped run stay unchanged
echo 'a file of mine' >notes.csv.part
exits 2 "a .part file of another origin" "$S" $small --out notes.csv
says 'no file of a stopped run' err.txt "the message says so"
[ "$(cat notes.csv.part)" = 'a file of mine' ]
verdict $? "and it stays"
rm notes.csv.part
cp small.csv whole.csv
exits 2 "a shard over a whole run" "$S" $small --shard 0/4 --out whole.csv
says 'holds no shard' err.txt "the message says so"
same small.csv whole.csv "and the run stays"
"$S" $small --quiet --out /dev/stdout | cat >piped.csv
same small.csv piped.csv "--out /dev/stdout into a pipe"
"$S" --help >out.txt
[ "$(grep -ci '^exit: ' out.txt)" -eq 1 ]
verdict $? "the exit statuses stand once in --help"

# data sets are read only from the given folder
G=$BIN/gradient_underflow
mkdir empty copy
cp "$SOURCES/data/digits.csv" copy
exits 2 "--data of no folder" "$G" --quick --data none
says '^gradient_underflow: --data none: there is no such folder$' err.txt "it names the option and the folder"
exits 3 "--data of an empty folder" "$G" --quick --data empty
says 'no digits.csv .* in empty or empty/digits$' err.txt "it names the folder and the file, and says no more"
exits 2 "--data without a name" "$G" --quick --data=
exits 3 "--set mnist without its files" "$G" --quick --set mnist
says 'each plain or .gz$' err.txt "it lists them, and says no more"
exits 3 "--set mnist in an empty folder" "$G" --quick --set mnist --data empty
exits 2 "an unknown data set" "$G" --quick --set cifar
says "^gradient_underflow: --set: no data set 'cifar'$" err.txt "it names the option"
says '^known: digits mnist mnist-strips strips$' err.txt "it lists the known ones, and says no more"
exits 0 "--help of an experiment with data" "$G" --help
says 'topics here: .*nets' out.txt "--help says where the layers of --net are explained"
for set in $("$BIN/ulp" help data | sed -n 's/^\([a-z-]*\)  .*/\1/p'); do says " $set[] ]" out.txt "--help names the data set $set"; done
few="--quick --quiet --nets small --steps 6 --every 3"
"$G" $few --out shipped.csv
"$G" $few --data copy --out t.csv
same shipped.csv t.csv "the same data from another folder give the same CSV"
ULPLAB_DATA=empty "$G" $few --out t.csv
same shipped.csv t.csv "ULPLAB_DATA without the digits: the set that ships"
exits 3 "ULPLAB_DATA without MNIST" env ULPLAB_DATA=empty "$G" --quick --set mnist
says ' in empty or empty/mnist' err.txt "it names the folder"
sed '1s/^0/1/' copy/digits.csv >empty/digits.csv
exits 2 "a damaged file" "$G" --quick --data empty
says 'CRC-32' err.txt "it says so"
head -n 100 copy/digits.csv >empty/digits.csv
exits 2 "a truncated file" "$G" --quick --data empty
says 'truncated: it ends after 100 of 1797 lines' err.txt "it says where"
exits 2 "a bad --net" "$G" --quick --net foo --out t.csv
says "no layer called 'foo'; known: " err.txt "it lists the known layers"
if grep -q 'no such name' err.txt || [ -e t.csv.part ]; then verdict 1 "and says no more, and leaves no .part"
else verdict 0 "and says no more, and leaves no .part"; fi
exits 2 "--net beside --nets" "$G" --quick --net fc10 --nets gru
says 'give one of the two' err.txt "it says why"
exits 2 "a network that is in no table" "$G" --quick --nets lenet
says 'known: mlp ' err.txt "it lists the known ones"
exits 2 "a bad --policy" "$BIN/loss_scaling" --quick --policy foo
says "no policy 'foo'; known: .*mode=$" err.txt "it lists the known words, and says no more"
for policy in mixed:fp16,acc=h100-bf16 mixed:fp16,acc=h100-e4m3 fp32,acc=a100-fp16 mixed:fp16,acc=h100-fp16; do # the last: e5m2@amax
    exits 2 "loss_scaling --policy $policy: the datapath does not take those formats" "$BIN/loss_scaling" --quick --policy $policy --out refused.csv
    says 'takes operands in' err.txt "and the sentence names what it takes"
    [ ! -e refused.csv ] && [ ! -e refused.csv.part ]
    verdict $? "and nothing is written"
done
for policy in mixed:fp16,agrad=e5m2 mixed:fp16,conv.wgrad=fp16@amax; do # other options decide these
    exits 2 "loss_scaling --policy $policy" "$BIN/loss_scaling" --quick --nets cnn --policy $policy --out refused.csv
    says '^loss_scaling: --policy: [aw]grad: --formats decides the formats of gradients, and --scalers their tensor scales' err.txt "it says what decides them"
    [ ! -e refused.csv ] && [ ! -e refused.csv.part ]
    verdict $? "and nothing is written"
done
exits 0 "loss_scaling --policy with the preset's agrad" "$BIN/loss_scaling" --quick --nets cnn --policy mixed:fp16,agrad=fp16/sr --list

# every kind of network and scaler gives a row, and the same bytes with two threads
L=$BIN/loss_scaling
part="--quick --nets small,resnet,gru --steps 4 --seeds 1 --scales 0,24 --scalers all --other-scalers all --other-scales 0"
"$L" $part --quiet --threads 1 --out part.csv
"$L" $part --quiet --threads 2 --out t.csv
same part.csv t.csv "loss_scaling: the same CSV with 2 threads"
[ "$(grep -c '^small,.*,layer,.*,final,' part.csv)" -eq 3 ] && [ "$(grep -c '^\(resnet\|gru\),.*,layer,.*,final,' part.csv)" -eq 2 ]
verdict $? "scales per layer for every network, residual and recurrent ones too"
[ "$(grep -c '^gru,e[45]m[23],\(amax\|delayed16\),' part.csv)" -eq 4 ] && ! grep -q ',e4m3,delayed16-inf,' part.csv
verdict $? "scales per tensor for both formats of 8 bits"

# experiments that train, with the options of a small run: a quick run has claims that pass, and a small run has the
# same bytes with another number of threads. A sanitizer needs minutes for this.
while read -r name part <&3; do
    case ${MODE:-release} in
    release | debug) ;;
    *) skip "$name --quick: every claim passes" "not under a sanitizer"; continue ;;
    esac
    exits 0 "$name --quick: every claim passes" "$BIN/$name" --quick --threads 2 --out $name.csv
    if grep -q '^PASS' out.txt && ! grep -q '^FAIL' out.txt; then verdict 0 "$name tests claims"; else verdict 1 "$name tests claims"; fi
    for threads in 1 2; do "$BIN/$name" --quick $part --threads $threads --quiet --out t$threads.csv; done
    same t1.csv t2.csv "$name: the same CSV with 1 and 2 threads"
done 3<<'END'
update_ratio --steps 60 --looks 3
magnitudes --steps 10
recipe --epochs 3
fixed_point --epochs 2
quantized_inference --epochs 1 --bits 3 --schemes symmetric
ctc --steps 3 --longest 50 --every 3
recurrence --parts random,trained,training --cells rnn,lstm --steps 32 --sequences 1 --batch 256 --piece 32 --hidden 8
END

# a claim is about certain options; with other options it is skipped, and the message names these options
exits 0 "recipe of few epochs" "$BIN/recipe" --quick --epochs 3 --seeds 1 --variants fp32 --out t.csv
says '^SKIP .*(--epochs is 3, the claim is about 60 or more)$' out.txt "the claims are skipped, for that"
exits 0 "recipe at another rate" "$BIN/recipe" --quick --rate 0.1 --epochs 3 --seeds 1 --variants fp32 --out t.csv
says '^SKIP .*(--rate is 0.1, the claim is about 0.2)$' out.txt "the claims are skipped, for that"
exits 0 "fixed_point with another batch" "$BIN/fixed_point" --quick --batch 300 --epochs 2 --seeds 1 --formats q8.8 --out t.csv
says '^SKIP .*(--batch is 300, the claim is about 100)$' out.txt "the claims are skipped, for that"
exits 0 "magnitudes after few steps" "$BIN/magnitudes" --quick --steps 9 --formats fp16 --out t.csv
says '^SKIP .*(--steps is 9, the claim is about 150)$' out.txt "the claims are skipped, for that"

# experiments about sums, with the options of a small run: exact numbers, and the same bytes for every way to make a run
while read -r name part <&3; do
    exits 0 "$name --quick: every claim passes" "$BIN/$name" --quick --out $name.csv
    says '^PASS' out.txt "$name tests claims"
    if grep -q '^FAIL' out.txt; then verdict 1 "$name: no FAIL line"; else verdict 0 "$name: no FAIL line"; fi
    "$BIN/$name" --quick $part --quiet --out part.csv
    for threads in 1 2; do
        "$BIN/$name" --quick $part --threads $threads --quiet --out t.csv 2>/dev/null
        same part.csv t.csv "$name: the same CSV with $threads threads"
    done
    for isa in baseline avx2 avx512; do
        ULPLAB_ISA=$isa "$BIN/$name" --quick $part --quiet --out t.csv 2>err.txt
        case $? in
        0) same part.csv t.csv "$name: the same CSV with ULPLAB_ISA=$isa" ;;
        3) skip "$name: the same CSV with ULPLAB_ISA=$isa" "this machine does not run it" ;;
        *) verdict 1 "$name: the same CSV with ULPLAB_ISA=$isa" ;;
        esac
    done
    "$BIN/$name" --quick $part --seed 2 --quiet --out t.csv
    if cmp -s part.csv t.csv; then verdict 1 "$name: another seed gives other numbers"
    else verdict 0 "$name: another seed gives other numbers"; fi
    for i in 0 1; do "$BIN/$name" --quick $part --quiet --shard $i/2 --out $name-$i.csv || verdict 1 "$name: shard $i of 2"; done
    "$BIN/$name" --quick $part --quiet --out t.csv --merge $name-1.csv $name-0.csv
    same part.csv t.csv "$name: merged shards give the same CSV"
done 3<<'END'
counting --formats bf16,e4m3 --terms 300 --limit 70000
harmonic --formats bf16,e4m3 --terms 300 --limit 20000
cartoon_sgd --formats bf16,e4m3 --updates 300 --runs 50
sum_growth --longest 3
sr_bits --bits 1,4
ode --longest 2
swamping --seeds 1 --longest 12 --chunks 1,3,32
block_fma --sizes 7,64,300 --outputs 9
fp8_accumulation --datapath h100-e4m3,b200-e4m3 --k 224 --outputs 17 --bits 14 --promote 32,128 --scaling amax
order --k 133 --orders 5
END

says '^bfloat16,rne,plain,stop,1,256,256,' counting.csv "counting: bfloat16 stops at 256"
says '^bfloat16,rne,plain,stop,1,65,[0-9.]*,5.0625,40a2,' harmonic.csv "harmonic: bfloat16 stops at term 65, at 5.0625"
says '^binary16,rne,plain,stop,1,199,2.953125,' cartoon_sgd.csv "cartoon_sgd: binary16 stops after 199 updates, at 2.953125"
says '^decay,bfloat16,rne,1000,,0.015625,,3c80,' ode.csv "ode: bfloat16 with 1000 steps does not move"

# for every seed and for every length from FROM on, the rows of e6m9 have the sum SUM and its code CODE
stops() { # stops CHUNK FROM SUM CODE
    awk -F, -v chunk="$1" -v from="$2" -v sum="$3" -v code="$4" '
        $1 == "e6m9" && $3 == "rne" && $4 == chunk && $6 >= from { rows++; good += $7 == sum && $8 == code }
        END { exit !(rows > 0 && good == rows) }' swamping.csv
    verdict $? "swamping: to nearest, chunk $1, every sum of $2 terms and more is $3, code $4"
}
stops 1 8192 4096 5600
stops 32 131072 65536 5e00
stops 64 262144 131072 6000
stop() { says "^constant,,$1,32768,$2," fp8_accumulation.csv "fp8_accumulation: 32768 products of 2^-8 give $2 by $1"; }
stop h100-e4m3,, 64,42800000,0.5
stop l40s-e4m3,, 64,42800000,0.5
stop h100-e4m3:F=11:kept=11,12, 16,41800000,0.875
stop h100-e4m3:F=12:kept=12,13, 32,42000000,0.75
stop h100-e4m3:F=14:kept=14,15, 128,43000000,0
for every in 32 64 128 256 512 1024 2048; do stop h100-e4m3:promote=$every,,$every 128,43000000,0; done
stop b200-e4m3,, 128,43000000,0
stop h100-e4m3-mma,, 128,43000000,0

# formats with one bit of precision, in which ties go to the even code, and formats whose range is too small for long sums
exits 0 "sum_growth with one bit of significand and with little range: every claim passes" \
    "$BIN/sum_growth" --quick --formats binary8p1se,binary8p5se,e3m4 --longest 4 --out t.csv
says '^PASS binary8p1se to nearest, sums of U.0,1.: every one of [0-9]* terms or more is exactly 4 ' out.txt "its sums stop at 4"
says '^PASS binary8p1se sra, positive terms: ' out.txt "its stochastic sums are tested"
says '^PASS to nearest: no error of a sum within the format.s range' out.txt "sums within the range are tested"

# seed 303 gives a network of gain 2 that is hardly chaotic, seed 910 a network that contracts
for seed in 303 910; do
    exits 0 "recurrence --seed $seed: every claim passes" \
        "$BIN/recurrence" --quick --parts random --steps 256 --sequences 16 --modes rne --sums binary32 --seed $seed --out t.csv
    says '^PASS chaotic network: a bit more' out.txt "the horizons of the other network are tested"
done

# in the network of seed 809 the errors of some sequences are large, and grow no more, long before those of the others
exits 0 "recurrence --seed 809: every claim passes" "$BIN/recurrence" --seed 809 --seeds 1 --parts random --gains 2 \
    --formats fp32 --modes rne --sums binary32 --out t.csv
says 'PASS chaotic network: the error of every format grows' out.txt "the claim about the growth is tested"
# with seed 707 a network in e4m3 loses seven of its 720 answers, 0.97 points
exits 0 "quantized_inference --seed 707: every claim passes" "$BIN/quantized_inference" --seed 707 --formats e4m3 --bits 8 --schemes affine --out t.csv
says '^PASS e4m3, sums in binary32: within half a point' out.txt "the claim about e4m3 is tested"
mkdir closed && chmod 555 closed
if [ -w closed ]; then skip "results cannot be made" "root may write anywhere"
else
    (cd closed && "$BIN/ode" --quick) 2>err.txt >out.txt
    [ $? -eq 2 ]
    verdict $? "results cannot be made"
    says 'cannot write into a new folder results: Permission denied; choose another place with --out' err.txt "it says why"
fi
chmod 755 closed && rmdir closed
# with seed 707 binary16 flushes a smaller share of the gradients than with other seeds
exits 0 "gradient_underflow --seed 707: every claim passes" "$BIN/gradient_underflow" --quick --nets mlp --seed 707 --out t.csv
says '^PASS every network: binary16 at scale 1 flushes every' out.txt "the claim about binary16 is tested"

# `--formats all` selects the formats that an experiment can use; any other format is refused by name
for name in counting harmonic cartoon_sgd swamping sum_growth ode sr_bits stagnation gradient_underflow loss_scaling magnitudes \
    update_ratio fixed_point recurrence quantized_inference ctc all_reduce amp; do
    exits 0 "$name --formats all" "$BIN/$name" --quick --formats all --list
    [ $name = stagnation ] && continue
    exits 2 "$name --formats fp64" "$BIN/$name" --quick --formats fp64 --out f.csv
    says 'binary64' err.txt "it names it"
done
exits 0 "all_reduce over 1024 ranks in e4m3" "$BIN/all_reduce" --quick --formats e4m3,e4m3:sat --modes rne --orders tree --means after \
    --ranks 1024 --elements 1 --reductions ring:fp32 --train-ranks 1 --steps 1 --out t.csv
says '^# overflow of sums: e4m3=nan e4m3:sat=sat binary32=inf$' t.csv "the header says what sums that are too large become"
[ "$(sed -n 's/^1,tree:e4m3\(:sat\)*:rne,.*,after,1024,1,\([^,]*\),.*/\2/p' t.csv | tr '\n' ' ')" = 'nan 0.4375 ' ]
verdict $? "and so do the numbers"
exits 0 "counting with all formats" "$BIN/counting" --quick --formats all --terms 30 --limit 3000 --out t.csv
says '^# formats: binary32,tf32,.*,q4.0$' t.csv "the file lists those that counted"
exits 2 "quantized_inference --bits 2.5,2" "$BIN/quantized_inference" --quick --bits 2.5,2
says '2.5: has to be a whole number' err.txt "it says why"
exits 2 "quantized_inference --bits 2,2" "$BIN/quantized_inference" --quick --bits 2,2
says '2 is given twice' err.txt "it says why"

N="$BIN/gan"
exits 2 "gan with a generator of another shape" "$N" --quick --generator-net fc49,reshape1x7x7 --out bad.csv
says '^gan: --generator-net: makes samples of 1 x 7 x 7 (channels, height, width), the data have 1 x 8 x 8$' err.txt "it names both shapes"
exits 2 "gan with a discriminator of two numbers" "$N" --quick --discriminator-net fc2 --out bad.csv
says '^gan: --discriminator-net: has 2 outputs; a discriminator ends in one number, for example with fc1$' err.txt "it says what is allowed"
exits 2 "gan with a classifier of nine classes" "$N" --quick --classifier-net fc9 --out bad.csv
says '^gan: --classifier-net: .* it has 9, digits has 10 classes$' err.txt "it says why"
exits 2 "gan with an unknown layer" "$N" --quick --generator-net fc64,foo --out bad.csv
says "^gan: --generator-net: no layer called 'foo'; known: " err.txt "it names the option"
exits 2 "gan with too large a batch" "$N" --quick --batch 2000 --out bad.csv
says '^gan: --batch 2000: must be at most 1437, the training part$' err.txt "it says what is allowed"
exits 2 "gan that shows more samples than it judges" "$N" --quick --shown 30 --samples 20 --out bad.csv
says '^gan: --shown 30: must be at most 20, the value of --samples$' err.txt "it names both values"
exits 2 "gan with an optimizer that does not fit a variant" "$N" --quick --generator-optimizer sgd,kahan=1 --out bad.csv
says '^gan: variant fp16-scaled: generator: optimizer: kahan=1 ' err.txt "it names the variant"
[ ! -e bad.csv ]
verdict $? "and nothing is written"
# 12 images of 2 x 2 pixels for training and 12 for tests, with the label 1
mkdir tiny
for part in train t10k; do
    { printf '\000\000\010\003\000\000\000\014\000\000\000\002\000\000\000\002'; printf '%048d' 0; } >tiny/$part-images-idx3-ubyte
    { printf '\000\000\010\001\000\000\000\014'; printf '%012d' 0 | tr 0 '\001'; } >tiny/$part-labels-idx1-ubyte
done
exits 0 "gan with fewer digits than --shown" "$N" --set mnist --data tiny --batch 4 --variants digits --generator-net fc4,reshape1x2x2 --classifier-steps 2 --out t.csv
[ "$(grep -c ',pixel,' t.csv)" -eq 48 ]
verdict $? "every digit is written once"
exits 0 "gan on one thread" "$N" --quick --steps 20 --seeds 1 --classifier-steps 50 --threads 1 --out one.csv
exits 0 "gan on three threads" "$N" --quick --steps 20 --seeds 1 --classifier-steps 50 --threads 3 --out t.csv
same one.csv t.csv "gan: the same CSV with 3 threads"
# a run that is killed after its first checkpoints goes on with the same rows
rm -f t2.csv*
long="--quick --quiet --steps 200 --every 5 --samples 50 --seeds 1 --classifier-steps 50 --variants fp32"
"$N" $long --out one.csv
"$N" $long --checkpoint 0.001 --threads 1 --out t2.csv 2>err.txt &
child=$!
n=0
until [ -e t2.csv.part.0.ckpt ] || ! kill -0 $child 2>/dev/null || [ $n -ge 6000 ]; do sleep 0.01; n=$((n + 1)); done
kill -KILL $child 2>/dev/null
wait $child 2>/dev/null
if [ -f t2.csv ]; then skip "gan: a killed run" "it was over too soon"
else
    exits 0 "gan: a killed run goes on" "$N" $long --resume --out t2.csv
    same one.csv t2.csv "gan: with the same CSV"
fi
rm -f t2.csv*
exits 2 "swamping --chunks 1.5" "$BIN/swamping" --quick --chunks 1.5
says '1.5: has to be a whole number' err.txt "it says why"
exits 0 "swamping without e6m9 skips the claims about it" "$BIN/swamping" --quick --formats bf16 --longest 10 --out t.csv
says '^SKIP' out.txt "and says so"
exits 2 "block_fma with a datapath of other inputs" "$BIN/block_fma" --quick --datapath h100-bf16
says 'h100-bf16: needs binary16 inputs' err.txt "it names it"
exits 2 "fp8_accumulation with a datapath of other inputs" "$BIN/fp8_accumulation" --quick --datapath h100-fp16
says 'h100-fp16: needs e4m3 inputs' err.txt "it names it"
exits 2 "a promotion that cuts a block" "$BIN/fp8_accumulation" --quick --promote 100
says 'promote 100' err.txt "it names it"
exits 0 "order with few orders skips the claims about many" "$BIN/order" --quick --k 64 --orders 5 --out t.csv
says '^SKIP' out.txt "and says so"

# a missing backend is refused with its reason before a file is written; so are an unknown backend, and the option in
# experiments without array operations
gpu=no
"$BIN/ulp" gemm --datapath fp32 --m 1 --n 1 --k 1 --backend cuda >out.txt 2>err.txt && gpu=yes
took=0
for source in "$SOURCES"/*/; do
    name=$(basename "$source")
    [ "$("$BIN/$name" --version 2>/dev/null | sed 's/.*, experiment //')" = "$name" ] || continue
    if "$BIN/$name" --help | grep -q '^  --backend '; then
        took=$((took + 1))
        exits 2 "$name --backend tpu" "$BIN/$name" --quick --backend tpu --out machine.csv
        known='^known: cpu cuda$'
        [ "$name" = bench_gpu ] && known='^known: cuda$' # it has no CPU timings
        says "$known" err.txt "it lists the known ones"
        if [ $gpu = yes ]; then skip "$name --backend cuda without a device" "there is one"; continue; fi
        exits 3 "$name --backend cuda" "$BIN/$name" --quick --backend cuda --out machine.csv
        says "^$name: --backend cuda: " err.txt "it says why"
        if grep -q 'instruction set' err.txt; then verdict 1 "and of no processor"; else verdict 0 "and of no processor"; fi
    else
        exits 2 "$name --backend cpu" "$BIN/$name" --quick --backend cpu --out machine.csv
        says '--backend would change nothing here' err.txt "it says so"
    fi
done
[ $took -ge 18 ]
verdict $? "$took experiments take --backend"
set -- machine.csv*
if [ -e "$1" ]; then verdict 1 "none of them writes a file"; else verdict 0 "none of them writes a file"; fi

# every experiment prints --help
for source in "$SOURCES"/*/; do
    name=$(basename "$source")
    [ "$("$BIN/$name" --version 2>/dev/null | sed 's/.*, experiment //')" = "$name" ] || continue
    exits 0 "$name --help" "$BIN/$name" --help
    says '^environment: .*ULPLAB_ISA.*ULPLAB_CUDA_DEVICE' out.txt "it names what the environment sets"
    exits 0 "$name --quick --list" "$BIN/$name" --quick --list
    exits 2 "$name --nonsense" "$BIN/$name" --nonsense
done
exit $failed
