#!/bin/sh
# dist.sh - make dist: packs the last commit into DIST, with the list of its parts and with checksums.
#
# The archive has the bytes of the commit and its time, so that everyone who has the commit can make the same archive.
# Changes that are not committed are refused.
set -eu
name=ulplab-$VERSION
if [ ! -e .git ]; then
    echo 'make dist: this is no clone; an archive is made from a commit' >&2
    exit 3
fi
changes=$(git status --porcelain)
if [ -n "$changes" ]; then
    printf 'make dist: commit these changes first:\n%s\n' "$changes" >&2
    exit 2
fi
rm -rf "$DIST"
mkdir -p "$DIST"
# -n: gzip writes neither the time nor the name
git -c tar.umask=0022 archive --format=tar --prefix="$name/" HEAD >"$DIST/$name.tar"
gzip -9n "$DIST/$name.tar"
sh tests/proofs/release/parts.sh "$VERSION" "$(git log -1 --format=%ct)" "$(git rev-parse HEAD)" "$(sha256sum <"$DIST/$name.tar.gz" | cut -d ' ' -f 1)" >"$DIST/$name.spdx.json"
(cd "$DIST" && sha256sum "$name.tar.gz" "$name.spdx.json" >SHA256SUMS)
ls -l "$DIST"
