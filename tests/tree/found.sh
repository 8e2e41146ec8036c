#!/bin/sh
# found.sh - make uses an optional library that is installed after the first build, and compiles only what needs it again.
#
# The libraries are MPI and OpenBLAS, and the tree has a few small sources. CC is from the environment.
# modes: release
# not with RUN: builds programs and starts them
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0

verdict() { # verdict STATUS TEXT
    if [ "$1" -eq 0 ]; then echo "ok - $2"; else echo "not ok - $2"; sed 's/^/# /' "$dir/log" | tail -20; failed=1; fi
}

mkdir -p "$dir/Random123" "$dir/parts" "$dir/formats" "$dir/base" "$dir/tool" "$dir/course" "$dir/kernels/cuda" "$dir/experiments/bench" "$dir/experiments/harness/sweep" "$dir/experiments/harness/cli" "$dir/sim"
: >"$dir/Random123/philox.h"
: >"$dir/mpi.h"
tar cf - Makefile make kernels/kernels.mk sim/sim.mk experiments/experiments.mk tool/tool.mk | (cd "$dir" && tar xf -)
echo 'int ulp_one(void); int ulp_one(void) { return 1; }' >"$dir/formats/one.c"
echo 'int ulp_absent(void); int ulp_absent(void) { return 1; }' >"$dir/kernels/cuda/absent.c"
cat >"$dir/experiments/harness/sweep/ranks.c" <<'END'
int ulp_ranks(void);
int ulp_ranks(void) {
#if defined(ULP_WITH_MPI)
    return FAKE_RANKS;
#else
    return 1;
#endif
}
END
echo 'int bench(void); int main(void) { return bench(); }' >"$dir/experiments/main.c"
cat >"$dir/experiments/bench/bench.c" <<'END'
#include <stdio.h>
int ulp_ranks(void);
int bench(void);
#if defined(ULP_WITH_BLAS)
int cblas_sgemm(void);
#endif
int bench(void) {
    printf("ranks %d\n", ulp_ranks());
#if defined(ULP_WITH_BLAS)
    int (*volatile sgemm)(void) = cblas_sgemm;
    puts(sgemm ? "sgemm" : "none");
#endif
    return 0;
}
END
# a compiler without OpenBLAS until the file parts/blas exists
cat >"$dir/cc" <<END
#!/bin/sh
case " \$* " in *" -lopenblas "*) [ -e '$dir/parts/blas' ] || exit 1 ;; esac
exec ${CC:-gcc} "\$@"
END
chmod +x "$dir/cc"

built() { # run make in the small tree; its output is in $dir/log
    (unset MAKEFLAGS MFLAGS MAKELEVEL; cd "$dir" && LIBRARY_PATH=$dir/parts make CC="$dir/cc" NVCC= MPICC="$dir/parts/mpicc" RANDOM123="$dir" programs) >"$dir/log" 2>&1
}
answers() { [ "$(LD_LIBRARY_PATH=$dir/parts "$dir/build/bin/bench" | tr '\n' ' ')" = "$1" ]; }
found() { grep -q "^$1  *found" "$dir/log"; }
compiled() { sed -n 's/^  cc //p' "$dir/log" | tr '\n' ' '; }

built && answers 'ranks 1 ' && ! found mpicc && ! found OpenBLAS
verdict $? 'a build without MPI and OpenBLAS'
built && [ -z "$(compiled)" ] && ! grep -q '^  [al][rd] ' "$dir/log"
verdict $? 'the next make does nothing'
stamps() { cat "$dir"/build/obj/*.txt "$dir"/build/obj/for/*.txt | cksum; }
before=$(stamps)
(unset MAKEFLAGS MFLAGS MAKELEVEL; cd "$dir" && make -n CC="$dir/cc" NVCC= MPICC="$dir/parts/mpicc" RANDOM123="$dir" STATIC=1 programs &&
    make CC="$dir/cc" NVCC= MPICC=none RANDOM123="$dir" STATIC=1 build/obj/formats/one.o) >"$dir/log" 2>&1 && [ "$before" = "$(stamps)" ]
verdict $? 'make with other settings that builds nothing changes nothing'

cat >"$dir/parts/mpicc" <<'END'
#!/bin/sh
case $1 in --showme:link) echo -lof_another_machine ;; esac
END
chmod +x "$dir/parts/mpicc"
built && answers 'ranks 1 ' && ! found mpicc
verdict $? 'the mpicc of another machine is not taken'
cat >"$dir/parts/mpicc" <<'END'
#!/bin/sh
case $1 in --showme:compile) echo -DFAKE_RANKS=7 ;; esac
END
chmod +x "$dir/parts/mpicc"
built && found mpicc && answers 'ranks 7 '
verdict $? 'mpicc that appears is built in'
[ "$(compiled)" = 'experiments/harness/sweep/ranks.c ' ]
verdict $? 'by the one source that uses it'

echo 'int cblas_sgemm(void); int cblas_sgemm(void) { return 0; }' >"$dir/parts/blas.c"
"${CC:-gcc}" -shared -fPIC "$dir/parts/blas.c" -o "$dir/parts/libopenblas.so" && : >"$dir/parts/blas"
built && found OpenBLAS && answers 'ranks 7 sgemm '
verdict $? 'OpenBLAS that appears is built in'
[ "$(compiled)" = 'experiments/bench/bench.c ' ]
verdict $? 'by the one program that uses it'

rm "$dir/parts/mpicc" "$dir/parts/blas"
built && answers 'ranks 1 '
verdict $? 'parts that disappear are built out'
rm "$dir/formats/one.c"
built && ! nm "$dir/build/lib/libulp.so" | grep -q ulp_one
verdict $? 'so is a source that disappears'

# a compiler for another machine, next to programs of this machine
printf '#!/bin/sh\ncase $1 in -dumpmachine) echo other-linux-gnu ;; -print-prog-name=ar) echo %s/parts/ar ;; *) exec %s "$@" ;; esac\n' \
    "$dir" "${CC:-gcc}" >"$dir/parts/other-linux-gnu-gcc-12"
printf '#!/bin/sh\necho "Cuda compilation tools, release 13.0, V13.0.1"\n' >"$dir/parts/nvcc"
cp "$dir/parts/nvcc" "$dir/parts/ar"
chmod +x "$dir"/parts/*
plan() { (unset MAKEFLAGS MFLAGS MAKELEVEL; cd "$dir" && make -n BUILD=other NVCC="$dir/parts/nvcc" MPICC= RANDOM123="$dir" "$@" libraries) >"$dir/log" 2>&1; }
plan CC="$dir/parts/other-linux-gnu-gcc-12" && ! found nvcc && grep -q "$dir/parts/ar qcs" "$dir/log"
verdict $? 'a cross compiler goes without the nvcc of this machine, and archives by the archiver of its target'
plan CC="$dir/cc" && found nvcc
verdict $? 'the compiler of this machine takes it'
! plan CC="$dir/none" && grep -q "$dir/none makes no programs" "$dir/log"
verdict $? 'a compiler that makes no programs is refused by name'
! plan MAKE_VERSION=3.81 && grep -q 'make 3.81 is too old, GNU make 4.2 is needed; on macOS: brew install make' "$dir/log"
verdict $? 'a make that is too old is refused in one sentence'
exit $failed
