#!/bin/sh
# example.sh - the example of CONTRIBUTING.md works: experiment, plot and caption in a copy of the tree, and the networks.
# modes: release
BIN=$(cd "${BIN:-build/bin}" && pwd) || exit 2
build=$(cd "$BIN/.." && pwd)
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
failed=0
guide=$(pwd)/CONTRIBUTING.md

verdict() { # verdict STATUS TEXT
    if [ "$1" -eq 0 ]; then echo "ok - $2"; else echo "not ok - $2"; failed=1; fi
}

# block LANGUAGE WORD: the guide's block of this language whose first line names WORD
block() { awk -v fence="\`\`\`$1" -v word="$2" '$0 == fence { getline; on = index($0, word) } $0 == "```" { on = 0 } on' "$guide"; }

# command_of SOURCE TARGET: the command that makes TARGET in this build
command_of() {
    make --no-print-directory -n -W "$1" V=1 MODE="${MODE:-release}" CC="${CC:-gcc}" BUILD="$build" "$2" 2>>"$dir/log" | grep -- " -o $2\$" | tail -n 1
}

mkdir -p "$dir/tree/experiments/roots" && cp -r Makefile plots make "$dir/tree" && mkdir -p "$dir/tree/formats" && cp formats/*.h "$dir/tree/formats"
block c roots.c >"$dir/tree/experiments/roots/roots.c"
block gnuplot roots.gp >"$dir/tree/plots/roots.gp"
block text group: >"$dir/tree/plots/roots.txt"
[ -s "$dir/tree/experiments/roots/roots.c" ] && [ -s "$dir/tree/plots/roots.gp" ] && [ -s "$dir/tree/plots/roots.txt" ]
verdict $? 'the guide has an experiment, its plot and its caption'
(cd "$dir/tree" && make --no-print-directory -n BUILD=b b/bin/roots results/roots.csv) 2>&1 | grep -q 'roots'
verdict $? 'make finds the experiment'

# build with the commands, the library and the harness of this build
compile=$(command_of experiments/swamping/swamping.c "$build/obj/experiments/swamping/swamping.o")
link=$(command_of experiments/swamping/swamping.c "$BIN/swamping")
eval "$(echo "$compile" | sed "s| -MMD | |; s| -c experiments/swamping/swamping\.c -o .*| -c '$dir/tree/experiments/roots/roots.c' -o '$dir/roots.o'|")" >"$dir/log" 2>&1 &&
    eval "$(echo "$link" | sed "s| $build/obj/experiments/swamping/claims\.o||; s| $build/obj/experiments/swamping/swamping\.o | '$dir/roots.o' |; s| -o $BIN/swamping\$| -o '$dir/tree/roots' -Wl,-rpath,'$build/lib'|")" >>"$dir/log" 2>&1
verdict $? 'it is built'
[ $failed -eq 0 ] && [ ! -s "$dir/log" ]
verdict $? 'without a warning'
[ $failed -eq 0 ] || { sed 's/^/# /' "$dir/log" | tail -20; exit 1; }
cd "$dir/tree" || exit 2
./roots >"$dir/out" 2>&1 && grep -q '^PASS in binary16, 2 becomes 1 after' "$dir/out" && grep -q '^binary16  *11  *9$' "$dir/out"
verdict $? 'it runs, prints a table, and its claim holds'
./roots --most 5 --out most.csv >"$dir/out" 2>&1 && grep -q '^SKIP in binary16, .*--most is 5' "$dir/out" && ! grep -q '^PASS' "$dir/out"
verdict $? 'a run with few roots skips the claim and says so'
./roots --formats q8.8,e2m1,q1.7 --out formats.csv >"$dir/out" 2>&1 && grep -q '^PASS in e2m1' "$dir/out" && grep -q '^SKIP in q1.7' "$dir/out"
verdict $? 'other formats have a table and claims, too'
[ "$(wc -l <experiments/roots/roots.c)" -le 45 ]
verdict $? 'it has at most 45 lines'
if command -v gnuplot >/dev/null 2>&1; then
    mkdir -p figures && LC_ALL=C.UTF-8 gnuplot plots/roots.gp >"$dir/log" 2>&1 && [ -s figures/roots.svg ] && [ -s figures/roots.png ] && [ ! -s "$dir/log" ]
    verdict $? 'its figure is drawn'
    sh plots/gallery.sh >/dev/null && grep -q '<h3>roots' figures/index.html && grep -q 'halves the distance to 1' figures/index.html
    verdict $? 'the gallery shows it'
else
    echo 'ok - its figure is drawn # SKIP no gnuplot'
fi

# `make figures` takes a run with the default settings as it is, and runs again what was run by hand with --quick
again() { make --no-print-directory -n -o results/.options -o b/bin/roots BUILD=b results/roots.csv 2>>"$dir/log" | grep -q 'b/bin/roots .*--restart'; }
! again
verdict $? 'make keeps the results of a default run'
./roots --quick --restart >"$dir/out" 2>&1 && again
verdict $? 'make runs again after a run with --quick'

# the networks of the guide's command lines
sed -n 's/^\$ build\/bin\/gradient_underflow \(.*--net .*\)/\1/p' "$guide" >"$dir/commands"
[ "$(wc -l <"$dir/commands")" -eq 2 ]
verdict $? 'the guide has two networks'
while IFS= read -r arguments; do
    net=$(echo "$arguments" | sed 's/.*--net //')
    eval "$BIN/gradient_underflow --seeds 1 --quiet $arguments" >"$dir/out" 2>&1
    case $? in
    0 | 1) verdict 0 "a network of one line: $net" ;; # claims may fail, because they are about another network
    *) sed 's/^/# /' "$dir/out"; verdict 1 "a network of one line: $net" ;;
    esac
done <"$dir/commands"
exit $failed
