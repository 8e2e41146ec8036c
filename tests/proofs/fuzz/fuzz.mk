# fuzz.mk - hostile input: the targets of tests/proofs/fuzz as two programs, libFuzzer's and one that goes through the corpus.
#
#   make fuzz            hostile input for each target of tests/proofs/fuzz, FUZZ_SECONDS= for each (1200), FUZZ="formats nets" narrows it, FUZZ_SEED=
#   make fuzz-corpus     makes tests/proofs/fuzz/corpus again from it and from what `make fuzz` has found, at most 25 inputs a target
FUZZ_SECONDS ?= 1200
FUZZ_TARGETS := $(sort $(basename $(notdir $(wildcard tests/proofs/fuzz/*.c))))
FUZZ_CC ?= clang

# tests/proofs/fuzz/NAME.c exports fuzz_target_NAME
$(eval $(call made_table,fuzz,$(wildcard tests/proofs/fuzz/*.c),tests/proofs/fuzz/support/fuzz.h,fuzz_target,fuzz_target_,fuzz_target_get))

# the tool as a function, with the objects of its commands; the functions of the page, compiled for this machine
$O/made/ulp.o: tool/ulp.c $O/flags.txt
	@mkdir -p $(@D)
	$(call run,cc,$<)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -Dmain=fuzz_ulp_main -MMD -c $< -o $@
FUZZ_OBJ = $(patsubst %.c,$O/%.o,$(wildcard tests/proofs/fuzz/*.c) $(wildcard web/*.c) \
    $(filter-out tests/proofs/fuzz/support/$(if $(FUZZER),main,libfuzzer).c,$(wildcard tests/proofs/fuzz/support/*.c))) $O/made/fuzz.o $O/made/ulp.o \
    $(filter-out $O/tool/ulp.o,$(call program_objects,ulp)) $(HARNESS_OBJ)
$T/fuzz: $(FUZZ_OBJ) $(LIBULP) $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(if $(FUZZER),-fsanitize=fuzzer) $(RPATH) $(inputs) $(MPI_LIBS) -ldl $(LIBS) -lm -o $@

# one thread and one instruction set: what is fuzzed is the reading, not the arithmetic
FUZZ_BUILD := $(BUILD)/fuzz/tree
FUZZ_FLAGS := -O1 -g1 -Wno-pass-failed -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_MAKE = $(MAKE) --no-print-directory MODE=release CC='$(FUZZ_CC)' CXX= NVCC= HAVE_MPI= HAVE_OPENMP= HAVE_BLAS= ISAS=baseline STATIC=1 \
    BUILD=$(FUZZ_BUILD) CFLAGS='$(FUZZ_FLAGS)' FUZZER=yes
.PHONY: fuzz fuzz-corpus fuzz-program
fuzz-program:
	@echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n); int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return d == 0 && n; }' | \
	    $(FUZZ_CC) -fsanitize=fuzzer,address -x c - -o /dev/null 2>/dev/null || \
	    { echo 'make fuzz: needs clang with libFuzzer (clang and libclang-rt-dev, sh packages.sh --all), or FUZZ_CC=' >&2; exit 3; }
	+@$(FUZZ_MAKE) $(if $(filter -j%,$(MAKEFLAGS)),,-j$$(getconf _NPROCESSORS_ONLN)) $(FUZZ_BUILD)/test/fuzz
fuzz: fuzz-program $T/fuzz
	@SEEDS=$T/fuzz PROGRAM=$(FUZZ_BUILD)/test/fuzz WORK=$(BUILD)/fuzz SECONDS_EACH=$(FUZZ_SECONDS) SEED=$(FUZZ_SEED) sh tests/proofs/fuzz/run.sh $(or $(FUZZ),$(FUZZ_TARGETS))
fuzz-corpus: fuzz-program $T/fuzz
	@SEEDS=$T/fuzz PROGRAM=$(FUZZ_BUILD)/test/fuzz WORK=$(BUILD)/fuzz sh tests/proofs/fuzz/merge.sh $(or $(FUZZ),$(FUZZ_TARGETS))
tests: $(if $(TESTS),$T/fuzz)
