#!/bin/sh
# make.sh - packs the course: an archive for students, and one for teachers with the keys of a list of ids.
#
# BIN is the folder of the programs, OUT the folder of the results. IDS lists the students, with blanks or line breaks
# between the ids; WORD is the word of the course. PAGE is the page ulplab.html: if the file is there, it is packed, too.
# A student's sheet is OUT/student/sheets/ID.csv, a key OUT/teacher/keys/ID.csv.
set -e
BIN=$(cd "${BIN:-build/bin}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
mkdir -p "${OUT:-build/course}"
out=$(cd "${OUT:-build/course}" && pwd)
rm -rf "$out/student" "$out/teacher" "$out"/*.zip "$out"/*.tar.gz
mkdir -p "$out/data" "$out/student/figures" "$out/teacher"
export LC_ALL=C.UTF-8

# all numbers of a format from 0 to 8
numbers() { seq 0 0.0625 8 | "$BIN/ulp" round --format "$1" --to value | sort -gu >"$out/data/$1.csv"; }

# the largest relative error, in percent, of the numbers from x to 2 x, for many x
errors() {
    awk 'BEGIN { for (i = 0; i < 160; i++) for (k = 0; k < 64; k++) printf "%.17g\n", 0.01 * exp(0.072 * i + 0.0108 * k) }' >"$out/data/numbers.txt"
    for format in q4.4 e4m3 e5m2; do "$BIN/ulp" round --format $format --to value "$out/data/numbers.txt" >"$out/data/$format.txt"; done
    paste -d, "$out/data/numbers.txt" "$out/data/q4.4.txt" "$out/data/e4m3.txt" "$out/data/e5m2.txt" | awk -F, '
        NR % 64 == 1 { x = $1 }
        { for (i = 2; i <= 4; i++) { e = 100 * ($i > $1 ? $i - $1 : $1 - $i) / $1; if (e > most[i]) most[i] = e } }
        NR % 64 == 0 { print x "," most[2] "," most[3] "," most[4]; delete most }' >"$out/data/errors.csv"
}

if command -v gnuplot >/dev/null; then
    (
        cd "$root"
        for format in e3m2 e2m3 q4.2; do numbers $format; done
        errors
        "$BIN/stagnation" --formats binary16 --modes rne,ru,sra --runs 10 --quiet --restart --out "$out/data/staircase.csv"
        "$BIN/gradient_underflow" --quick --nets mlp --formats fp16 --scales 0 --quiet --restart --out "$out/data/underflow.csv"
        "$BIN/loss_scaling" --quick --nets small --formats fp16 --scales -24,-18,-16,-14,0,16,18,24 --scalers pytorch --seeds 1 --steps 120 --every 120 --quiet --restart --out "$out/data/scaling.csv"
        gnuplot -e "data='$out/data'; out='$out/student/figures'" course/figures.gp
    )
else
    echo 'make course: gnuplot is missing: the sheets have no figures' >&2
fi
# place FOLDER PAGE...: the pages, and each as HTML for the printer
place() {
    folder=$1
    shift
    cp "$@" "$folder"
    for page; do awk -f "$here/print.awk" "$page" >"$folder/$(basename "$page" .md).html"; done
}
place "$out/student" "$here"/README.md "$here"/L?.md
[ ! -s "$PAGE" ] || cp "$PAGE" "$out/student"
cp -r "$out/student/." "$out/teacher"
place "$out/teacher" "$here/teacher.md"
if [ -n "$IDS" ]; then
    list=$(echo $IDS | tr ' ' ',')
    mkdir -p "$out/student/sheets" "$out/teacher/keys"
    "$BIN/ulp" course sheet --id "$list" ${WORD:+--word "$WORD"} --out "$out/student/sheets"
    "$BIN/ulp" course key --id "$list" ${WORD:+--word "$WORD"} --out "$out/teacher/keys"
fi
# pack NAME: one archive, a zip file where zip is there
pack() {
    # the bytes of an archive depend on its files alone: one time, one order, one set of rights
    find "$out/$1" -exec chmod u=rwX,go=rX {} + -exec touch -d "@${SOURCE_DATE_EPOCH:-0}" {} +
    if command -v zip >/dev/null; then
        (cd "$out" && find "$1" | LC_ALL=C sort | TZ=UTC zip -qX "$1.zip" -@ && echo "$out/$1.zip")
    else
        plain='--sort=name --owner=0 --group=0 --numeric-owner' # options of GNU tar, without which the order is that of the folder
        tar $plain -cf - "$0" >/dev/null 2>&1 || plain=
        (cd "$out" && tar $plain -cf - "$1" | gzip -9n >"$1.tar.gz" && echo "$out/$1.tar.gz")
    fi
}
pack student
pack teacher
