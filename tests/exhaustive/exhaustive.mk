# exhaustive.mk - the complete sweeps of rounding, and their tests; README.md describes them.
#
#   make check-faults    planted faults over all 2^32 inputs: the sweep by runs finds what the plain sweep finds

SWEEP_OBJ := $(patsubst %.c,$O/%.o,$(wildcard experiments/ulp/sweep/*.c))

$T/t_sweep: $O/tests/exhaustive/faults.o $(SWEEP_OBJ)

$T/check_faults: $O/tests/exhaustive/check_faults.o $O/tests/exhaustive/faults.o $(SWEEP_OBJ) $(REFERENCE_OBJ) $(LIBULP) $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(RPATH) $(inputs) $(MPFR_LIBS) $(LIBS) -lm -o $@

check-all: $(if $(HAVE_MPFR),$T/check_faults)

.PHONY: check-faults
check-faults: $(if $(HAVE_MPFR),$T/check_faults)
	@$(if $(HAVE_MPFR),,echo 'make check-faults: MPFR is missing (libmpfr-dev)' >&2; exit 3;) $(if $(JOBS),OMP_NUM_THREADS=$(JOBS)) $T/check_faults
