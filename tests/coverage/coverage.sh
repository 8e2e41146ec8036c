#!/bin/sh
# coverage.sh FOLDER - lines and branches that the programs built in FOLDER have run, for each source file.
#
# gcovr reads the counts of all instruction sets and adds them. The table goes to FOLDER/coverage.txt: files with the fewest
# lines reached first. The last line counts. A file that no test reaches at all is a failure.
folder=$1
export LC_ALL=C
gcovr -j "$(getconf _NPROCESSORS_ONLN)" --root . --object-directory "$folder/obj" --exclude-throw-branches \
    --filter '(formats|kernels|sim|experiments|web)/' --exclude kernels/cuda/ --csv "$folder/coverage.csv" "$folder/obj" || exit 1
awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    {
        lines += $column["line_total"]; reached += $column["line_covered"]
        branches += $column["branch_total"]; taken += $column["branch_covered"]
        files++
        if ($column["line_total"] > 0 && $column["line_covered"] == 0) { none++; missed = missed " " $column["filename"] }
        printf "%6.1f %6d %6.1f %6d  %s\n", 100 * $column["line_percent"], $column["line_total"] - $column["line_covered"],
            100 * $column["branch_percent"], $column["branch_total"] - $column["branch_covered"], $column["filename"] | "sort -n"
    }
    END {
        close("sort -n")
        if (none) print "no test reaches:" missed
        printf "%.1f%% of %d lines, %.1f%% of %d branches in %d files\n", 100 * reached / lines, lines, 100 * taken / branches, branches, files
        printf "%d passed, %d failed, 0 skipped\n", files - none, none
        exit none > 0
    }' "$folder/coverage.csv" >"$folder/rows.txt"
status=$?
{
    printf '%6s %6s %6s %6s  %s\n' 'lines%' missed 'bran.%' missed file
    cat "$folder/rows.txt"
} >"$folder/coverage.txt"
cat "$folder/coverage.txt"
exit $status
