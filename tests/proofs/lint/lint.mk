# lint.mk - the sources read by analysers: gcc -fanalyzer, clang-tidy, cppcheck; README.md describes the choice.
#
#   make lint            gcc -fanalyzer, clang-tidy and cppcheck find nothing; goes on where it was stopped
CLANG_TIDY ?= clang-tidy
CPPCHECK   ?= cppcheck
LINT := $(BUILD)/lint
# clang has no analyser for -fanalyzer, and other compilers than gcc 12 and later none for C
LINT_CC ?= gcc
# made where they are asked for; goal.c and replay.c of tests/proofs/prove are no sources alone: a goal names what they include
LINT_SRC = $(eval LINT_SRC := $(sort $(shell find formats base kernels sim experiments tool course web tests -name '*.c' ! -path tests/proofs/prove/goal.c ! -path tests/proofs/prove/replay.c)))$(LINT_SRC)
# -fanalyzer has more paths than it can follow in matrix products, which allocate and open nothing, takes shifts of vectors
# for shifts of their lengths, and does not know that the assertions of cmocka end a test
LINT_ENDLESS := kernels/cpu/products/% tests/%
LINT_VECTORS = $(if $(filter kernels/cpu/%,$(1)),-Wno-analyzer-shift-count-overflow)
LINT_FLAGS := $(filter -D% -I% -f%,$(ALL_CPPFLAGS) $(filter-out -fsanitize% -fno-sanitize%,$(ALL_CFLAGS))) -std=c11 -I.
# the flags of a source: as it is compiled, with one instruction set each
lint_isa = $(if $(X86),$(if $(filter kernels/cpu/%,$(1)),$(ISA_FLAGS_$(2)) -DULP_ISA=$(2)))
lint_flags = $(LINT_FLAGS) $(FOR_$(1)) $(FOR_$(patsubst %/,%,$(dir $(1)))) $(call lint_isa,$(1),$(2))

# a file of findings for each source and tool; an empty file is a clean source. An analyser that fails has not read it.
LINT_FAILED = echo '$<:1: error: the analyser has failed [failed]' >> $@.tmp
$(LINT)/%.analyzer: %.c
	@mkdir -p $(@D)
	$(call run,analyzer,$<)$(LINT_CC) $(call lint_flags,$*,avx512) -O1 -fanalyzer $(call LINT_VECTORS,$*) \
	    -MMD -MP -MF $@.d -MT $@ -c $< -o /dev/null 2> $@.tmp || $(LINT_FAILED); mv $@.tmp $@
$(LINT)/%.tidy: %.c .clang-tidy $$(if $$(findstring /tests/,$$@),tests/.clang-tidy)
	@mkdir -p $(@D)
	$(call run,tidy,$<){ $(CC) $(call lint_flags,$*,avx2) -MM -MP -MF $@.d -MT $@ $< && \
	    $(CLANG_TIDY) --quiet $< -- $(call lint_flags,$*,avx2); } > $@.tmp 2> $@.err || { cat $@.err >> $@.tmp; $(LINT_FAILED); }; rm -f $@.err; mv $@.tmp $@
# cppcheck reads all sources in one run, and keeps what it found of each
$(LINT)/sources.cppcheck: $$(LINT_SRC) $$(shell find formats base kernels sim experiments tool course web tests -name '*.h' -o -name '*.def') tests/proofs/lint/cppcheck.txt
	@mkdir -p $(LINT)/cppcheck
	$(call run,cppcheck,all sources)$(CPPCHECK) -j "$$(getconf _NPROCESSORS_ONLN)" --cppcheck-build-dir=$(LINT)/cppcheck --quiet \
	    --enable=warning,performance,portability --inline-suppr --suppressions-list=tests/proofs/lint/cppcheck.txt --std=c11 -I. \
	    -DULP_WITH_MPFR -DULP_WITH_ZLIB $(filter-out kernels/cuda/%,$(LINT_SRC)) > $@.tmp 2>&1 || $(LINT_FAILED); mv $@.tmp $@

LINT_FOUND = $(if $(call have,$(LINT_CC)),$(patsubst %.c,$(LINT)/%.analyzer,$(filter-out $(LINT_ENDLESS),$(LINT_SRC)))) \
    $(if $(call have,$(CLANG_TIDY)),$(LINT_SRC:%.c=$(LINT)/%.tidy)) $(if $(call have,$(CPPCHECK)),$(LINT)/sources.cppcheck)
.PHONY: lint
lint:
	@$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$$(getconf _NPROCESSORS_ONLN)) lint-files
	@printf '%s\n' $(LINT_FOUND) > $(LINT)/list
	@sh tests/proofs/lint/lint.sh $(LINT)/list $(foreach t,$(LINT_CC) $(CLANG_TIDY) $(CPPCHECK),$(if $(call have,$t),,$t))
.PHONY: lint-files
lint-files: $$(LINT_FOUND)
-include $(if $(filter lint-files,$(MAKECMDGOALS)),$(shell find $(LINT) -name '*.d' 2>/dev/null))
