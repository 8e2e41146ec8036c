#!/bin/sh
# languages.sh - languages/ulplab.c in Octave and languages/Ulplab.jl in Julia, on the library of this build.
#
# The examples of languages/README.md run, too. A language that is not installed is skipped. OCTAVE, MKOCTFILE and JULIA
# name programs in other places.
# modes: release
# not with RUN: needs this machine's library
root=$(pwd)
. tests/programs/support.sh
octave=${OCTAVE:-octave-cli} mkoctfile=${MKOCTFILE:-mkoctfile} julia=${JULIA:-julia}

# a folder as the project's, with the library of this build
ln -s "$root/languages" "$root/formats" "$root/kernels" .
mkdir build && ln -s "$(cd "$BIN/../lib" && pwd)" build/lib
awk 'BEGIN { for (i = 0; i < 325; i++) printf "%.3f\n", -3 + 0.037 * i }' >numbers.txt
"$BIN/ulp" round --format e4m3 --mode sr --bits 8 --seed 7 --to value numbers.txt >stochastic.txt
holds 'ulp round rounds 325 numbers' [ "$(wc -l <stochastic.txt)" -eq 325 ]

# block LANGUAGE: the lines of the first block of the README in this language
block() { awk -v first="\`\`\`$1" '$0 == first { inside = 1; next } /^```/ && inside { exit } inside' languages/README.md; }

# finished LANGUAGE: shows the lines of out.txt; the script came to its end, and no check failed
finished() {
    cat out.txt
    holds "$1: the script came to its end" grep -qx '# all is done' out.txt
    if grep -q '^not ok' out.txt; then failed=1; fi
    if [ "$failed" -ne 0 ]; then sed 's/^/# /' err.txt; fi
}

if ! command -v "$octave" >/dev/null || ! command -v "$mkoctfile" >/dev/null; then
    skip 'Octave' 'no Octave with mkoctfile (octave, octave-dev)'
else
    command=$(sed -n 's/^mkoctfile //p' languages/README.md)
    exits 0 'ulplab.c is compiled without warnings' env CFLAGS='-std=c11 -O2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror' \
        sh -c "$mkoctfile $command"
    block octave >readme_block.m
    holds 'the README has an example for Octave' [ -s readme_block.m ]
    "$octave" --no-init-file --no-site-file --quiet "$root/tests/programs/languages/octave.m" >out.txt 2>err.txt
    finished Octave
fi

if ! command -v "$julia" >/dev/null; then
    skip 'Julia' 'no julia'
else
    block julia >readme.jl
    holds 'the README has an example for Julia' [ -s readme.jl ]
    ULPLAB_LIBRARY=$work/build/lib/libulp.so "$julia" --startup-file=no -e "include(\"$root/tests/programs/languages/julia.jl\")" >out.txt 2>err.txt
    finished Julia
fi
exit $failed
