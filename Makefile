# Makefile - builds the libraries, the tool, the experiments, the figures and the tests of ulplab.
#
#   make                 libraries, tool, experiments; a line per optional part that is found or missing
#   make install         PREFIX= and DESTDIR= are honoured
#   make compile-commands  compile_commands.json, for editors and analysers
#   make clean           removes build/; distclean also results/, figures/ and .gpu/
#
# MODE=release|debug|asan|tsan, each in a folder of its own. STATIC=1 links programs with libulp.a, not libulp.so.
# ISAS="baseline avx2" builds the kernels of the CPU for these instruction sets alone.
# CUDA_ARCHS="80 89 90a 100a" names the GPUs that nvcc builds for; without it nvcc builds for the GPU of this machine.
# CC=aarch64-linux-gnu-gcc BUILD=build/aarch64 builds for another machine; RUN="qemu-aarch64 -L /usr/aarch64-linux-gnu" runs what it built.
# Settings of one machine (CC, CFLAGS, NVCC, ...) go into config.mk, which is not tracked.
#
# This file has the flags, the rules for objects, the library and the programs. FOLDER/FOLDER.mk has what its folder needs;
# make/ has what differs between systems, and the scripts that make calls. Sources are found by wildcards: no list is kept by hand.

$(if $(filter 3.% 4.0 4.0.% 4.1 4.1.%,$(MAKE_VERSION)),$(error make $(MAKE_VERSION) is too old, GNU make 4.2 is needed; on macOS: brew install make, then gmake instead of make))
-include config.mk

MODE    ?= release
PREFIX  ?= /usr/local
VERSION := 0.9.0
# programs that were linked with one ABI run with every library of this ABI; before 1.0.0 the middle number changes it
ABI     := $(subst $(empty) ,.,$(wordlist 1,$(if $(filter 0.%,$(VERSION)),2,1),$(subst ., ,$(VERSION))))

ifeq ($(origin CC),default)
CC := gcc
endif
# the C++ compiler next to the C compiler: aarch64-linux-gnu-g++-12 for aarch64-linux-gnu-gcc-12, clang++ for clang
ifeq ($(origin CXX),default)
CXX := $(foreach w,$(CC),$(patsubst %$(notdir $w),%$(subst clang,clang++,$(subst gcc,g++,$(patsubst cc,c++,$(notdir $w)))),$w))
endif
NVCC   ?= nvcc
MPICC  ?= mpicc
PYTHON ?= python3

ifeq ($(filter $(MODE),release debug asan tsan),)
$(error MODE=$(MODE): must be release, debug, asan or tsan)
endif
BUILD := $(if $(filter release,$(MODE)),build,build/$(MODE))
O := $(BUILD)/obj
B := $(BUILD)/bin
L := $(BUILD)/lib
T := $(BUILD)/test

empty :=
, := ,
hash  := $(empty)\#

.PHONY: all libraries programs install compile-commands clean distclean help list-experiments
all: libraries programs

# ---- optional parts: make/parts.sh probes them, and `make` prints a line for each ----

QUIET_GOALS := clean help distclean list-experiments slides bench-compare
ifneq ($(filter-out $(QUIET_GOALS),$(or $(MAKECMDGOALS),all)),)
PARTS := $(BUILD)/parts.mk
PARTS_FAILED := $(shell CC='$(CC)' CXX='$(CXX)' NVCC='$(NVCC)' MPICC='$(MPICC)' CPPFLAGS='$(CPPFLAGS)' LDFLAGS='$(LDFLAGS)' \
    RANDOM123='$(RANDOM123)' sh make/parts.sh $(PARTS) || echo failed)
