#!/bin/sh
# format.sh - every source has the layout of .clang-format, and no line of a source is longer than 120 columns.
#
# The scripts of the page are sources too.
# modes: release
failed=0
sources=$(find formats base kernels sim experiments tool course web languages tests \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.cu' -o -name '*.js' \) | sort)

long=$({ echo "$sources"; ls web/*.css web/*.html; find kernels -name '*.def'; } | LC_ALL=C.UTF-8 xargs awk 'length > 120 { print FILENAME ":" FNR }')
if [ -z "$long" ]; then
    echo 'ok - no line of a source has more than 120 columns'
else
    echo 'not ok - no line of a source has more than 120 columns'
    echo "$long" | sed 's/^/# /'
    failed=1
fi

# other releases of clang-format give some lines another layout
case $(clang-format --version 2>/dev/null) in
*' version 14.'*) ;;
*) echo 'ok - sources are as .clang-format says # SKIP no clang-format 14'; exit $failed ;;
esac
for folder in formats base kernels sim experiments tool course web languages tests; do
    if bad=$(echo "$sources" | grep "^$folder/" | xargs clang-format --dry-run -Werror 2>&1); then
        echo "ok - $folder is as .clang-format says"
    else
        echo "not ok - $folder is as .clang-format says; clang-format -i FILE mends these:"
        echo "$bad" | sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error.*/# \1/p' | sort -u
        failed=1
    fi
done
exit $failed
