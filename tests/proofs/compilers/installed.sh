#!/bin/sh
# installed.sh - prints the C compilers gcc, gcc-N, clang, clang-N that are found, one name for each release, oldest first.
#
# `sh installed.sh --ends` prints the oldest and the newest gcc, and the oldest and the newest clang.
for kind in gcc clang; do
    for name in $(for folder in $(echo "$PATH" | tr : ' '); do ls "$folder" 2>/dev/null; done | grep -xE "$kind(-[0-9]+)?" | sort -u); do
        release=$(echo 'int release = __GNUC__ * 100 + __GNUC_MINOR__;
#if defined(__clang__)
int clang = __clang_major__ * 100 + __clang_minor__;
#endif' | "$name" -E -P -x c - 2>/dev/null | sed -n '$s/.*= \([0-9]*\) \* 100 + \([0-9]*\);/\1 \2/p')
        [ -z "$release" ] || echo "$release $name"
    done | sort -k1,1n -k2,2n -k3,3 | awk '!seen[$1 " " $2]++ { print $3 }' |
        if [ "${1:-}" = --ends ]; then sed -n '1p; $p' | uniq; else cat; fi
done