$(if $(PARTS_FAILED),$(error make/parts.sh could not write $(PARTS)))
include $(PARTS)
ifeq ($(origin AR),default)
AR := $(or $(TARGET_AR),ar)
endif
NVCC_NEEDED := 13.0
# versions as MAJOR.MINOR: the needed one is the first of two in the order of versions
HAVE_NVCC := $(if $(filter-out unknown,$(NVCC_VERSION)),$(if $(filter $(NVCC_NEEDED),$(firstword $(shell printf '%s\n' \
    $(NVCC_NEEDED) $(NVCC_VERSION) | sort -V))),yes))
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
ifeq ($(HAVE_CC),)
$(error $(CC) makes no programs: the compiler, or the C library of its target, is missing)
endif
ifeq ($(HAVE_RANDOM123),)
$(error Random123 is missing: apt-get install librandom123-dev, or RANDOM123=its include folder)
endif
endif
include make/targets.mk
have = $(if $(1),$(shell command -v $(1) >/dev/null 2>&1 && echo yes))

# ---- flags ----

WARN  := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror=switch -Werror=implicit-function-declaration $(if $(WERROR),-Werror)
FLAGS_release := -O3 -g1
FLAGS_debug   := -O0 -g3
FLAGS_asan    := -O2 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FLAGS_tsan    := -O2 -g1 -fsanitize=thread
CFLAGS   ?= $(FLAGS_$(MODE))
# -ffp-contract=off: a b + c is two roundings unless the source says fma; EXCESS, of gcc for s390x: float stays float
ALL_CFLAGS := -std=c11 $(WARN) $(CFLAGS) $(if $(filter-out $(FLAGS_$(MODE)),$(CFLAGS)),$(filter -fsanitize%,$(FLAGS_$(MODE)))) \
    -ffp-contract=off $(EXCESS) -fno-math-errno -fno-trapping-math -fPIC -pthread $(if $(HAVE_OPENMP),-fopenmp)
# no object names the folder of the build; not in ALL_CFLAGS, which programs record
MAP := -ffile-prefix-map=$(CURDIR)=/ulplab
ALL_CPPFLAGS := -I. -D_POSIX_C_SOURCE=200809L $(if $(RANDOM123),-I$(RANDOM123)) $(CPPFLAGS) $(if $(HAVE_ZLIB),-DULP_WITH_ZLIB)
# debug information is four fifths of what a link writes; compressed it is a third
COMPRESSED := $(if $(HAVE_COMPRESSED_DEBUG),-Wl$(,)--compress-debug-sections=zlib)
LINK = $(CC) $(ALL_CFLAGS) $(COMPRESSED) $(LDFLAGS)
RPATH = $(call rpath,../lib)
LIBS  := $(if $(HAVE_ZLIB),-lz) $(if $(HAVE_MPFR),-lmpfr -lgmp)
# MPI has one home, the sweep; the links of programs find the library through mpicc
MPI_LIBS := $(if $(HAVE_MPI),$(MPI_LINK))

# make V=1 shows the commands
run = $(if $(V),,@echo '  $(1) $(2)' && )

