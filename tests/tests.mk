# tests.mk - the tests: programs of tests/unit, scripts of tests/programs and tests/tree, and the short forms of tests/proofs.
#
#   make check           the tests; MODE=asan and MODE=tsan run them under sanitizers; ONLY="t_round tool_*" runs these alone,
#                        ULP_TESTS=all makes the largest loops complete
#   make check-tree      tests of the sources and of the build: layout, directions, compilers, one thing of each kind added to a copy
#   make check-all       the tests with complete loops, all 2^32 binary32 inputs of every case against MPFR, faults, all random words; FORMATS=, MODES=, OVERFLOW=, ISA=
#   make check-silicon   the processor's own products and conversions compared with their models, tests/golden/silicon/PROCESSOR.txt

TESTS := $(if $(and $(HAVE_CMOCKA),$(HAVE_MPFR)),$(patsubst tests/unit/%.c,%,$(wildcard tests/unit/t_*.c)))
.PHONY: tests check check-tree check-all check-silicon
# kept although only pattern rules name them
.SECONDARY: $(patsubst %.c,$O/%.o,$(wildcard tests/*/*.c tests/*/*/*.c)) $(patsubst %.cpp,$O/%.o,$(wildcard tests/gpu/emulated/*.cpp)) \
    $(CUDA_SRC:%.cu=$O/emulated/%.o)
# the loops of tests need no vectors, and a third less time to compile
$(eval $(call flags_of,tests/unit,$(if $(filter release,$(MODE)),-O1)))

# kernels/cuda by the host's compiler, for the emulated device of the tests
# A device traps on an address that is not aligned. MODE=asan finds such addresses on the emulated device.
SANITIZERS := $(filter -fsanitize% -fno-sanitize% -fno-omit% --coverage -fprofile-update%,$(CFLAGS))
EMULATED_FLAGS := -std=c++17 -Wall -Wextra -Werror=switch -Wno-unknown-pragmas $(if $(WERROR),-Werror) -O2 -g1 \
    $(SANITIZERS) \
    -ffp-contract=off -fPIC -pthread -I. -Itests/gpu/emulated $(if $(RANDOM123),-I$(RANDOM123))
EMULATED_OBJ := $(CUDA_SRC:%.cu=$O/emulated/%.o) $(patsubst %.cpp,$O/%.o,$(filter-out tests/gpu/emulated/t_%,$(wildcard tests/gpu/emulated/*.cpp)))
$O/emulated/%.o: %.cu $O/emulated_flags.txt
	@mkdir -p $(@D)
	$(call run,c++,$< (emulated))$(CXX) -x c++ $(EMULATED_FLAGS) $(MAP) -MMD -c $< -o $@
$O/tests/gpu/emulated/%.o: tests/gpu/emulated/%.cpp $O/emulated_flags.txt
	@mkdir -p $(@D)
	$(call run,c++,$<)$(CXX) $(EMULATED_FLAGS) $(MAP) -MMD -c $< -o $@
$(call stamp,$O/emulated_flags.txt,$(CXX) $(EMULATED_FLAGS))

$T/%: $O/tests/unit/%.o $(HARNESS_OBJ) $(LIBULP) $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(RPATH) $(inputs) $(MPI_LIBS) -lcmocka $(LIBS) -lm -o $@

# the command line alone, which needs the library and nothing of the harness above it
$T/t_options: $O/tests/unit/t_options.o $(patsubst %.c,$O/%.o,$(wildcard experiments/harness/cli/*.c)) $L/libulp.a
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $^ -lcmocka $(LIBS) -lm -o $@

# what a test needs besides its own source
WALL_OBJ := $O/tests/unit/walled.o
$T/t_walled: $(WALL_OBJ)
$T/t_files: $(patsubst %.c,$O/%.o,$(wildcard tool/files/*.c)) $O/tool/print.o

# The checks of the CUDA backend: on the device, and with its kernels on the emulated one
CHECK_OBJ := $(patsubst %.c,$O/%.o,$(wildcard tests/gpu/*.c))
CHECK_EMULATED := $(if $(and $(HAVE_CXX),$(filter-out tsan,$(MODE))),$T/check_emulated)
$T/check_gpu: $(CHECK_OBJ) $(LIBULP) $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(RPATH) $(inputs) $(LIBS) -lm -o $@
# the emulated device stands in the archive's place of kernels/cuda, so these two link statically
LINK_EMULATED = $(CXX) $(EMULATED_FLAGS) $(filter -fopenmp,$(ALL_CFLAGS)) $(COMPRESSED)
$T/check_emulated: $(CHECK_OBJ) $(EMULATED_OBJ) $L/libulp.a $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK_EMULATED) $(inputs) $(LIBS) -lm -o $@
EMULATED_TESTS := $(if $(CHECK_EMULATED),$(patsubst tests/gpu/emulated/%.cpp,$T/%,$(wildcard tests/gpu/emulated/t_*.cpp)))
$T/t_gpu_%: $O/tests/gpu/emulated/t_gpu_%.o $(EMULATED_OBJ) $L/libulp.a $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK_EMULATED) $(inputs) $(LIBS) -lm -o $@

# The processor's own products and conversions against their models
$T/check_silicon: $(patsubst %.c,$O/%.o,$(wildcard tests/proofs/silicon/*.c)) $(LIBULP) $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(RPATH) $(inputs) $(LIBS) -lm -o $@

# Programs for tests of --backend: the CPU's memory behind a wall (tests/unit/walled.h), and the emulated CUDA device; both are
# in a libulp of their own, which these programs share
WALLED := $(PROGRAMS)
EMULATED := $(if $(CHECK_EMULATED),$(EMULATED_OBJ))
WALL := -Wl,--wrap=ulp_backend_get
$L/walled/libulp.so: $(WALL_OBJ) $O/tests/unit/walled_get.o $(or $(EMULATED),$O/kernels/cuda/absent.o) \
    $(filter-out $O/kernels/cuda/%,$(LIB_OBJ)) $O/objects.txt $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(if $(EMULATED),$(LINK_EMULATED),$(LINK)) $(WALL) $(SHARED) $(inputs) $(LIBS) -lm -o $@ && ln -sf libulp.so $(@D)/$(SO_NAME)
$T/walled/%: $$(call program_objects,$$*) $(HARNESS_OBJ) $L/walled/libulp.so $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(WALL) $(call rpath,../../lib/walled) $(inputs) $(MPI_LIBS) $(libraries_of_$*) $(LIBS) -lm -o $@

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

# the tests in C that ONLY names, if it names no script: they need less of the build
ONLY_C := $(if $(filter-out t_%,$(ONLY)),,$(patsubst %,$T/%,$(filter $(subst *,%,$(ONLY)),$(TESTS))))
RUN_TESTS = $(WRAP) BIN=$R/bin TESTS=$R/test CC='$(CC)' MODE=$(MODE) NVCC='$(if $(HAVE_NVCC),$(NVCC))' RUN='$(RUN)' ONLY='$(ONLY)' sh tests/run.sh
# the tests are built by all processors, also where make has no -j
check:
	@$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$$(getconf _NPROCESSORS_ONLN)) $(if $(ONLY_C),programs $(ONLY_C),tests)
	@$(if $(TESTS),,echo 'the tests need cmocka (libcmocka-dev) and MPFR (libmpfr-dev)' >&2; exit 3;) \
	$(RUN_TESTS) programs
check-tree: tests
	@$(RUN_TESTS) tree

# a selection of cases or instruction sets runs without the other parts
SELECTED := $(FORMATS)$(MODES)$(OVERFLOW)$(ISA)
check-all: export ULP_TESTS := all
check-all: $(if $(SELECTED),tests,check)
	@$(WRAP) BIN=$R/bin TESTS=$R/test FORMATS='$(FORMATS)' MODES='$(MODES)' OVERFLOW='$(OVERFLOW)' ISA='$(ISA)' JOBS='$(JOBS)' sh tests/programs/exhaustive.sh

# the processor against its models, all inputs; a short form is part of `make check`
check-silicon: $T/check_silicon
	@$(WRAP) CHECK=$R/test/check_silicon REPORT='$(SILICON)' sh tests/proofs/silicon/report.sh
