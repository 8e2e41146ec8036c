#!/bin/sh
# modes: release
# prove.sh - a few goals of `make prove`: roundings proved for all words, and planted faults that a proof has to refute.
# not with RUN: needs this machine's library
name='roundings proved for all words' tree=$(pwd) TESTS=${TESTS:-build/test}
. tests/programs/support.sh
cd "$tree" || exit 1
solver=$(sh tests/proofs/prove/prove.sh --ready 2> /dev/null) || {
    skip "$name" 'clang or a solver for Python is missing (python3-z3, or bitwuzla of PyPI)'
    exit 0
}
# goals that the solver answers within seconds; LIMIT leaves an unanswered one out, and the output names it
goals='decide.*|to_odd.*'
[ "$solver" = bitwuzla ] &&
    goals="$goals|core64-e5m2-deterministic|nearest64-e5m2-rne.*|exact-e2m1-deterministic|core64-e4m3-stochastic-fault.*"
DESCRIBE=$TESTS/describe LIBRARY=$BIN/../lib/libulp.so PROVE_BUILD=$work JOBS=1 LIMIT=30 ONLY="^($goals)$" \
    sh tests/proofs/prove/prove.sh > "$work/out" 2> "$work/err"
status=$?
sed 's/^/# /' "$work/out"
[ $status -eq 0 ] || sed 's/^/# /' "$work/err"
verdict $status "$name"
exit $failed
