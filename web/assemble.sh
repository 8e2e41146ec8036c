#!/bin/sh
# assemble.sh WASM - writes the page as one file to stdout: page.html with style, scripts, data and the wasm module, gzip in base64, inside.
set -eu
web=$(dirname "$0")
while IFS= read -r line; do
    case $line in
    *'@include style@'*) cat "$web/style.css" ;;
    *'@include gradients@'*) cat "$web/gradients.csv" ;;
    *'@include scripts@'*) for script in "$web"/*.js; do cat "$script"; done ;;
    *'@include wasm@'*)
        printf '%s' "${line%%@include wasm@*}"
        gzip -9 -n < "$1" | base64 | tr -d '\n'
        printf '%s\n' "${line##*@include wasm@}"
        ;;
    *) printf '%s\n' "$line" ;;
    esac
done < "$web/page.html"
