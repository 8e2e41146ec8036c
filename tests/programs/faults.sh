#!/bin/sh
# faults.sh - the short form of make check-faults: some commands with faults at some calls, full disks, two writers.
# modes: release
# not with RUN: needs LD_PRELOAD and ptrace

tests=${TESTS:-build/test}
scratch=$(mktemp -d) || exit 2
"$tests/faults/replay" --bin "${BIN:-build/bin}" --library "$tests/faults/interpose.so" --scratch "$scratch" --limit 8 --brief
failed=$?
rm -rf "$scratch"
sh tests/proofs/faults/disks.sh || failed=1
ROUNDS=3 sh tests/proofs/faults/writers.sh || failed=1
exit $failed
