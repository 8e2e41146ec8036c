#!/bin/sh
# ranks.sh - runs under mpirun: the CSV of one process, ranks that exchange messages, and a rank that is killed.
# modes: release

. tests/programs/support.sh

A=$BIN/all_reduce
small="--quick --orders all --formats bf16,e4m3 --ranks 1,2,3,4,8,64 --elements 13 --train-ranks 1,2,4,8 --steps 4 --seeds 1 --threads 1 --quiet
    --reductions ring:e4m3:sr,tree:bf16,doubling:fp16,two-level:bf16:node=2"
long="--quick --orders ring --formats bf16 --modes rne --means after --ranks 1,4 --elements 4 --train-ranks 4,32 --steps 1500 --seeds 1 --threads 1
    --quiet --reductions ring:fp32,ring:bf16,tree:bf16,ring:e4m3"
start() { # start N COMMAND...
    n=$1
    shift
    mpirun --allow-run-as-root --oversubscribe -n "$n" "$@"
}

why=
command -v mpirun >/dev/null 2>&1 || why="no mpirun"
"$BIN/ulp" backends | grep -q '^mpi  *offered' || why="built without MPI"
[ -n "$why" ] || start 1 "$A" $small --out t.csv >out.txt 2>err.txt || grep -q '^all_reduce:' err.txt || why="mpirun does not start here"
if [ -n "$why" ]; then
    skip "ranks under mpirun" "$why"
    exit $failed
fi

# Kill a rank when a point is finished: `of` processes are the ranks of points (4), or compute points one by one (3).
case_of() { # case_of N VICTIM
    mkdir kill$1 && cd kill$1 || exit 2
    export OMPI_MCA_orte_tmpdir_base="$PWD" # of each mpirun of those that run at the same time
    mpirun --allow-run-as-root --oversubscribe -n $1 "$A" $long --out k.csv >out.txt 2>err.txt &
    mpi=$! tries=0
    # on a busy machine the first point takes long
    until grep -q '^# end ' k.csv.part 2>/dev/null || ! kill -0 $mpi 2>/dev/null || [ $tries -ge 6000 ]; do
        sleep 0.02
        tries=$((tries + 1))
    done
    for process in $(ps -e -o pid=,ppid= | awk -v p=$mpi '$2 == p {print $1}'); do
        tr '\0' '\n' <"/proc/$process/environ" 2>/dev/null | grep -qx "OMPI_COMM_WORLD_RANK=$2" && kill -9 "$process"
    done
    from=$(date +%s)
    wait $mpi
    echo "$?" >status
    echo "$(($(date +%s) - from))" >seconds
}
four= three=
[ ! -r /proc/self/environ ] || { (case_of 4 2) & four=$!; (case_of 3 0) & three=$!; } # they mostly wait

"$A" $small --out one.csv
same one.csv t.csv "1 process under mpirun: the CSV of one"
for n in 2 3 4 8; do
    start $n "$A" $small --out t.csv >out.txt 2>err.txt
    same one.csv t.csv "$n processes: the CSV of one"
    says '"points_by_all_ranks": [1-9]' t.run.json "$n processes: they are the ranks of some points"
done
start 8 "$BIN/stagnation" --quick --formats fp16 --modes rne --quiet --out more.csv >out.txt 2>err.txt
verdict $? "more processes than points"

if [ -z "$four" ]; then
    skip "a rank that is killed" "no /proc"
    exit $failed
fi
"$A" $long --out whole.csv
wait $four
wait $three
for of in 4:2 3:0; do
    n=${of%:*} rank=${of#*:}
    if [ "$(cat kill$n/status)" = 0 ] || [ -e kill$n/k.csv ]; then skip "rank $rank of $n is killed" "it was over too soon"; continue; fi
    [ -e kill$n/k.csv.part ] || sed 's/^/# /' kill$n/err.txt # why no point was finished
    [ "$(cat kill$n/status)" != 0 ] && [ "$(cat kill$n/seconds)" -le 10 ]
    verdict $? "rank $rank of $n is killed: the others end within 10 seconds"
    [ "$(grep -c "^all_reduce: rank $rank of $n (process [0-9]* on .*) has died" kill$n/err.txt)" = 1 ]
    verdict $? "one sentence names it"
    says '^# end ' kill$n/k.csv.part "finished points are kept"
    "$A" $long --resume --out kill$n/k.csv >out.txt 2>err.txt
    same whole.csv kill$n/k.csv "--resume gives the CSV of a whole run"
done
exit $failed
