#!/bin/sh
# man.sh - writes man pages from the help of the programs: man.sh BIN MAN VERSION PROGRAM...
#
# PROGRAM.1 holds PROGRAM --help. ulp-COMMAND.1 holds `ulp COMMAND --help`, and ulp-TOPIC.7 holds `ulp help TOPIC`, for each
# command and each topic that `ulp help` lists; ulp.1 names them under SEE ALSO.
set -e
bin=$1 man=$2 version=$3
shift 3
mkdir -p "$man/man1" "$man/man7"

# page NAME SECTION WHAT: text from standard input as a page, its lines as they are
page() {
    printf '.TH %s %s "" "ulplab %s"\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n' "$1" "$2" "$version" "$1" "$3"
    sed "s/\\\\/\\\\e/g; s/-/\\\\-/g; s/^\\([.']\\)/\\\\\\&\\1/"
}

for program; do
    COLUMNS=80 "$bin/$program" --help >"$man/help.tmp"
    page "$program" 1 'part of ulplab, a laboratory for low-precision arithmetic' <"$man/help.tmp" >"$man/man1/$program.1"
done
if "$bin/ulp" help >"$man/help.tmp" 2>/dev/null; then
    for command in $(sed -n '1,/^topics/s/^  \([a-z]\{1,\}\) .*/\1/p' "$man/help.tmp"); do
        COLUMNS=80 "$bin/ulp" "$command" --help >"$man/page.tmp"
        page "ulp-$command" 1 "$(sed -n "1s/^ulp $command - //p" "$man/page.tmp")" <"$man/page.tmp" >"$man/man1/ulp-$command.1"
        printf '.BR ulp\\-%s (1),\n' "$command" >>"$man/also.tmp"
    done
    for topic in $(sed -n '/^topics/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p' "$man/help.tmp"); do
        COLUMNS=80 "$bin/ulp" help "$topic" >"$man/page.tmp"
        page "ulp-$topic" 7 "$(sed -n "/^topics/,\$s/^  $topic  *//p" "$man/help.tmp")" <"$man/page.tmp" >"$man/man7/ulp-$topic.7"
        printf '.BR ulp\\-%s (7),\n' "$topic" >>"$man/also.tmp"
    done
    { printf '.fi\n.SH SEE ALSO\n'; sed '$s/,$//' "$man/also.tmp"; } >>"$man/man1/ulp.1"
fi
rm -f "$man/help.tmp" "$man/page.tmp" "$man/also.tmp"
rmdir "$man/man7" 2>/dev/null || true
