# gpu.mk - what needs a GPU: the checks, the speed, and the kit for a GPU that is there for minutes; README.md is their manual.
#
#   make check-gpu       everything that needs a GPU, one report
#   make bench-gpu       speed of a GPU compared with a device copy and cuBLAS; the rows are kept in RECORD=file
#   make gpu-kit         .gpu: programs, library and headers for a bare machine with a GPU, where tests/gpu/first_run.sh runs them

.PHONY: check-gpu bench-gpu gpu-kit
NO_NVCC = echo 'make $@: $(NVCC) is missing or older than $(NVCC_NEEDED)' >&2; exit 3;

# REPORT=tests/golden/gpu/NAME.txt keeps the report where it can be committed, and without it tests/gpu/report.sh names the file;
# PARTS='races open' runs these parts alone; LONG=1 takes large sizes
check-gpu: $(if $(WITH_CUDA),$T/check_gpu)
	@$(if $(WITH_CUDA),,$(NO_NVCC)) CHECK=$T/check_gpu REPORT='$(REPORT)' PARTS='$(PARTS)' LONG='$(LONG)' sh tests/gpu/report.sh

# RECORD=tests/golden/gpu/NAME.bench.txt keeps the record where it can be committed
bench-gpu: RECORD ?= results/bench_gpu.txt
bench-gpu: $B/bench
	@mkdir -p results figures
	BENCH=$B/bench sh experiments/bench/record.sh '$(RECORD)' results/bench_gpu.csv --backend cuda
	$(if $(HAVE_GNUPLOT),LC_ALL=C.UTF-8 gnuplot plots/bench_gpu.gp)

# The kit is a build of its own, without the parts that a bare machine lacks, for the GPUs that CUDA_ARCHS names on the
# command line or in the environment, or else for the H100 and the H200: it is not for the GPU of this machine.
KIT_BUILD := build/kit
KIT_ARCHS  = $(or $(if $(filter file,$(origin CUDA_ARCHS)),,$(CUDA_ARCHS)),90a)
KIT_FILES := test/check_gpu bin/bench
# what is built, written before the build: the commit may change meanwhile
KIT_COMMIT = git rev-parse HEAD 2> /dev/null || echo '$(COMMIT)'; git status --short 2> /dev/null | sed 's/^/uncommitted: /' | head -n 20
gpu-kit:
	@$(if $(HAVE_NVCC),,$(NO_NVCC)) mkdir -p $(KIT_BUILD) && { $(KIT_COMMIT); echo 'CUDA_ARCHS $(KIT_ARCHS)'; } > $(KIT_BUILD)/commit
	@$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$$(getconf _NPROCESSORS_ONLN)) MODE=release STATIC= \
	    HAVE_MPFR= HAVE_MPI= HAVE_ZLIB= HAVE_BLAS= CUDA_ARCHS='$(KIT_ARCHS)' BUILD=$(KIT_BUILD) $(KIT_FILES:%=$(KIT_BUILD)/%)
	@RANDOM123='$(RANDOM123_FOLDER)' sh tests/gpu/kit.sh $(KIT_BUILD) .gpu $(KIT_FILES) lib/libulp.so.$(ABI)
