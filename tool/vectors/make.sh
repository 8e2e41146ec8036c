#!/bin/sh
# make.sh - the golden vectors as a release: all files of `ulp vectors`, the lists of formats and datapaths, README, checksums.
#
# BIN is the folder of the programs, OUT the folder of the results, which is replaced as a whole. COMMIT names the commit. CHECK
# is --check where the build has MPFR. OPTIONS are further options of `ulp vectors`.
set -e
BIN=$(cd "${BIN:-build/bin}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-build/vectors}
work=$out.tmp
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

"$BIN/ulp" vectors --out "$work" $CHECK $OPTIONS >"$work/report.txt"
sed 's/^/  /' "$work/report.txt"
"$BIN/ulp" formats --csv >"$work/formats.csv"
COLUMNS=120 "$BIN/ulp" help datapaths >"$work/datapaths.txt"
cp "$here/../../LICENSE" "$work"
version=$("$BIN/ulp" --version | sed 's/^[^)]*) \([^ ]*\).*/\1/')
compared=$(awk '/as MPFR gives them/ { for (i = 1; i <= NF; i++) if ($i == "results") n += $(i - 1) } END { printf "%d", n }' "$work/report.txt")
if [ "$compared" -gt 0 ]; then checked="all $compared results agree."; else checked='not in this build.'; fi
sed "s/@VERSION@/$version/; s/@COMMIT@/${COMMIT:-unknown}/; s/@CHECKED@/$checked/" "$here/README.md.in" >"$work/README.md"
rm "$work/report.txt"
(cd "$work" && find . -type f ! -name 'SHA256SUMS*' | sed 's/^\.\///' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS.tmp && mv SHA256SUMS.tmp SHA256SUMS)
rm -rf "$out"
mv "$work" "$out"
echo "$out: $(find "$out" -type f | wc -l) files, $(($(cat "$out"/* "$out"/*/* 2>/dev/null | wc -c) / 1000000)) MB"