# $(call stamp,FILE,TEXT): FILE is a target that holds TEXT. It is made anew only if it holds another text, which make looks at
# without a process. What is made from flags depends on the stamp of the flags, so that a part found after the first build is
# built in by the next.
same = $(if $(subst x$(1)x,,x$(2)x)$(subst x$(2)x,,x$(1)x),,yes)
holds = $(and $(wildcard $(1)),$(call same,$(strip $(file <$(1))),$(strip $(2))))
stamp = $(if $(call holds,$(1),$(2)),,$(eval TEXT_$(1) := $$(strip $$(2)))$(eval $(1): .FORCE ; $$(write_stamp)))
write_stamp = @mkdir -p $(@D) && printf '%s\n' '$(subst ','\'',$(TEXT_$@))' > $@
# $(call flags_of,SOURCE or FOLDER without ending,FLAGS): flags of one source, or of the sources of one folder
define flags_of
FOR_$(1) := $(2)
$$(call stamp,$O/for/$(subst /,-,$(1)).txt,$$(FOR_$(1)))
$(patsubst %.c,$O/%.o,$(wildcard $(1).c $(1)/*.c)): $O/for/$(subst /,-,$(1)).txt
endef

# $(call made_table,NAME,SOURCES,HEADER,TYPE,PREFIX,TABLE): the table of the rows that sources define, by make/table.sh; the folder
# of the sources has a new time when a source comes or goes
define made_table
$O/made/$(1).c: make/table.sh $(2) $(sort $(dir $(2)))
	@mkdir -p $$(@D) && sh make/table.sh $(3) $(4) $(5) $(6) $$(filter %.c,$$^) > $$@.tmp && mv $$@.tmp $$@
endef

# ---- sources ----

LIB_SRC := $(wildcard formats/*.c base/*.c)
LIB_OBJ = $(LIB_SRC:%.c=$O/%.o)
include $(wildcard kernels/kernels.mk sim/sim.mk)
LIB_OBJ := $(LIB_OBJ)

# what git says: the commit only where it is written, as --dirty reads the whole tree
COMMIT = $(or $(firstword $(shell grep -v Format .commit 2>/dev/null)),$(shell git describe --always --abbrev=12 --exclude '*' --dirty 2>/dev/null || echo unknown))
export SOURCE_DATE_EPOCH := $(or $(SOURCE_DATE_EPOCH),$(COMMIT_TIME),0)
# what identifies a build: a checksum over its sources, compilers and flags, 8 hex digits
BUILD_SRC := formats base kernels sim experiments tool course
BUILD_ID = $(shell printf '%08x' $$({ find $(wildcard $(BUILD_SRC)) -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.def' \) | \
    LC_ALL=C sort | xargs cat; $(CC) --version; echo '$(ALL_CPPFLAGS) $(ALL_CFLAGS)'; \
    $(if $(WITH_CUDA),echo '$(NVCC_VERSION) $(NVCC_FLAGS)';) } | cksum | cut -d ' ' -f 1))

# ---- objects ----

COMPILE = $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(MAP) -MMD
# loops over arrays are in formats and kernels; the folders above them are compiled in a fifth less time at -O2
LEVEL := $(if $(call same,$(CFLAGS),$(FLAGS_release)),-O2)
LEVEL_OF = $(if $(filter sim experiments course tool,$(firstword $(subst /, ,$(1)))),$(LEVEL))
$(call stamp,$O/flags.txt,$(CC) $(ALL_CPPFLAGS) $(filter-out $(WARN),$(ALL_CFLAGS)) $(LEVEL))
$O/%.o: %.c $O/flags.txt
	@mkdir -p $(@D)
	$(call run,cc,$<)$(COMPILE) $(call LEVEL_OF,$*) $(FOR_$*) $(FOR_$(patsubst %/,%,$(dir $*))) -c $< -o $@
$O/made/%.o: $O/made/%.c $O/flags.txt
	$(call run,cc,$<)$(COMPILE) -c $< -o $@

# what a link takes of its prerequisites: all but the stamps
inputs = $(filter %.o %.a %.so %.dylib,$^)

libraries: $L/libulp.a $(SO_FILE:%=$L/$(SO))
$(call stamp,$O/objects.txt,$(LIB_OBJ))
$L/libulp.a: $(LIB_OBJ) $O/objects.txt
	@mkdir -p $(@D)
	$(call run,ar,$@)rm -f $@ && $(AR) qcs $@ $(inputs)
$L/$(SO_FILE): $(LIB_OBJ) $O/objects.txt $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(SHARED) $(inputs) $(LIBS) -lm -o $@
$L/$(SO): $L/$(SO_FILE)
	@ln -sf $(SO_FILE) $L/$(SO_NAME)
	@ln -sf $(SO_NAME) $@
# where RUN is set, scripts get programs that start those of the build by it: $(WRAP) before a command that has BIN=$R/bin
R    := $(BUILD)$(if $(RUN),/run)
WRAP  = $(if $(RUN),sh make/wrap.sh $(BUILD) '$(RUN)' &&)
# programs and tests share the library: every copy of it costs 13 MB, and with device code 30
LIBULP := $L/$(if $(STATIC),libulp.a,$(SO))

.SECONDEXPANSION:
include $(wildcard experiments/experiments.mk tool/tool.mk course/course.mk)
# the default goals do not read what they do not need: some parts look for further programs
BUILD_ONLY := $(if $(filter-out all libraries programs,$(or $(MAKECMDGOALS),all)),,yes)
include $(if $(BUILD_ONLY),,$(wildcard plots/plots.mk web/web.mk python/python.mk tests/tests.mk tests/*/*.mk tests/proofs/*/*.mk))
$(call stamp,$O/links.txt,$(LINK) $(MPI_LIBS) $(LIBS) $(HAVE_BLAS) $(STATIC) $(HARNESS_OBJ))

.DELETE_ON_ERROR:
.FORCE:

# ---- install ----

INSTALL ?= install
D = $(DESTDIR)$(PREFIX)

install: all
	$(INSTALL) -d $D/bin $D/lib/pkgconfig $D/share/ulplab/plots $D/share/doc/ulplab
	$(INSTALL) -m 755 $(PROGRAMS:%=$B/%) $D/bin
	for h in $$(find formats base kernels sim \( -name '*.h' -o -name '*.def' \) ! -path '*/cpu/*' ! -path '*/cuda/*' ! -path '*/mpfr/*'); do \
	    mkdir -p $D/include/ulplab/$${h%/*} && $(INSTALL) -m 644 $$h $D/include/ulplab/$$h || exit 1; done
	$(INSTALL) -m 644 $L/libulp.a $D/lib
	$(INSTALL) -m 755 $L/$(SO_FILE) $D/lib
	ln -sf $(SO_FILE) $D/lib/$(SO_NAME)
	ln -sf $(SO_NAME) $D/lib/$(SO)
	$(INSTALL) -m 644 experiments/data/* $D/share/ulplab
	$(INSTALL) -m 644 $(PLOT_FILES) $D/share/ulplab/plots
	$(INSTALL) -m 644 CITATION.cff LICENSE README.md CHANGELOG.md $D/share/doc/ulplab
	$(WRAP) sh tool/man.sh $R/bin $D/share/man $(VERSION) $(PROGRAMS)
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include/ulplab' '' \
	    'Name: ulplab' 'Description: low-precision arithmetic: formats, rounding, datapaths, networks' \
	    'Version: $(VERSION)' 'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lulp -Wl,-rpath,$${libdir}' \
	    'Libs.private: $(LIBS) -lm -pthread$(if $(HAVE_OPENMP), -fopenmp)' > $D/lib/pkgconfig/ulplab.pc

# ---- other ----

# every command that compiles a C source, as make would run it
compile-commands:
	@$(MAKE) --no-print-directory -nB V=1 all tests | awk -v folder='$(CURDIR)' '\
	    / -c [^ ]*\.c -o / { file = $$0; sub(/.* -c /, "", file); sub(/ -o .*/, "", file); if (seen[file]++) next; \
	        gsub(/\\/, "\\\\"); gsub(/"/, "\\\""); \
	        printf "%s\n{\"directory\": \"%s\", \"file\": \"%s\", \"command\": \"%s\"}", n++ ? "," : "[", folder, file, $$0 } \
	    END { print n ? "\n]" : "[]" }' > compile_commands.json.tmp && mv compile_commands.json.tmp compile_commands.json

clean:
	rm -rf build
distclean: clean
	rm -rf results figures .gpu compile_commands.json
help:
	@sed -n 's/^#   \(make\)/\1/p' $(filter-out config.mk $(PARTS),$(MAKEFILE_LIST))

# the headers of each object; a header that is gone makes the objects that need it anew
%.h %.def: ;
-include $(wildcard $(patsubst %,$O/%/*.d,made base formats $(sort $(patsubst %/,%,$(dir $(LIB_SRC) $(CPU_SRC) $(CUDA_SRC)))) \
    $(if $(BUILD_ONLY),,emulated/kernels/cuda tests/* tests/*/* tests/*/*/*) \
    experiments/* experiments/*/* tool tool/* course course/* web)))
