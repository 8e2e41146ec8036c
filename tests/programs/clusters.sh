#!/bin/sh
# clusters.sh - the examples of experiments/README.md for GNU parallel, mpirun and Slurm give the CSV of one process.
# modes: release

README=$(pwd)/experiments/README.md
. tests/programs/support.sh

mkdir build results bin && ln -s "$BIN" build/bin
block() { # block N: the N-th block of code of the section
    awk -v n="$1" '/^## / { here = /^## Sweeps/ } /^```/ { inside = !inside; count += inside && here; next } inside && here && count == n' "$README"
}
again() { rm -f results/*; }

"$BIN/stagnation" --quick --formats bf16 --quiet --out one.csv
[ "$(block 1 | grep -c parallel)" = 1 ] && [ "$(block 2 | grep -c '^mpirun ')" = 1 ] && [ "$(block 3 | grep -c srun)" = 1 ] && [ -n "$(block 4)" ]
verdict $? "the page has its examples"

if parallel --version 2>/dev/null | grep -q '^GNU parallel'; then
    block 1 >example.sh && sh example.sh >out.txt 2>err.txt
    same one.csv results/stagnation.csv "GNU parallel: the CSV of one process"
else
    skip "GNU parallel" "not installed"
fi

again
if command -v mpirun >/dev/null 2>&1 && "$BIN/ulp" backends | grep -q '^mpi  *offered'; then
    printf '#!/bin/sh\nexec %s --allow-run-as-root --oversubscribe "$@"\n' "$(command -v mpirun)" >bin/mpirun
    chmod +x bin/mpirun
    block 2 >example.sh && PATH=$work/bin:$PATH sh example.sh >out.txt 2>err.txt
    same one.csv results/stagnation.csv "mpirun: the CSV of one process"
else
    skip "mpirun" "not installed, or built without MPI"
fi

again
block 3 >job.sh
sh -n job.sh
verdict $? "Slurm: sh reads the script"
printf '#!/bin/sh\nexec "$@"\n' >bin/srun
chmod +x bin/srun
for task in 0 1 2; do
    PATH=$work/bin:$PATH SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_COUNT=3 SLURM_CPUS_PER_TASK=1 sh job.sh >out.txt 2>err.txt
done
block 4 >merge.sh && sh merge.sh >out.txt 2>err.txt
same one.csv results/stagnation.csv "Slurm with a stand-in for srun: the CSV of one process"
exit $failed
