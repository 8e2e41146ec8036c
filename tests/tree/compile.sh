#!/bin/sh
# compile.sh - every C source under gcc and clang; the headers as C11, C17, C++17, freestanding wasm32 and CUDA; make chooses nvcc and GPUs correctly.
#
# The compilers read the sources, with the flags of make, and make no code. `make compilers` asks every release that is installed.
# modes: release
tree=$(pwd)
. tests/programs/support.sh
cd "$tree" || exit 1

warn='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -ffp-contract=off -I.'
{
    for h in formats/*.h base/*.h kernels/*.h; do echo "#include \"$h\""; done
    echo 'double use(double x, const ulp_format *f) { return ulp_round(x, f, ulp_rule(), 0); }'
} > "$work/use.cpp"
sed 's/ulp_rule()/(ulp_rule){0}/' "$work/use.cpp" > "$work/use.c"

for cc in gcc clang; do
    if command -v $cc > /dev/null; then
        for std in c11 c17; do succeeds "headers are $std under $cc" $cc -std=$std $warn -c "$work/use.c" -o "$work/use.o"; done
        for f in formats/*.c; do succeeds "$f is c17 under $cc" $cc -std=c17 $warn -c "$f" -o "$work/use.o"; done
    else
        skip "headers under $cc" "no $cc"
    fi
done
for cc in gcc clang; do
    if command -v $cc > /dev/null; then succeeds "every C source is without a warning under $cc" sh tests/proofs/compilers/read.sh $cc "$work/read-$cc"
    else skip "every C source under $cc" "no $cc"; fi
done
for cxx in g++ clang++; do
    if command -v $cxx > /dev/null; then
        succeeds "headers are C++17 under $cxx" $cxx -std=c++17 -Wall -Wextra -Wno-missing-field-initializers -Werror -I. -c "$work/use.cpp" -o "$work/use.o"
        for f in formats/*.c; do
            succeeds "$f is C++17 under $cxx" $cxx -x c++ -std=c++17 -Wall -Wextra -Wno-missing-field-initializers -Werror -I. -c "$f" -o "$work/use.o"
        done
    else
        skip "formats is C++17 under $cxx" "no $cxx"
    fi
done
if command -v clang > /dev/null && echo 'int x;' | clang --target=wasm32 -x c -c - -o "$work/probe.o" 2> /dev/null; then
    for f in formats/*.c; do
        succeeds "$f is freestanding wasm32" clang --target=wasm32 -ffreestanding -nostdlibinc -std=c11 $warn -c "$f" -o "$work/use.o"
    done
else
    skip 'formats is freestanding wasm32' 'no clang with that target'
fi
# systems that nobody has tested: the library compiles with their headers
mkdir "$work/headers" && ln -s /usr/include/Random123 "$work/headers"
on_system() { # on_system SYSTEM COMPILER...
    system=$1
    shift
    { find formats base kernels -name '*.c' ! -path 'kernels/mpfr/*'; echo kernels/mpfr/absent.c; } |
        xargs -P 2 -I FILE sh -c 'o=$0/$(echo FILE | tr / _).o; "$@" -c FILE -o "$o" || exit 255' "$work" \
            "$@" -std=c11 -w -I. -I"$work/headers" -D_POSIX_C_SOURCE=200809L -DULP_ISA=baseline >"$work/log" 2>&1
    verdict $? "formats, base and kernels compile for $system"
}
if command -v x86_64-w64-mingw32-gcc >/dev/null; then on_system Windows x86_64-w64-mingw32-gcc
else skip 'formats, base and kernels compile for Windows' 'no x86_64-w64-mingw32-gcc'; fi
if command -v zig >/dev/null; then on_system macOS zig cc -target aarch64-macos
elif python3 -m ziglang version >/dev/null 2>&1; then on_system macOS python3 -m ziglang cc -target aarch64-macos
else skip 'formats, base and kernels compile for macOS' 'no zig (ziglang of PyPI)'; fi
if [ -n "${NVCC:-}" ] && command -v "$NVCC" > /dev/null; then
    cat > "$work/use.cu" << 'END'
#include "formats/rng.h"
#include "kernels/rounding/core.h"
#include "kernels/products/sum.h"
__global__ void use(float *y, const float *x, size_t n, ulp_format f, ulp_rule rule, ulp_stream s, ulp_core c) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t word = ulp_random_word(s, i);
    float a = (float)ulp_round_exact(ulp_exact_of(x[i]), &f, rule, word);
    y[i] = a + ulp_from_bits32(ulp_core_finish(ulp_bits32(x[i]), ulp_core_any(ulp_bits32(x[i]), &c, ULP_SRA, word), &c, 0));
}
/* y[i] = c + a (k) b (k), a and b of thread i */
__global__ void sums(double *y, const double *a, const double *b, size_t n, uint32_t k, ulp_datapath d, ulp_stream stream) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    ulp_sum s;
    ulp_sum_start(&s, &d, y[i], i * k);
    for (uint32_t j = 0; j < k; j += d.step) {
        const ulp_products next = {a + i * k + j, b + i * k + j, k - j < d.step ? k - j : d.step, NULL, NULL};
        ulp_sum_step(&s, &d, &next, stream);
    }
    y[i] = ulp_sum_end(&s, &d, stream);
}
END
    # -G does not optimize, and takes a tenth of the time
    succeeds 'the arithmetic is CUDA device code' "$NVCC" -std=c++17 -arch=sm_90a --fmad=false -G -I. -c "$work/use.cu" -o "$work/use.o"
