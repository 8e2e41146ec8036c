#!/bin/sh
# python.sh - the Python package on the library of this build: python/tests, run by pytest.
#
# PYTHON is the interpreter; without it the first of python3 and /usr/bin/python3 that has NumPy and pytest. Under asan
# the sanitizer's library is loaded before the interpreter. ULPLAB_EMULATED tells the tests of the library with the
# emulated CUDA device, where there is one.
# not with RUN: needs this machine's library
library=$(cd "$BIN/../lib" && pwd)/libulp.so
for python in "${PYTHON:-}" python3 /usr/bin/python3; do
    [ -n "$python" ] && "$python" -c 'import numpy, pytest' 2> /dev/null && found=$python && break
done
if [ -z "${found:-}" ]; then
    echo 'ok - the Python package # SKIP no Python with NumPy and pytest (python3-numpy, python3-pytest)'
    exit 0
fi
preload=
case ${MODE:-release} in
asan) preload="$("$CC" -print-file-name=libasan.so) $("$CC" -print-file-name=libubsan.so)" ;;
tsan)
    echo 'ok - the Python package # SKIP the interpreter is not built for tsan'
    exit 0
    ;;
esac
emulated=${library%/*}/emulated/libulp.so
[ -f "$emulated" ] || emulated=
ULPLAB_DATA=experiments/data ULPLAB_LIBRARY=$library ULPLAB_EMULATED=$emulated ULPLAB_BIN=$(cd "$BIN" && pwd) \
    PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1 LD_PRELOAD=$preload \
    ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" \
    "$found" -m pytest -v -p no:cacheprovider --tb=short python/tests 2>&1 | awk '
    # "python/tests/test_x.py::name[case] PASSED [ 50%]" becomes a TAP line
    / (PASSED|FAILED|SKIPPED|ERROR)( |$)/ && /^python\/tests\/.*::/ {
        name = $0
        sub(/^python\/tests\//, "", name)
        sub(/ (PASSED|FAILED|SKIPPED|ERROR).*/, "", name)
        if (/ PASSED/) print "ok - " name
        else if (/ SKIPPED/) print "ok - " name " # SKIP a library is missing"
        else { print "not ok - " name; failed = 1 }
        count++
        next
    }
    { print "# " $0 }
    END { if (!count) { print "not ok - pytest ran"; failed = 1 }; exit failed }'
