#!/bin/sh
# refuse.sh - flags of a compiler and settings of a process that change bits are refused: by an #error, or by the check of the arithmetic.
# modes: release
tree=$(pwd)
. tests/programs/support.sh

plain="-O2 -ffp-contract=off -fno-math-errno -D_POSIX_C_SOURCE=200809L -DULP_ISA=baseline -I$tree"
cat > main.c << 'END'
#include <stdio.h>
const char *ulp_arithmetic_fault_baseline(void);
int main(void) {
    const char *fault = ulp_arithmetic_fault_baseline();
    if (fault != NULL) puts(fault);
    return fault != NULL;
}
END

# outcome FLAG...: compiles the check with the flags, links it without them, and runs it; what refuses is in $by, the sentence in $work/log
outcome() {
    by=
    if ! $cc -std=c11 $plain "$@" -c "$tree/kernels/cpu/arithmetic.c" -o arithmetic.o > log 2>&1; then
        by=compiler
        ! grep -q 'error: .*ulplab.* need' log || by='#error'
    elif grep -q 'not supported' log; then
        by=compiler
    elif ! $cc main.c arithmetic.o formats-$cc/*.o -lm -o main > log 2>&1; then
        by=linker
    else
        ./main > log 2>&1 || by=check
    fi
}
refused() { # refused WORD FLAG...: the sentence has the word
    word=$1
    shift
    outcome "$@"
    if [ "$by" = compiler ]; then skip "$cc $*" 'the compiler does not take it'; return; fi
    grep -q -e "$word" log && [ "$by" = '#error' ] || { [ "$by" = check ] && grep -q -e "$word" log; }
    code=$?
    [ $code -eq 0 ] || sed 's/^/# /' log
    verdict $code "$cc $*: refused by ${by:-nobody}, with '$word'"
}
taken() {
    outcome "$@"
    [ -z "$by" ] || sed 's/^/# /' log
    holds "$cc ${*:-without more flags}: taken" [ -z "$by" ]
}

flags() {
    mkdir "formats-$cc"
    for f in "$tree"/formats/*.c; do $cc -std=c11 $plain -c "$f" -o "formats-$cc/$(basename "$f" .c).o" || return 1; done
    taken
    taken -O0
    taken -O3 -fno-trapping-math
    refused ffast-math -ffast-math
    refused Ofast -Ofast
    refused finite-math-only -ffinite-math-only
    refused associative-math -fassociative-math -fno-signed-zeros -fno-trapping-math
    refused reciprocal-math -freciprocal-math
    refused signed-zeros -fno-signed-zeros
    refused associative-math -funsafe-math-optimizations
    refused fno-honor-nans -fno-honor-nans
    refused fno-honor-infinities -fno-honor-infinities
    refused single-precision-constant -fsingle-precision-constant
    refused mfpmath=sse -mfpmath=387
    refused mfpmath=sse -mfpmath=both
    if echo '#include <stdlib.h>' | $cc -m32 -fsyntax-only -x c - 2> log; then
        refused mfpmath=sse -m32 -mno-sse2
        refused mfpmath=sse -m32 -mfpmath=387
        refused 'size_t of 64 bits' -m32 -msse2 -mfpmath=sse
    else
        skip "$cc -m32" 'the compiler cannot compile for 32 bits'
    fi
    if $cc -std=gnu11 -mavx512fp16 -fsyntax-only -x c /dev/null 2> log; then
        succeeds "$cc -std=gnu11 -mavx512fp16: taken" $cc -std=gnu11 -mavx512fp16 $plain -fsyntax-only "$tree/kernels/cpu/arithmetic.c"
    else
        skip "$cc -mavx512fp16" 'the compiler does not take it'
    fi
    if $cc -march=native -dM -E -x c - < /dev/null 2> log | grep -q '__FMA__\|__FP_FAST_FMA \|__ARM_FEATURE_FMA'; then
        taken -march=native
        refused ffp-contract -march=native -ffp-contract=fast
        refused ffp-contract=off -std=gnu11 -march=native -ffp-contract=fast
    else
        skip "$cc -ffp-contract=fast" 'no fused multiply-add'
    fi
    if $cc -ffast-math -### main.c 2>&1 | grep -q crtfastm; then
        outcome
        $cc -ffast-math main.c arithmetic.o formats-$cc/*.o -lm -o main
        prints 1 "$cc: a link with -ffast-math" 'subnormal numbers are zero' ./main
    else
        skip "$cc: a link with -ffast-math" 'it changes no settings'
    fi
}
for cc in gcc clang; do
    if command -v $cc > /dev/null; then flags || verdict 1 "$cc compiles formats/"; else skip "flags of $cc" "no $cc"; fi
done

# gcc for s390x computes float expressions as double, unless a flag forbids it
cc=s390x-linux-gnu-gcc
excess() { (cd "$tree" && CC=$1 sh make/parts.sh "$work/parts-$1") && grep -q '^EXCESS := -fexcess-precision=fast$' "parts-$1"; }
if command -v $cc > /dev/null; then
    complains 1 "$cc -std=c11" 'fexcess-precision=fast on s390x' $cc -std=c11 $plain -c "$tree/formats/round.c" -o round.o
    succeeds "$cc -std=c11 -fexcess-precision=fast: taken" $cc -std=c11 -fexcess-precision=fast $plain -c "$tree/formats/round.c" -o round.o
    holds 'make gives it this flag' excess $cc
else
    skip 'excess precision of s390x' "no $cc"
fi
holds "make does not give it to ${CC:-gcc}" ! excess "${CC:-gcc}"

# settings of a process, by a library that is loaded before the program
cat > settings.c << 'END'
#include <fenv.h>
#if defined(FLUSH)
#include <xmmintrin.h>
#endif
__attribute__((constructor)) static void set(void) {
#if defined(FLUSH)
    _mm_setcsr(_mm_getcsr() | 0x8040u);
#else
    fesetround(FE_UPWARD);
#endif
}
END
cat > foreign.c << 'END'
#include "kernels/foreign/foreign.h"
#include <stdio.h>
int main(void) {
    ulp_format *format;
    ulp_block *block;
    ulp_rounder *rounder;
    const ulp_backend *backend;
    if (ulp_foreign_format(&format, "fp16") == ULP_NO_DEVICE) puts(ulp_foreign_error());
    if (ulp_foreign_block(&block, "mxfp8-e4m3") == ULP_NO_DEVICE) puts(ulp_foreign_error());
    if (ulp_foreign_rounder(&rounder, "fp16", "rne", "default", 0, NULL) == ULP_NO_DEVICE) puts(ulp_foreign_error());
    if (ulp_backend_get(&backend, "cpu") == ULP_NO_DEVICE) puts(ulp_backend_lacks("cpu"));
    return 0;
}
END
of_process() { # of_process SETTING SENTENCE FLAG...: a library that is compiled with the flags makes the setting
    setting=$1 sentence=$2
    shift 2
    if ! ${CC:-gcc} "$@" -shared -fPIC settings.c -o settings.so -lm 2> log || ! LD_PRELOAD=$work/settings.so true 2> log || [ -n "${RUN:-}" ]; then
        skip "$setting" 'no library that makes it'
        return
    fi
    for command in "$BIN/ulp round --format fp16 0x1p-140" "$BIN/ulp show --format fp16 0.1" "$BIN/ulp arith --format fp16 --op add" "$BIN/ulp dot --datapath serial:fp16" \
        "$BIN/stagnation --quick --out stagnation.csv"; do
        complains 3 "$setting: $(basename "${command%% --*}")" "$sentence" env LD_PRELOAD="$work/settings.so" $command
        holds 'nothing is printed' [ ! -s out.txt ]
    done
    holds 'no file is written' [ ! -e stagnation.csv ]
    LD_PRELOAD=$work/settings.so ./foreign > out.txt
    holds "$setting: other languages get the sentence" [ "$(grep -c "$sentence" out.txt)" -eq 4 ]
}
succeeds 'a program links with libulp.so' ${CC:-gcc} -I"$tree" foreign.c -L"$BIN/../lib" -lulp -Wl,-rpath,"$BIN/../lib" -o foreign
holds 'the check passes in this process' [ -z "$(./foreign)" ]
of_process 'rounding upward' 'results are not the nearest numbers; the usual cause is a rounding direction'
of_process 'FTZ and DAZ' 'subnormal numbers are zero; the usual cause is a program or library that is linked with -ffast-math' -DFLUSH
exit $failed
