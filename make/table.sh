#!/bin/sh
# table.sh - prints a C source with the table of the rows that the sources of a folder define.
#
# `sh make/table.sh HEADER TYPE PREFIX TABLE SOURCE...` looks for lines that begin with "const TYPE PREFIXname = {" and prints the
# function `const TYPE *TABLE(size_t i)`, which gives the row with this index, in alphabetical order, and NULL after the last.
header=$1 type=$2 prefix=$3 table=$4
shift 4
rows=$(cat "$@" /dev/null | sed -n "s/^const $type \\($prefix[a-z0-9_]*\\) = {.*/\\1/p" | LC_ALL=C sort)
printf '/* made by make/table.sh: the rows of the type %s. */\n#include "%s"\n\n' "$type" "$header"
for row in $rows; do echo "extern const $type $row;"; done
printf 'static const %s *const rows[] = {\n' "$type"
for row in $rows; do echo "    &$row,"; done
printf '    NULL};\n\nconst %s *%s(size_t i) { return i < sizeof rows / sizeof *rows ? rows[i] : NULL; }\n' "$type" "$table"
