#!/bin/sh
# oracle.sh - every experiment, computed by MPFR, gives the bytes that the CPU gives.
#
# An experiment runs twice at the size of tests/proofs/oracle/sizes.txt: as it is, and as the program that is linked with
# scalar.c, with --backend mpfr where the experiment has backends. Then arrays, sums of products and single numbers are
# all rounded by MPFR. The CSV and the summary of both runs have to be equal, byte for byte. BIN, ORACLE: folders of the
# programs. EXPERIMENTS: their names; ONLY, if not empty, names those to run. REPORT, if not empty: the file that gets the
# table. The last line counts.
BIN=$(cd "${BIN:-build/bin}" && pwd) || exit 2
ORACLE=$(cd "${ORACLE:-build/test/oracle}" && pwd) || exit 2
sizes=$PWD/tests/proofs/oracle/sizes.txt report=${REPORT:-}
case $report in '' | /*) ;; *) report=$PWD/$report ;; esac
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
export NO_COLOR=1 LC_ALL=C
passed=0 failed=0 skipped=0

# seconds COMMAND...: run it, and set `took` to its processor seconds, of all threads; its output goes to log.txt
seconds() {
    sh -c '"$@" >log.txt 2>&1; status=$?; times >times.txt; exit $status' sh "$@"
    status=$?
    took=$(awk -F '[ms ]+' 'NR == 2 { printf "%.1f", 60 * $1 + $2 + 60 * $3 + $4 }' times.txt)
    return $status
}

bad() { # bad TEXT
    echo "not ok - $1"
    sed 's/^/#   /' log.txt | tail -n 5
    failed=$((failed + 1))
}

table=$dir/table.txt
printf '%-20s %6s %8s %8s  %s\n' experiment rows 'cpu, s' 'mpfr, s' size >"$table"
for name in ${ONLY:-$EXPERIMENTS}; do
    [ -x "$BIN/$name" ] || { echo "not ok - $name: there is no such experiment"; failed=$((failed + 1)); continue; }
    options=$(sed -n "s/^$name //p" "$sizes")
    options=${options:---quick}
    backend=
    "$BIN/$name" --help | grep -q -- '^ *--backend ' && backend='--backend mpfr'
    rm -rf cpu mpfr
    mkdir cpu mpfr
    eval "set -- $options"
    # exit status 1: a claim that needs a larger size failed; the bytes are compared all the same
    seconds "$BIN/$name" "$@" --quiet --restart --out cpu/out.csv
    [ $? -le 1 ] || { bad "$name"; continue; }
    cpu=$took
    # shellcheck disable=SC2086
    seconds "$ORACLE/$name" "$@" $backend --quiet --restart --out mpfr/out.csv
    [ $? -le 1 ] || { bad "$name $backend"; continue; }
    rows=$(grep -cv '^#' cpu/out.csv)
    if [ "$rows" -gt 1 ] && cmp cpu/out.csv mpfr/out.csv >log.txt 2>&1 && cmp cpu/out.summary.csv mpfr/out.summary.csv >>log.txt 2>&1; then
        echo "ok - $name $options: $((rows - 1)) rows, $cpu s on the CPU, $took s by MPFR, the same bytes"
        passed=$((passed + 1))
        printf '%-20s %6d %8s %8s  %s\n' "$name" $((rows - 1)) "$cpu" "$took" "$options" >>"$table"
    else
        bad "$name $options: the bytes of MPFR are those of the CPU"
    fi
done
if [ -n "$report" ]; then
    {
        echo "# experiments whose CSV and summary MPFR recomputes byte for byte: rows, processor seconds, size; made by make check-oracle REPORT=FILE"
        cat "$table"
    } >"$report.tmp" && mv "$report.tmp" "$report"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
