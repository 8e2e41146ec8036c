#!/bin/sh
# read.sh - `sh read.sh CC FOLDER`: the compiler reads every C source with the flags that make gives it, for each instruction set.
#
# It makes no code, and a warning is an error. Sources with the same flags make one command. FOLDER takes what the script writes.
cc=$1 folder=$2
mkdir -p "$folder"
(unset MAKEFLAGS MFLAGS MAKELEVEL && make -nB V=1 WERROR=1 CC="$cc" NVCC= MODE=release BUILD="$folder/build" all) 2>/dev/null |
    sed -n 's/ -MMD / /; s, -c \([^ ]*\.c\) -o .*,\t\1,p' | grep -v "$folder/build/obj/made" >"$folder/commands"
[ "$(wc -l <"$folder/commands")" -gt 300 ] || { echo "make has fewer than 300 commands for $cc"; exit 1; }
awk -F '\t' '{ if (++n[$1] % 25 == 1) parts[$1]++; key = $1 " -fsyntax-only" SUBSEP parts[$1]; files[key] = files[key] " " $2 }
    END { for (key in files) { split(key, of, SUBSEP); print of[1] files[key] } }' "$folder/commands" | tr '\n' '\0' |
    xargs -0 -P "$(getconf _NPROCESSORS_ONLN)" -n 1 sh -c
