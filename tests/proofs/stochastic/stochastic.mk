# stochastic.mk - the counts of stochastic rounding over all words; README.md describes them.
#
#   make check-counts    stochastic rounding of every gap of the 8-bit formats with all 2^r words, r to 16

$T/check_counts: $O/tests/proofs/stochastic/counts.o $(LIBULP) $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(RPATH) $(inputs) $(LIBS) -lm -o $@
tests: $T/check_counts

.PHONY: check-counts
check-counts: $T/check_counts
	@$(if $(JOBS),OMP_NUM_THREADS=$(JOBS)) $T/check_counts
