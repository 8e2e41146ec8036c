#!/bin/sh
# parts.sh - writes the optional parts of a machine, and the state of the tree in git, as variables for make.
#
# `sh make/parts.sh FILE` writes FILE anew only if something that the answers depend on has changed since: the settings below,
# the folders in which compilers and libraries are found, the compilers themselves, the last commit. The probes take half a
# second, this look a few milliseconds. The environment has CC, CXX, NVCC, MPICC, CPPFLAGS, LDFLAGS and RANDOM123. A library is
# there if a program links with it, so that the answers of a cross compiler are those of its target.
file=$1
cppflags="${RANDOM123:+-I$RANDOM123} $CPPFLAGS"

folders=$(echo "$cppflags $LDFLAGS" | tr ' ' '\n' | sed -n 's/^-[IL]//p')
# one line for each file or folder: its name and the time of its last change
look() {
    echo "$CC;$CXX;$NVCC;$MPICC;$cppflags;$LDFLAGS;$PATH;$CPATH;$C_INCLUDE_PATH;$LIBRARY_PATH"
    stat -L -c '%n %y' $(for program in "$CC" "$CXX" "$NVCC" "$MPICC" gnuplot nvidia-smi; do command -v "$program"; done) $folders $(echo "$PATH:$CPATH:$C_INCLUDE_PATH:$LIBRARY_PATH" | tr : ' ') \
        /usr/include /usr/local/include /usr/include/*-linux-gnu /usr/lib /usr/lib/*-linux-gnu /usr/local/lib /usr/local/cuda /dev/nvidiactl \
        "$0" .commit .git/HEAD .git/logs/HEAD 2>/dev/null
}
now=$(look | cksum)
read -r _ old 2>/dev/null <"$file"
[ "$old" = "$now" ] && exit 0

mkdir -p "$(dirname "$file")"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# probe NAME CODE [FLAG...]: whether a program with the code compiles and links
probe() {
    name=$1 code=$2
    shift 2
    if printf '%s\n' "$code" | $CC $cppflags -w -x c - -o "$work/$name.out" $LDFLAGS "$@" 2>/dev/null; then echo "HAVE_$name := yes" >"$work/$name"; fi
}
probe CC '#include <stdio.h>
int main(void) { return 0; }' &
philox='#include <Random123/philox.h>
int main(void) { return 0; }'
probe RANDOM123 "$philox" &
probe COMPRESSED_DEBUG 'int main(void) { return 0; }' -g -Wl,--compress-debug-sections=zlib &
if [ -n "$MPICC" ] && command -v "$MPICC" >/dev/null 2>&1; then
    mpi_compile=$("$MPICC" --showme:compile 2>/dev/null) mpi_link=$("$MPICC" --showme:link 2>/dev/null)
    # shellcheck disable=SC2086
    probe MPI '#include <mpi.h>
int main(void) { return 0; }' $mpi_compile $mpi_link &
fi
probe OPENMP '#include <omp.h>
int main(void) { return omp_get_max_threads() == 0; }' -fopenmp &
probe MPFR '#include <mpfr.h>
int main(void) { return mpfr_get_version() == 0; }' -lmpfr -lgmp &
probe ZLIB '#include <zlib.h>
int main(void) { return zlibVersion() == 0; }' -lz &
probe CMOCKA '#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
int main(void) { return 0; }' -lcmocka &
probe SVE '#include <arm_sve.h>
typedef svfloat32_t fixed __attribute__((arm_sve_vector_bits(256)));
typedef float vector __attribute__((vector_size(32)));
int main(void) { fixed x = svdup_n_f32(1.0f); return ((vector)x)[0] != 1.0f; }' -march=armv8.2-a+sve -msve-vector-bits=256 &
probe BLAS 'extern void cblas_sgemm(void);
int main(void) { cblas_sgemm(); return 0; }' -lopenblas -lm &
wait
# Random123 is headers alone: a compiler that does not look into the folders of this machine gets a link to them
made=$(dirname "$file")/include
for folder in /usr/include /usr/local/include; do
    [ ! -e "$work/RANDOM123" ] && [ -z "$RANDOM123" ] && [ -d "$folder/Random123" ] || continue
    mkdir -p "$made" && ln -sfn "$folder/Random123" "$made/Random123" && probe RANDOM123 "$philox" -I"$made"
    [ ! -e "$work/RANDOM123" ] || echo "RANDOM123 := $made" >>"$work/RANDOM123"
done

# precise [FLAG]: whether float expressions have float's precision
precise() { printf '#include <float.h>\n#if FLT_EVAL_METHOD\n#error\n#endif\n' | $CC $cppflags -std=c11 "$@" -fsyntax-only -x c - 2>/dev/null; }

have() { [ -n "$1" ] && command -v "$1" >/dev/null 2>&1; }
# say NAME VALUE: a line of make, if there is a value
say() { [ -z "$2" ] || echo "$1 := $2"; }
{
    echo "# $now"
    cat "$work"/[A-Z]*[A-Z0-9] 2>/dev/null
    target=$($CC -dumpmachine 2>/dev/null)
    say TARGET "$target"
    # the archiver of the target, where the compiler knows one
    program=$($CC -print-prog-name=ar 2>/dev/null)
    ! have "$program" || say TARGET_AR "$program"
    program=$($CC -print-prog-name=strip 2>/dev/null)
    ! have "$program" || say TARGET_STRIP "$program"
    ! have "${CXX%% *}" || echo 'HAVE_CXX := yes'
    precise || ! precise -fexcess-precision=fast || echo 'EXCESS := -fexcess-precision=fast'
    ! have gnuplot || echo 'HAVE_GNUPLOT := yes'
    if [ -e "$work/MPI" ]; then
        say MPI_COMPILE "$mpi_compile"
        say MPI_LINK "$mpi_link"
    fi
    # nvcc compiles for this machine alone
    case $target in "$(uname -m)"-*) ;; *) NVCC= ;; esac
    if have "$NVCC"; then
        version=$("$NVCC" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p')
        say NVCC_VERSION "${version:-unknown}"
        say NVCC_HOME "$(realpath "$(command -v "$NVCC")" | sed -n 's,/bin/nvcc$,,p')"
        # 80 for compute capability 8.0, 90a from 9.0 on: code for one architecture alone
        say CUDA_FOUND "$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
            awk -F. '/^[0-9]+\.[0-9]$/ && $1 >= 8 && !seen[$0]++ { print $1 $2 ($1 >= 9 ? "a" : "") }' | tr '\n' ' ')"
    fi
    case $target in
    *x86_64*) echo 'X86 := yes' ;;
    aarch64* | arm64*) echo 'AARCH64 := yes' ;;
    esac
    # an archive of `make dist` has the commit, its date and its time in a file, a clone asks git
    archived=$(grep -v Format .commit 2>/dev/null)
    say COMMIT_DATE "$(set -- $archived; echo "${2:-$(git log -1 --format=%cs 2>/dev/null || echo unknown)}")"
    say COMMIT_TIME "$(set -- $archived; echo "${3:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}")"
} >"$file.$$" && mv "$file.$$" "$file"
