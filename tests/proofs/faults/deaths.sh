#!/bin/sh
# deaths.sh - a rank of mpirun is killed before its first point, in the middle and at the end; then --resume.

. tests/programs/support.sh

small="--quick --orders ring --formats bf16 --modes rne --means after --ranks 1,3 --elements 4 --train-ranks 1,2,4 --steps 300 --seeds 2
    --threads 1 --quiet --reductions ring:fp32,ring:e4m3"
start() { # start N COMMAND...
    n=$1
    shift
    mpirun --allow-run-as-root --oversubscribe -n "$n" "$@"
}

why=
command -v mpirun >/dev/null 2>&1 || why="no mpirun"
"$BIN/ulp" backends | grep -q '^mpi  *offered' || why="built without MPI"
[ -r /proc/self/environ ] || why="no /proc"
[ -n "$why" ] || start 1 "$BIN/stagnation" --quick --formats fp16 --modes rne --quiet --out t.csv >out.txt 2>err.txt || why="mpirun does not start here"
if [ -n "$why" ]; then
    skip "a rank that dies" "$why"
    exit $failed
fi

# the process of a rank below the mpirun $mpi, or nothing
process_of() {
    for process in $(ps -e -o pid=,ppid= | awk -v p="$mpi" '$2 == p {print $1}'); do
        { tr '\0' '\n' <"/proc/$process/environ"; } 2>/dev/null | grep -qx "OMPI_COMM_WORLD_RANK=$1" && echo "$process"
    done
    true
}
points() { grep -c '^# end ' k.csv.part 2>/dev/null || true; }

"$BIN/all_reduce" $small --out whole.csv || exit 1
all=$("$BIN/all_reduce" $small --list --out whole.csv | wc -l)
# die VICTIM POINTS N AGAIN: kill a rank of 3 when so many points are kept; N ranks resume, 1: without mpirun
die() {
    victim=$1 least=$2 n=$3
    text="rank $victim of 3 dies after $least of $all points"
    rm -f k.* && echo old >k.csv
    mpirun --allow-run-as-root --oversubscribe -n 3 "$BIN/all_reduce" $small --out k.csv >out.txt 2>err.txt &
    mpi=$! child=$! tries=0
    while kill -0 $mpi 2>/dev/null && [ $tries -lt 3000 ]; do
        [ "$least" -eq 0 ] && process=$(process_of "$victim") && [ -n "$process" ] && break
        kept=$(points)
        [ "$least" -gt 0 ] && [ "${kept:-0}" -ge "$least" ] && process=$(process_of "$victim") && break
        sleep 0.01
        tries=$((tries + 1))
    done
    [ -n "$process" ] && kill -9 $process 2>/dev/null
    wait $mpi
    status=$?
    child=
    if [ $status -eq 0 ]; then
        cmp -s whole.csv k.csv
        verdict $? "$text: too late, the run is whole"
        return
    fi
    [ "$(cat k.csv)" = old ] || cmp -s whole.csv k.csv
    verdict $? "$text: exit status $status, the file is old or new"
    if [ "$n" -eq 1 ]; then "$BIN/all_reduce" $small --resume --out k.csv >out.txt 2>err.txt
    else start "$n" "$BIN/all_reduce" $small --resume --out k.csv >out.txt 2>err.txt; fi
    [ $? -eq 0 ] || sed 's/^/# /' err.txt
    same whole.csv k.csv "$text: --resume with $n gives the bytes of an undisturbed run"
    [ -z "$(find . -name 'k.csv.*')" ]
    verdict $? "$text: nothing else stays"
}
for victim in 0 1 2; do
    die $victim 0 1
    die $victim 1 2
    die $victim $((all / 2)) 3
    die $victim $((all - 1)) 4
done
exit $failed
