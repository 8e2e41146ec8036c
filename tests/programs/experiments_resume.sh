#!/bin/sh
# experiments_resume.sh - an experiment that is stopped and resumed, or run in parts, gives the bytes of one run.
. tests/programs/support.sh

S=$BIN/stagnation
small="--formats binary16,e4m3,q8.8 --runs 300"

prints 0 "stagnation: every claim passes" '^PASS bfloat16: 100 steps' "$S" --out whole.csv
says '^binary16,rne,plain,path,1,100,100,5640,' whole.csv "binary16 stands still at 100, code 5640"
holds "no FAIL line" ! grep -q '^FAIL' out.txt

# the same bytes for every number of threads and instruction set, in all formats and modes
few="--runs 100"
"$S" $few --quiet --out few.csv
for threads in 1 2 5; do
    "$S" $few --threads $threads --quiet --out t.csv 2>/dev/null
    same few.csv t.csv "the same CSV with $threads threads"
done
OMP_NUM_THREADS=3 "$S" $few --quiet --out t.csv
same few.csv t.csv "the same CSV with OMP_NUM_THREADS=3"
says '"threads": 3' t.run.json "the record names the threads"
for isa in baseline neon sve256 avx2 avx512; do
    ULPLAB_ISA=$isa "$S" $few --quiet --out t.csv 2>err.txt
    case $? in
    0) same few.csv t.csv "the same CSV with ULPLAB_ISA=$isa" ;;
    3) skip "the same CSV with ULPLAB_ISA=$isa" "this machine does not run it" ;;
    *) verdict 1 "the same CSV with ULPLAB_ISA=$isa" ;;
    esac
done
if command -v mpirun >/dev/null 2>&1; then
    mpirun --allow-run-as-root --oversubscribe -n 3 "$S" $few --threads 1 --quiet --out t.csv >out.txt 2>err.txt
    case $? in
    0) same few.csv t.csv "the same CSV on 3 MPI ranks" ;;
    *) if grep -q 'this build has no MPI' err.txt; then skip "the same CSV on 3 MPI ranks" "built without MPI"
       elif grep -q 'stagnation:' err.txt; then sed 's/^/# /' err.txt; verdict 1 "the same CSV on 3 MPI ranks"
       else skip "the same CSV on 3 MPI ranks" "mpirun does not start here"; fi ;;
    esac
else
    skip "the same CSV on 3 MPI ranks" "no mpirun"
fi
"$S" $few --seed 2 --quiet --out t.csv
if cmp -s few.csv t.csv; then verdict 1 "another seed gives other numbers"; else verdict 0 "another seed gives other numbers"; fi

# standard output
"$S" $few --out - 2>err.txt >t.csv
same few.csv t.csv "--out - writes the same CSV to standard output"
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
    holds "SIG$signal leaves r.csv.part and no r.csv" test -s r.csv.part
    # a shell starts background jobs with SIGINT ignored unless the program asks for it, as this one does
    if [ $signal = INT ]; then
        holds "an interrupted run exits 1" test $status -eq 1
        says 'the same command with --resume goes on' err.txt "an interrupted run says how to go on"
    fi
    exits 2 "--resume with other options is refused" "$S" $long --seed 9 --resume --out r.csv
    exits 2 "without --resume nothing is destroyed" "$S" $long --out r.csv
    says 'r.csv.part holds [0-9]* finished points .* --restart forgets them' err.txt "it says what to do"
    exits 0 "--resume after SIG$signal" "$S" $long --resume --out r.csv
    same long.csv r.csv "a run killed by SIG$signal and resumed gives the same CSV"
    holds "it did not start again" ! grep -q '"points_resumed": 0,' r.run.json
    holds "and r.csv.part is gone" test ! -e r.csv.part
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
    complains 2 "a second run with the same --out is refused" 'another run is writing r.csv' "$S" $small --out r.csv
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

# files that are not from a stopped run stay unchanged
echo 'a file of mine' >notes.csv.part
complains 2 "a .part file of another origin" 'no file of a stopped run' "$S" $small --out notes.csv
holds "and it stays" [ "$(cat notes.csv.part)" = 'a file of mine' ]
rm notes.csv.part
cp small.csv whole.csv
complains 2 "a shard over a whole run" 'holds no shard' "$S" $small --shard 0/4 --out whole.csv
same small.csv whole.csv "and the run stays"
"$S" $small --quiet --out /dev/stdout | cat >piped.csv
same small.csv piped.csv "--out /dev/stdout into a pipe"

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

# gan: the same bytes for every number of threads; a run that is killed after its first checkpoints goes on with the same rows
N=$BIN/gan
exits 0 "gan on one thread" "$N" --quick --steps 20 --seeds 1 --classifier-steps 50 --threads 1 --out one.csv
exits 0 "gan on three threads" "$N" --quick --steps 20 --seeds 1 --classifier-steps 50 --threads 3 --out t.csv
same one.csv t.csv "gan: the same CSV with 3 threads"
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

exit $failed
