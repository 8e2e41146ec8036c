#!/bin/sh
# example.sh - the example of CONTRIBUTING.md works: experiment, plot and caption in a copy of the tree, and the networks.
# modes: release
# not with RUN: builds a program and starts it
tree=$(pwd) guide=$(pwd)/CONTRIBUTING.md
. tests/programs/support.sh
build=$(cd "$BIN/.." && pwd)
cd "$tree" || exit 2

# block LANGUAGE WORD: the guide's block of this language whose first line names WORD
block() { awk -v fence="\`\`\`$1" -v word="$2" '$0 == fence { getline; on = index($0, word) } $0 == "```" { on = 0 } on' "$guide"; }

# command_of SOURCE TARGET: the command that makes TARGET in this build
command_of() {
    make --no-print-directory -n -W "$1" V=1 MODE="${MODE:-release}" CC="${CC:-gcc}" BUILD="$build" "$2" 2>>"$work/log" | grep -- " -o $2\$" | tail -n 1
}

mkdir -p "$work/tree/experiments/roots" && copy_make "$PWD" "$work/tree" && cp -r plots "$work/tree" && mkdir -p "$work/tree/formats" && cp formats/*.h "$work/tree/formats"
block c roots.c >"$work/tree/experiments/roots/roots.c"
block gnuplot roots.gp >"$work/tree/plots/roots.gp"
block text group: >"$work/tree/plots/roots.txt"
[ -s "$work/tree/experiments/roots/roots.c" ] && [ -s "$work/tree/plots/roots.gp" ] && [ -s "$work/tree/plots/roots.txt" ]
verdict $? 'the guide has an experiment, its plot and its caption'
(cd "$work/tree" && make --no-print-directory -n BUILD=b b/bin/roots results/roots.csv) 2>&1 | grep -q 'roots'
verdict $? 'make finds the experiment'

# build with the commands, the library and the harness of this build
compile=$(command_of experiments/swamping/swamping.c "$build/obj/experiments/swamping/swamping.o")
link=$(command_of experiments/swamping/swamping.c "$BIN/swamping")
eval "$(echo "$compile" | sed "s| -MMD | |; s| -c experiments/swamping/swamping\.c -o .*| -c '$work/tree/experiments/roots/roots.c' -o '$work/roots.o'|")" >"$work/log" 2>&1 &&
    eval "$(echo "$link" | sed "s| $build/obj/experiments/swamping/claims\.o||; s| $build/obj/experiments/swamping/swamping\.o | '$work/roots.o' |; s| -o $BIN/swamping\$| -o '$work/tree/roots' -Wl,-rpath,'$build/lib'|")" >>"$work/log" 2>&1
verdict $? 'it is built'
[ $failed -eq 0 ] && [ ! -s "$work/log" ]
verdict $? 'without a warning'
[ $failed -eq 0 ] || { sed 's/^/# /' "$work/log" | tail -20; exit 1; }
cd "$work/tree" || exit 2
./roots >"$work/out" 2>&1 && grep -q '^PASS in binary16, 2 becomes 1 after' "$work/out" && grep -q '^binary16  *11  *9$' "$work/out"
verdict $? 'it runs, prints a table, and its claim holds'
./roots --most 5 --out most.csv >"$work/out" 2>&1 && grep -q '^SKIP in binary16, .*--most is 5' "$work/out" && ! grep -q '^PASS' "$work/out"
verdict $? 'a run with few roots skips the claim and says so'
./roots --formats q8.8,e2m1,q1.7 --out formats.csv >"$work/out" 2>&1 && grep -q '^PASS in e2m1' "$work/out" && grep -q '^SKIP in q1.7' "$work/out"
verdict $? 'other formats have a table and claims, too'
holds 'it has at most 45 lines' [ "$(wc -l <experiments/roots/roots.c)" -le 45 ]
if command -v gnuplot >/dev/null 2>&1; then
    mkdir -p figures && LC_ALL=C.UTF-8 gnuplot plots/roots.gp >"$work/log" 2>&1 && [ -s figures/roots.svg ] && [ -s figures/roots.png ] && [ ! -s "$work/log" ]
    verdict $? 'its figure is drawn'
    sh plots/gallery.sh >/dev/null && grep -q '<h3>roots' figures/index.html && grep -q 'halves the distance to 1' figures/index.html
    verdict $? 'the gallery shows it'
else
    echo 'ok - its figure is drawn # SKIP no gnuplot'
fi

# `make figures` takes a run with the default settings as it is, and runs again what was run by hand with --quick
again() { make --no-print-directory -n -o results/.options -o b/bin/roots BUILD=b results/roots.csv 2>>"$work/log" | grep -q 'b/bin/roots .*--restart'; }
! again
verdict $? 'make keeps the results of a default run'
./roots --quick --restart >"$work/out" 2>&1 && again
verdict $? 'make runs again after a run with --quick'

# the networks of the guide's command lines
sed -n 's/^\$ build\/bin\/gradient_underflow \(.*--net .*\)/\1/p' "$guide" >"$work/commands"
holds 'the guide has two networks' [ "$(wc -l <"$work/commands")" -eq 2 ]
while IFS= read -r arguments; do
    net=$(echo "$arguments" | sed 's/.*--net //')
    eval "$BIN/gradient_underflow --seeds 1 --quiet $arguments" >"$work/out" 2>&1
    case $? in
    0 | 1) verdict 0 "a network of one line: $net" ;; # claims may fail, because they are about another network
    *) sed 's/^/# /' "$work/out"; verdict 1 "a network of one line: $net" ;;
    esac
done <"$work/commands"
exit $failed
