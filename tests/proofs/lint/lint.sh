#!/bin/sh
# lint.sh LIST [TOOL...] - what the analysers found, in the files of findings of LIST, named after the sources; TOOLs are missing.
#
# tests/proofs/lint/known.txt has findings that are no faults: source, check, reason. A line of it that no finding needs is a
# failure. Other findings are printed, each once, and counted as failed; their sources are analysed again by the next run.
list=$1
shift
for tool; do echo "skipped: $tool is missing"; done
LC_ALL=C sort "$list" |
    awk -v known=tests/proofs/lint/known.txt -v here="$PWD/" -v skipped=$# '
        # a finding is a line FILE:LINE:COLUMN: KIND: TEXT [CHECK]; lines of other forms explain it
        function is_known(line,    file, check) {
            file = line
            sub(/:.*/, "", file)
            if (index(file, here) == 1) file = substr(file, length(here) + 1)
            sub(/^\.\//, "", file)
            check = line
            sub(/\]$/, "", check)
            sub(/.*\[(-W)?/, "", check)
            if (!((file, check) in reason)) return 0
            needed[file, check] = 1
            return 1
        }
        BEGIN {
            while ((getline line < known) > 0)
                if (line !~ /^#/ && split(line, word, " ") > 2) reason[word[1], word[2]] = line
        }
        {
            bad = 0
            while ((getline line < $0) > 0) {
                if (line !~ /: (warning|error|portability|performance|style): / || is_known(line)) continue
                bad++
                if (seen[line]++) continue # of a header that an earlier source includes
                print line
                failed++
            }
            close($0)
            if (bad) system("rm -f " $0)
            else passed++
        }
        END {
            for (r in reason)
                if (!(r in needed)) { failed++; print "known.txt: nothing is found any more: " reason[r] }
            printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
            exit failed > 0 || passed == 0
        }'
