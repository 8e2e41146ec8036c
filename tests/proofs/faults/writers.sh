#!/bin/sh
# writers.sh - two processes that write the same output at the same time: one wins whole, or one is refused with a sentence.
#
# ROUNDS: how often each pair runs (default 40).

. tests/programs/support.sh

rounds=${ROUNDS:-40}
refusal='another run is writing\|is there, and may hold answers\|holds shard'
LC_ALL=C seq 0.5 0.5 20000 >half.txt
LC_ALL=C seq 1 1 40000 >whole.txt
"$BIN/ulp" round --format fp32 --to npy --out half.npy half.txt && "$BIN/ulp" round --format fp32 --to npy --out whole.npy whole.txt || exit 1

# race TEXT OUTPUT A B WANT-A WANT-B: commands of the shell; statuses are 0 or 2, and the output is one of the wanted files
race() {
    text=$1 output=$2 i=0 wrong= both=0 refused=0
    while [ $i -lt "$rounds" ] && [ -z "$wrong" ]; do
        i=$((i + 1))
        rm -rf "$output"
        sh -c "$3" >a.out 2>a.err &
        sh -c "$4" >b.out 2>b.err
        b=$?
        wait $!
        a=$?
        case $a$b in
        00) both=$((both + 1)) ;;
        02) refused=$((refused + 1)); grep -q "$refusal" b.err || wrong="$(cat b.err)" ;;
        20) refused=$((refused + 1)); grep -q "$refusal" a.err || wrong="$(cat a.err)" ;;
        *) wrong="exit $a and $b: $(cat a.err b.err)" ;;
        esac
        diff -r "$output" "$5" >/dev/null 2>&1 || diff -r "$output" "$6" >/dev/null 2>&1 || wrong="the output is neither: $a $b"
        [ -z "$(find . -name '*.tmp')" ] || wrong="a name with .tmp stays"
    done
    [ -z "$wrong" ] || echo "# $wrong" | sed 's/^/# /'
    [ -z "$wrong" ]
    verdict $? "$text: $rounds rounds, both in turn $both, one refused $refused"
}

to="round --format fp32 --to npy --out o.npy"
race 'ulp round' o.npy "exec '$BIN/ulp' $to half.txt" "exec '$BIN/ulp' $to whole.txt" half.npy whole.npy
for x in half whole; do
    "$BIN/ulp" round --format fp32 --from npy --to npz --out $x.npz $x.npy && "$BIN/ulp" block --format mxfp8 --from npy --to npz --out $x.block.npz $x.npy
done
to="round --format fp32 --from npy --to npz --out o.npz"
race 'ulp round to .npz' o.npz "exec '$BIN/ulp' $to half.npy" "exec '$BIN/ulp' $to whole.npy" half.npz whole.npz
to="block --format mxfp8 --from npy --to npz --out o.npz"
race 'ulp block' o.npz "exec '$BIN/ulp' $to half.npy" "exec '$BIN/ulp' $to whole.npy" half.block.npz whole.block.npz

run="'$BIN/stagnation' --quick --formats fp16 --modes rne,sr --threads 1 --quiet"
mkdir one two
sh -c "$run --seed 1 --out one/o.csv; $run --seed 2 --out two/o.csv; rm -f one/*.json one/*.tsv two/*.json two/*.tsv"
tidy='; s=$?; rm -f o/*.json o/*.tsv; exit $s'
race 'an experiment' o "mkdir -p o; $run --seed 1 --out o/o.csv $tidy" "mkdir -p o; $run --seed 2 --out o/o.csv $tidy" one two
sh -c "$run --shard 0/2 --out s1; $run --shard 1/2 --out s2"
race 'two shards with one name' s "$run --shard 0/2 --out s" "$run --shard 1/2 --out s" s1 s2

verify="'$BIN/ulp' verify --format e4m3 --mode rne,ru --overflow inf --sample 2000 --jobs 1 --resume j"
sh -c "$verify" >/dev/null && mv j journal
race 'a journal' j "$verify" "$verify" journal journal
mkdir vectors && "$BIN/ulp" vectors --format e2m1 --datapath h100-e4m3 --sums 20 --out vectors >out.txt
make="exec '$BIN/ulp' vectors --format e2m1 --datapath h100-e4m3 --sums 20 --out v"
race 'golden vectors' v "$make" "$make" vectors vectors
mkdir sheets && "$BIN/ulp" course sheet --id anna --out sheets
make="mkdir -p c; exec '$BIN/ulp' course sheet --id anna --out c"
race "a student's sheet" c "$make" "$make" sheets sheets
exit $failed
