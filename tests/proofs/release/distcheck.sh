#!/bin/sh
# distcheck.sh - make distcheck: the archive in DIST is complete. In WORK it is unpacked, built, tested, installed, cleaned.
#
# TAP lines, and a line of counts. The tests of the archive count one by one.
set -u
name=ulplab-$VERSION
here=$(pwd)
archive=$here/$DIST/$name.tar.gz
passed=0 failed=0 skipped=0
verdict() { # verdict STATUS TEXT
    if [ "$1" -eq 0 ]; then echo "ok - $2" && passed=$((passed + 1)); else echo "not ok - $2" && failed=$((failed + 1)); fi
}
rm -rf "$WORK"
mkdir -p "$WORK"
WORK=$(cd "$WORK" && pwd)

(cd "$DIST" && sha256sum -c SHA256SUMS)
verdict $? 'the checksums are those of the files'
VERSION=$VERSION DIST=$WORK/again sh tests/proofs/release/dist.sh >"$WORK/again.log" && cmp "$archive" "$WORK/again/$name.tar.gz"
verdict $? 'packed again, the archive has the same bytes'
tar -xzf "$archive" -C "$WORK" && cd "$WORK/$name"
verdict $? 'the archive is unpacked'
[ "$(cut -d ' ' -f 1 .commit)" = "$(git -C "$here" rev-parse HEAD)" ]
verdict $? 'it names its commit'

unset MAKEFLAGS MAKELEVEL MFLAGS
jobs=$(getconf _NPROCESSORS_ONLN)
make -j"$jobs" >"$WORK/make.log" 2>&1
verdict $? 'make'
build/bin/ulp --version
[ "$(build/bin/ulp --version | grep -c "$VERSION")" -gt 0 ]
verdict $? "ulp says $VERSION"
make check >"$WORK/check.log" 2>&1
verdict $? 'make check'
make check-tree >"$WORK/tree.log" 2>&1
verdict $? 'make check-tree'
counts=$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$WORK/check.log" | tail -n 1)
# shellcheck disable=SC2086
set -- ${counts:-0 1 0}
[ "$2" -eq 0 ] || grep -E '^ *not ok|[1-9][0-9]* failed' "$WORK/check.log"
passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
make install DESTDIR="$WORK/root" PREFIX=/usr >"$WORK/install.log" 2>&1 && [ "$(echo 464 | "$WORK/root/usr/bin/ulp" round --format e4m3 --to value)" = 448 ]
verdict $? 'an installed program computes'
make distclean >"$WORK/clean.log" 2>&1
verdict $? 'make distclean'
(cd "$WORK" && find "$name" ! -type d | LC_ALL=C sort) >"$WORK/left.txt"
tar -tzf "$archive" | grep -v '/$' | LC_ALL=C sort | diff - "$WORK/left.txt"
verdict $? 'nothing is left, and nothing is gone'
(cd "$WORK" && tar --diff -zf "$archive" 2>&1) | grep -v 'Uid\|Gid\|Mode\|Mod time' | grep .
[ $? -ne 0 ]
verdict $? 'no file was changed'
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
