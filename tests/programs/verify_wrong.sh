#!/bin/sh
# verify_wrong.sh - ulp verify sees one wrong result in each call of a backend, of binary32 arrays and of binary64 arrays.
#
# The backend of tests/unit/walled.h returns wrong results where WALLED_WRONG names an operation.
TESTS=$(cd "${TESTS:-build/test}" && pwd) || exit 2
. tests/programs/support.sh

for operation in round round64; do
    WALLED_WRONG=$operation "$TESTS/walled/ulp" verify --format e4m3 --mode rne --sample 5000 >out.txt 2>err.txt
    [ $? -eq 1 ] && grep -q '^FAIL' out.txt
    verdict $? "a wrong result of $operation is seen"
done
"$TESTS/walled/ulp" verify --format e4m3 --mode rne --sample 5000 >out.txt 2>err.txt
verdict $? 'and none without it'
exit $failed
