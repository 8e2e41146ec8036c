#!/bin/sh
# wrap.sh - for each program of a build writes a script that starts it by an emulator, so that tests and other scripts need no change.
#
# `sh make/wrap.sh BUILD RUN` writes BUILD/run/bin/NAME and BUILD/run/test/NAME for the programs of BUILD/bin and BUILD/test.
build=$(cd "$1" && pwd) || exit 1
mkdir -p "$build/run"
find "$build/run" -type f ! -name 'seconds_*.txt' -exec rm -f {} +
ln -sfn ../lib "$build/run/lib"
(cd "$build" && find bin test -type f 2>/dev/null) | while read -r program; do
    [ -x "$build/$program" ] || continue
    mkdir -p "$build/run/${program%/*}"
    printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$2" "$build/$program" >"$build/run/$program" && chmod +x "$build/run/$program" || exit 1
done
