# exhaustive.mk - the complete sweeps of rounding, and their tests; README.md describes them.
#
#   make check-sweep    planted faults over all 2^32 inputs: the sweep by runs finds what the plain sweep finds

SWEEP_OBJ := $(patsubst %.c,$O/%.o,$(wildcard tool/sweep/*.c))

$T/t_sweep: $O/tests/proofs/exhaustive/faults.o $(SWEEP_OBJ)

$T/check_sweep: $O/tests/proofs/exhaustive/check_sweep.o $O/tests/proofs/exhaustive/faults.o $(SWEEP_OBJ) $(LIBULP) $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(RPATH) $(inputs) $(LIBS) -lm -o $@

$T/by_oracle: $O/tests/proofs/exhaustive/by_oracle.o $(SWEEP_OBJ) $(LIBULP) $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(RPATH) $(inputs) $(LIBS) -lm -o $@
tests: $(if $(HAVE_MPFR),$T/by_oracle)
check-all: $(if $(HAVE_MPFR),$T/check_sweep)

.PHONY: check-sweep
check-sweep: $(if $(HAVE_MPFR),$T/check_sweep)
	@$(if $(HAVE_MPFR),,echo 'make check-sweep: MPFR is missing (libmpfr-dev)' >&2; exit 3;) $(if $(JOBS),OMP_NUM_THREADS=$(JOBS)) $T/check_sweep
