# coverage.mk - which lines and branches of the sources the tests reach.
#
#   make coverage        the tests on a build that counts, then lines and branches of each source, build/coverage/coverage.txt
# MODE=debug leaves out the tests of sources and of builds. The kernels of kernels/cuda count on the
# emulated device.
COVERAGE := build/coverage
COVERAGE_FLAGS := -O1 -g1 --coverage -fprofile-update=atomic

.PHONY: coverage
coverage:
	@command -v gcov > /dev/null || { echo 'make coverage: gcov is missing, which comes with gcc' >&2; exit 3; }
	@find $(COVERAGE) -name '*.gcda' -delete 2> /dev/null; true
	@$(MAKE) --no-print-directory MODE=debug BUILD=$(COVERAGE) CFLAGS='$(COVERAGE_FLAGS)' NVCC= check
	@$(PYTHON) tests/proofs/coverage/coverage.py $(COVERAGE) $(SOURCES)
