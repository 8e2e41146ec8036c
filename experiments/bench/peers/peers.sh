#!/bin/sh
# peers.sh FOLDER - prepares the workers of other libraries, and prints their commands for `bench --peers`.
#
# PEERS (environment), if not empty: ml_dtypes, gfloat, NumPy and PyTorch, by pip in a virtual environment in FOLDER/venv.
# PyTorch brings the libraries of a GPU, so that this takes about 5 GB. A finished environment is used again. CPFLOAT
# (environment), if not empty: the folder of CPFloat's sources, with CC as the compiler. Exit 3 if something is missing
# here, 2 if CPFLOAT is no such folder.
folder=$1
here=$(dirname "$0")
packages='numpy ml_dtypes gfloat torch'

give_up() { # give_up STATUS TEXT
    echo "make bench: $2" >&2
    exit "$1"
}

mkdir -p "$folder" || give_up 3 "the folder $folder cannot be made"
if [ -n "$PEERS" ]; then
    venv=$folder/venv
    if [ ! -f "$venv/complete" ]; then
        command -v python3 >/dev/null || give_up 3 'PEERS=1 needs python3, which is missing here; without PEERS everything else is measured'
        echo "  pip $packages (several minutes, about 5 GB in $venv)" >&2
        [ -x "$venv/bin/python" ] || python3 -m venv "$venv" >&2 ||
            give_up 3 "PEERS=1: python3 makes no virtual environment in $venv (Debian: python3-venv); without PEERS everything else is measured"
        # shellcheck disable=SC2086 # a list of words
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 15 $packages >&2 ||
            give_up 3 "PEERS=1: pip cannot install $packages; there may be no network, or no package for this system. Without PEERS everything else is measured"
        : >"$venv/complete"
    fi
    printf "'%s' '%s';" "$venv/bin/python" "$here/libraries.py"
fi
if [ -n "$CPFLOAT" ]; then
    [ -f "$CPFLOAT/src/cpfloat_binary32.h" ] || give_up 2 "CPFLOAT=$CPFLOAT: has to be a folder with src/cpfloat_binary32.h"
    pcg=$CPFLOAT/deps/pcg-c
    if [ -f "$pcg/include/pcg_variants.h" ] && [ -f "$pcg/src/libpcg_random.a" ]; then
        set -- -include "$pcg/include/pcg_variants.h" -L "$pcg/src"
        library=-lpcg_random
    else
        set --
        library=
    fi
    # the flags of its own Makefile, without OpenMP
    # shellcheck disable=SC2086 # a word or none
    ${CC:-cc} -std=gnu99 -w -O3 -march=native -I"$CPFLOAT/src" "$@" -x c "$here/cpfloat.c.in" -x none -o "$folder/cpfloat" $library -lm >&2 ||
        give_up 3 "CPFLOAT=$CPFLOAT: its worker cannot be compiled; the messages above say why"
    printf "'%s';" "$folder/cpfloat"
fi
