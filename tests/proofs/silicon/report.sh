#!/bin/sh
# report.sh - make check-silicon: writes the report of one processor to standard output and to a file.
#
# CHECK is the program, and REPORT the file; if REPORT is empty, it is tests/golden/silicon/PROCESSOR.txt. The exit status is that of
# the program: 1 if a row failed.
CHECK=${CHECK:-build/test/check_silicon}
name=$("$CHECK" --name) || exit 1
REPORT=${REPORT:-tests/golden/silicon/$name.txt}
mkdir -p "$(dirname "$REPORT")" || exit 1
trap 'rm -f "$REPORT.tmp" "$REPORT.status"' EXIT
{ "$CHECK"; echo $? >"$REPORT.status"; } | tee "$REPORT.tmp"
read -r status <"$REPORT.status"
mv "$REPORT.tmp" "$REPORT" && echo "report: $REPORT"
exit "$status"