else
    skip 'the arithmetic is CUDA device code' 'no nvcc, or one too old'
fi

# plan [VARIABLE]: the commands of make with the programs of $work, in $work/log
plan() { (unset MAKEFLAGS MFLAGS MAKELEVEL; PATH=$work:$PATH make -n NVCC=nvcc MODE=release BUILD="$work/build" ${1:+"$1"} libraries) > "$work/log" 2>&1; }
with_release() { # with_release RELEASE: with an nvcc of this release
    printf '#!/bin/sh\necho "Cuda compilation tools, release %s, V%s.1"\n' "$1" "$1" > "$work/nvcc"
    chmod +x "$work/nvcc"
    plan
}
left_out() {
    with_release "$1" && grep -q "^nvcc  *too old: $1, needs 13.0; no CUDA$" "$work/log" && grep -q 'cuda/absent\.c' "$work/log" &&
        ! grep -q 'cuda/[a-z_]*\.cu' "$work/log"
}
taken() { with_release "$1" && grep -q '^nvcc  *found$' "$work/log" && grep -q 'cuda/mma\.cu' "$work/log" && ! grep -q 'cuda/absent\.c' "$work/log"; }
for release in 9.2 12.9; do
    left_out $release
    verdict $? "make goes without CUDA where nvcc is of release $release, and says so"
done
for release in 13.0 13.10 14.0; do
    taken $release
    verdict $? "make takes an nvcc of release $release"
done

# nvcc builds for the GPUs that nvidia-smi lists, and without a GPU for one target
targets() { # targets CAPABILITIES WANT TEXT [MAKE VARIABLE]
    printf '#!/bin/sh\nprintf "%s"\n' "$1" > "$work/nvidia-smi"
    chmod +x "$work/nvidia-smi"
    plan ${4:+"$4"}
    holds "$3" [ "$(grep -o 'code=[a-z]*_[0-9a-z]*' "$work/log" | sort -u | sed 's/code=//' | xargs)" = "$2" ]
}
targets '' 'sm_90a' 'without a GPU nvcc builds for one target'
targets '9.0\n' 'sm_90a' 'nvcc builds for an H100'
targets '12.0\n8.9\n8.9\n' 'sm_120a sm_89' 'nvcc builds for two kinds of GPU'
targets 'NVIDIA-SMI has failed\n' 'sm_90a' 'a failing nvidia-smi is as none'
targets '8.0\n' 'compute_80 sm_80' 'an A100 gets a form that later devices can compile'
targets '9.0\n' 'compute_80 sm_100a sm_80 sm_89 sm_90a' 'CUDA_ARCHS names all' CUDA_ARCHS='80 89 90a 100a'
exit $failed
