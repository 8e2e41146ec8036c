#!/bin/sh
# web.sh - the page: its results are the library's bit for bit, its parts work in Chromium, its file is small.
#
# The page needs clang for wasm32, the tests need Node and Chromium; what is missing is skipped.
# modes: release
root=$PWD
native=$(cd "${TESTS:-build/test}" && pwd)/web_native
page=$root/build/web/ulplab.html
. tests/programs/support.sh

if [ ! -f "$page" ]; then
    skip 'the page' 'no clang for wasm32, wasm-ld or wasi-libc'
    exit 0
fi

size=$(wc -c < "$page")
holds "the page has $size bytes, fewer than 300,000" [ "$size" -lt 300000 ]
! grep -nE '(src|href)="?(https?:)?//|@import|url\((https?:)?//|fetch\(|XMLHttpRequest|WebSocket|sendBeacon' "$page"
verdict $? 'the page names no address from which it would load'

if command -v node > /dev/null; then
    node "$root/tests/programs/web/equal.js" "$page" "$BIN" "$native" || failed=1
    browser=$(command -v "${CHROMIUM:-chromium}" || command -v chromium-browser || command -v google-chrome)
    if [ -n "$browser" ] && ! timeout 120 "$browser" --headless --no-sandbox --disable-gpu --dump-dom about:blank >/dev/null 2>&1; then
        skip 'the parts of the page in a browser' "$browser does not start here"
    elif [ -n "$browser" ]; then
        CHROMIUM=$browser node "$root/tests/programs/web/click.js" "$page" || failed=1
    else
        skip 'the parts of the page in a browser' 'no chromium'
    fi
else
    skip 'the results of the page' 'no node'
    skip 'the parts of the page in a browser' 'no node'
fi
exit $failed
