# oracle.mk - every experiment computed by MPFR, byte for byte.
#
#   make check-oracle    every experiment at a small size under MPFR gives the bytes of the CPU; ONLY="a b" names experiments

# A program in which single numbers are rounded by MPFR; --backend mpfr does the same for arrays
$T/oracle/%: $$(call program_objects,$$*) $(HARNESS_OBJ) $O/tests/proofs/oracle/scalar.o $(LIBULP) $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(call rpath,../../lib) $(inputs) $(MPI_LIBS) $(LIBS) -lm -o $@

.PHONY: check-oracle
check-oracle: programs $(if $(HAVE_MPFR),$(EXPERIMENTS:%=$T/oracle/%))
	@$(if $(HAVE_MPFR),,echo 'make check-oracle: MPFR is missing (libmpfr-dev)' >&2; exit 3;) \
	$(WRAP) BIN=$R/bin ORACLE=$R/test/oracle EXPERIMENTS='$(EXPERIMENTS)' ONLY='$(ONLY)' REPORT='$(or $(REPORT),$(BUILD)/oracle.txt)' sh tests/proofs/oracle/oracle.sh

# tests/programs/oracle.sh runs the quickest of them as a part of `make check`
ORACLE_QUICK := fixed_point loss_scaling magnitudes stagnation units update_ratio
tests: $(if $(and $(filter release,$(MODE)),$(TESTS)),$(ORACLE_QUICK:%=$T/oracle/%))
