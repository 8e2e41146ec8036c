#!/bin/sh
# prove.sh - `make prove`: finds clang and a Python with a solver, and lets prove.py prove every goal.
#
# DESCRIBE (build/test/describe), LIBRARY (build/lib/libulp.so), CC, CLANG, PYTHON and SOLVER are from the environment,
# and so are JOBS (default: one per processor), LIMIT (processor seconds for a goal, default 600), ONLY (a regular
# expression of names of goals), REPORT (a file), RETRY (unfinished goals once more). With the argument --ready it prints
# the name of the solver and ends. Exit status 3: something is missing.
cd "$(dirname "$0")/../../.." || exit 2
for c in ${CLANG:-clang clang-14 clang-18}; do
    clang=$(command -v "$c") && break
done
[ -n "$clang" ] || { echo "prove: the goals are compiled by clang, which is missing (sh packages.sh --all)" >&2; exit 3; }
export CLANG="$clang" PYTHONDONTWRITEBYTECODE=1
python=
for p in "${PYTHON:-python3}" python3 /usr/bin/python3; do
    solver=$("$p" tests/proofs/prove/solver.py 2>/dev/null) && python=$p && break
done
[ -n "$python" ] || {
    echo "prove: no Python finds the solver ${SOLVER:-bitwuzla or z3} (sh packages.sh --all brings z3; pip install bitwuzla)" >&2
    exit 3
}
export SOLVER="$solver"
[ "${1:-}" = --ready ] && echo "$solver" && exit 0
exec "$python" tests/proofs/prove/prove.py run --jobs "${JOBS:-$(getconf _NPROCESSORS_ONLN)}" --limit "${LIMIT:-600}" --only "${ONLY:-}" \
    ${REPORT:+--report "$REPORT"} ${RETRY:+--retry}
