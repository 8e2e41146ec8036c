#!/bin/sh
# kit.sh BUILD KIT FILE... - the end of make gpu-kit: copies the files of BUILD into the folder KIT, with Random123 and the commit.
#
# ARCHS, COMMIT and RANDOM123 (the folder of philox.h) are from the environment. KIT has no links and no debug information,
# and its programs need only the libraries that come with every compiler; the file KIT/commit says what was built. KIT is
# made under a temporary name and renamed, so that an old kit is there until the new one is complete.
set -eu
build=$1 kit=$2 new=$2.tmp
shift 2
fail() { echo "make gpu-kit: $1" >&2; exit 1; }
trap 'rm -rf "$new"' EXIT
rm -rf "$new"
for file; do
    mkdir -p "$new/$(dirname "$file")"
    cp -L "$build/$file" "$new/$file"
    strip --strip-debug "$new/$file"
    others=$(objdump -p "$new/$file" | awk '$1 == "NEEDED" { print $2 }' |
        grep -vE '^(lib(c|m|dl|rt|pthread|stdc\+\+|gomp|gcc_s|ulp)|ld-linux-.*)\.so' | tr '\n' ' ') || true
    [ -z "$others" ] || fail "$build/$file needs $others: a bare machine may lack it"
done
mkdir -p "$new/include"
cp -RL "$RANDOM123" "$new/include/Random123"
{
    git rev-parse HEAD 2> /dev/null || echo "$COMMIT"
    if changes=$(git status --short 2> /dev/null) && [ -n "$changes" ]; then
        echo 'with uncommitted changes:'
        echo "$changes" | head -n 20
    fi
    echo "CUDA_ARCHS $ARCHS"
} > "$new/commit"
chmod -R u=rwX,go=rX "$new"
"$new/test/check_gpu" --parts > /dev/null || fail "$new/test/check_gpu does not start"
rm -rf "$kit"
mv "$new" "$kit"
echo "$kit: $(du -sm "$kit" | cut -f 1) MB of $(head -n 2 "$kit/commit" | tr '\n' ' ')"
