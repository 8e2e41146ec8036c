#!/bin/sh
# oracle.sh - the quickest experiments, computed by MPFR, give the bytes of the CPU; tests/proofs/oracle/oracle.sh does all.
# modes: release
quick=$(sed -n 's/^ORACLE_QUICK := //p' tests/proofs/oracle/oracle.mk)
BIN=${BIN:-build/bin} ORACLE=${TESTS:-build/test}/oracle ONLY=$quick REPORT='' sh tests/proofs/oracle/oracle.sh >"${TMPDIR:-/tmp}/oracle.$$"
status=$?
grep -v ' passed, ' "${TMPDIR:-/tmp}/oracle.$$"
rm -f "${TMPDIR:-/tmp}/oracle.$$"
exit $status
