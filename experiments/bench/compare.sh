#!/bin/sh
# compare.sh OLD NEW - says which rows of two JSON files of bench changed beyond noise. Exit 0, or 2 for a bad file.
here=$(dirname "$0")
if [ $# -ne 2 ] || [ -z "$1" ] || [ -z "$2" ]; then
    echo "bench-compare: needs two files: make bench-compare OLD=a.json NEW=b.json" >&2
    exit 2
fi
for file in "$1" "$2"; do
    [ -r "$file" ] && [ ! -d "$file" ] && [ -s "$file" ] || { echo "bench-compare: cannot read $file, or it is empty" >&2; exit 2; }
done
awk -f "$here/compare.awk" "$1" "$2"
