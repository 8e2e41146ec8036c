#!/bin/sh
# kit.sh BUILD KIT FILE... - the end of make gpu-kit: the folder KIT gets the files of BUILD, its file `commit`, and Random123.
#
# RANDOM123 is the folder of philox.h. KIT has no links and no debug information, and its programs need no libraries but those
# that come with every compiler. KIT is made under a temporary name and renamed, so that an old kit is there until the new one
# is complete.
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
    others=$(objdump -p "$new/$file" | awk '$1 == "NEEDED" && $2 !~ /^(lib(c|m|dl|rt|pthread|stdc[+][+]|gomp|gcc_s|ulp)|ld-linux-.*)[.]so/ { print $2 }')
    [ -z "$others" ] || fail "$file needs $(echo "$others" | tr '\n' ' ')which a bare machine may lack"
done
mkdir -p "$new/include"
cp -RL "$RANDOM123" "$new/include/Random123"
cp "$build/commit" "$new/commit"
chmod -R u=rwX,go=rX "$new"
"$new/test/check_gpu" --parts > /dev/null || fail 'test/check_gpu does not start here'
rm -rf "$kit"
mv "$new" "$kit"
echo "$kit: $(du -sm "$kit" | cut -f 1) MB of $(tr '\n' ' ' < "$kit/commit")"
