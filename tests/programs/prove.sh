#!/bin/sh
# modes: release
# prove.sh - a few goals of `make prove`: roundings proved for all words, and planted faults that a proof has to refute.
name='roundings proved for all words'
TESTS=${TESTS:-build/test}
solver=$(sh tests/proofs/prove/prove.sh --ready 2> /dev/null) || {
    echo "ok - $name # SKIP clang or a solver for Python is missing (python3-z3, or bitwuzla of PyPI)"
    exit 0
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# goals that the solver answers within seconds; LIMIT leaves an unanswered one out, and the output names it
goals='decide.*|to_odd.*'
[ "$solver" = bitwuzla ] &&
    goals="$goals|core64-e5m2-deterministic|nearest64-e5m2-rne.*|exact-e2m1-deterministic|core64-e4m3-stochastic-fault.*"
DESCRIBE=$TESTS/describe LIBRARY=${BIN:-build/bin}/../lib/libulp.so PROVE_BUILD=$work JOBS=1 LIMIT=30 ONLY="^($goals)$" \
    sh tests/proofs/prove/prove.sh > "$work/out" 2> "$work/err"
status=$?
sed 's/^/# /' "$work/out"
if [ $status -eq 0 ]; then echo "ok - $name"; else
    echo "not ok - $name"
    sed 's/^/# /' "$work/err"
    exit 1
fi
