#   make mutants         plants faults in copies of the tree, one at a time, and looks which test sees each; SAMPLE=10, ONLY=NAME
# mutants.mk - planted faults: JOBS= at a time, SAMPLE=N drawn by the commit, ONLY="NAME ..." by name, RESULTS=FILE.

.PHONY: mutants
mutants:
	@CC='$(CC)' JOBS='$(JOBS)' SAMPLE='$(SAMPLE)' ONLY='$(ONLY)' RESULTS='$(RESULTS)' FRESH='$(FRESH)' COMMIT='$(COMMIT)' BUILD_ID='$(BUILD_ID)' \
	    sh tests/mutants/mutants.sh
