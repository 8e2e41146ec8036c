#!/bin/sh
# cuda.sh - the kernels of kernels/cuda on the emulated device give the results of the CPU. TESTS is from the environment.
if [ ! -x "$TESTS/check_emulated" ]; then
    echo 'ok - cuda: kernels on the emulated device # SKIP no C++ compiler, or a sanitizer that does not support coroutines'
    exit 0
fi
failed=0
case ${MODE:-release} in
release) "$TESTS/check_emulated" --small --tap || failed=1 ;;
*) # a sanitizer needs minutes for all trainings, so only two of them run
    for part in elements moves network gemm refusals tensor native; do "$TESTS/check_emulated" --small --tap --part $part || failed=1; done
    "$TESTS/check_emulated" --small --tap --part training --only ', mixed:fp16' || failed=1
    ;;
esac

# instructions against their models on other generations of GPUs, and all products of the one that has tcgen05
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
for capability in 80 89; do
    EMULATED_CAPABILITY=$capability "$TESTS/check_emulated" --small --tap --part tensor --only mma: || failed=1
done
for part in tensor native; do
    EMULATED_CAPABILITY=100 "$TESTS/check_emulated" --small --tap --part $part || failed=1
done
if EMULATED_CAPABILITY=0 "$TESTS/check_emulated" > "$log" 2>&1; [ $? -eq 3 ] && grep -q 'this machine has no CUDA device' "$log"; then
    echo 'ok - cuda: without a device exit 3 and a sentence'
else
    echo 'not ok - cuda: without a device exit 3 and a sentence'
    failed=1
fi
exit $failed
