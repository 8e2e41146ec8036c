#!/bin/sh
# version.sh - the version is one in all files, and a change of numbers or of the interface has raised it.
#
# modes: release
# tests/golden/versions.txt has a line for each version: the checksum of the golden files, and the checksum of the declarations
# of the installed headers. `sh tests/tree/version.sh --line` prints the line of this tree. tests/proofs/release/README.md has the rules.
tree=$(cd "$(dirname "$0")/../.." && pwd)
list=$tree/tests/golden/versions.txt
version=$(sed -n 's/^VERSION := //p' "$tree/Makefile")

numbers() { # of all golden files but the list itself and the reports of hardware in folders
    (cd "$tree/tests/golden" && find . -maxdepth 1 -type f ! -name versions.txt | LC_ALL=C sort | xargs sha256sum) |
        sha256sum | cut -c 1-16
}

interface() { # comments and blanks of the headers left out
    (cd "$tree" && find formats base kernels sim \( -name '*.h' -o -name '*.def' \) ! -path '*/cpu/*' ! -path '*/cuda/*' ! -path '*/mpfr/*' | LC_ALL=C sort |
        xargs awk '
            FNR == 1 { print "@" FILENAME; comment = 0 }
            {
                line = $0
                text = ""
                while (line != "") {
                    if (comment) {
                        end = index(line, "*/")
                        if (!end) break
                        line = substr(line, end + 2)
                        comment = 0
                    } else {
                        begin = index(line, "/*")
                        text = text (begin ? substr(line, 1, begin - 1) : line)
                        line = begin ? substr(line, begin + 2) : ""
                        comment = begin > 0
                    }
                }
                gsub(/[ \t]+/, "", text)
                printf "%s", text (text ~ /^#/ ? "\n" : "")
            }') | sha256sum | cut -c 1-16
}

if [ "${1:-}" = --line ]; then
    echo "$version $(numbers) $(interface)"
    exit 0
fi

failed=0
verdict() { # verdict STATUS TEXT
    if [ "$1" -eq 0 ]; then echo "ok - $2"; else echo "not ok - $2"; failed=1; fi
}
says() { # says FILE TEXT: FILE has the text of the version
    grep -qF "$2" "$tree/$1"
    verdict $? "$1 names version $version"
}
says CITATION.cff "version: $version"
says python/pyproject.toml "version = \"$version\""
says python/ulplab/__init__.py "__version__ = \"$version\""
says languages/Ulplab.jl "libulp.so.$(echo "$version" | sed -E 's/^(0\.[0-9]+|[1-9][0-9]*)\..*/\1/')"
says CHANGELOG.md "## $version, "
says tests/golden/versions.txt "$version "
[ "$(sed -n 's/^## \([0-9.]*\),.*/\1/p' "$tree/CHANGELOG.md" | head -n 1)" = "$version" ]
verdict $? 'CHANGELOG.md begins with this version'

last=$(tail -n 1 "$list")
[ "$(echo "$last" | cut -d ' ' -f 2)" = "$(numbers)" ]
verdict $? 'the golden files are those of the version; else raise it, see tests/proofs/release/README.md'
[ "$(echo "$last" | cut -d ' ' -f 3)" = "$(interface)" ]
verdict $? 'the declarations of the headers are those of the version; else raise it, see tests/proofs/release/README.md'

# from line to line: the version grows, other numbers are listed, another interface has another name of the library
grep -v '^#' "$list" | awk -v changes="$tree/CHANGELOG.md" '
    BEGIN { while ((getline line < changes) > 0) { if (line ~ /^## /) { split(line, word, /[ ,]+/); at = word[2] } if (line == "### Numbers") listed[at] = 1 } }
    NF != 3 { print "# not three words: " $0; bad = 1 }
    { split($1, v, "."); abi = v[1] == 0 ? "0." v[2] : v[1]; number = (v[1] * 1000 + v[2]) * 1000 + v[3] }
    NR > 1 && number <= before { print "# not above the version before: " $1; bad = 1 }
    NR > 1 && $2 != numbers && !listed[$1] { print "# " $1 " has other numbers, which CHANGELOG.md does not list under Numbers"; bad = 1 }
    NR > 1 && $3 != declared && abi == last { print "# " $1 " has another interface under the old name of the library"; bad = 1 }
    { before = number; numbers = $2; declared = $3; last = abi }
    END { exit bad }'
verdict $? 'versions grow with what changes'
exit $failed
