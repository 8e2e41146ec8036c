# mutants.mk - planted faults: JOBS= at a time, SAMPLE=N drawn by the commit, ONLY="NAME ..." by name, RESULTS=FILE, FRESH=1.
#
#   make mutants         plants faults in copies of the tree, one at a time, and prints which test sees each; SAMPLE=10, ONLY=NAME

.PHONY: mutants
mutants:
	@$(if $(TESTS),,echo 'the tests need cmocka (libcmocka-dev) and MPFR (libmpfr-dev)' >&2; exit 3;) \
	CC='$(CC)' JOBS='$(JOBS)' SAMPLE='$(SAMPLE)' ONLY='$(ONLY)' RESULTS='$(RESULTS)' FRESH='$(FRESH)' BUILD_ID='$(BUILD_ID)' \
	    sh tests/proofs/mutants/mutants.sh
