#!/bin/sh
# cuda.sh - the kernels of kernels/cuda, run on the emulated device, against the CPU: BIN and TESTS from the environment.
if [ ! -x "$TESTS/check_emulated" ]; then
    echo 'ok - cuda: kernels on the emulated device # SKIP no C++ compiler, or a sanitizer that knows no coroutines'
    exit 0
fi
"$TESTS/check_emulated" --small --tap

# instructions and their models on other generations
failed=$?
for capability in 80 89 100; do
    EMULATED_CAPABILITY=$capability "$TESTS/check_emulated" --small --tap --only mma: || failed=1
done
exit $failed
