# coverage.mk - which lines and branches of the sources the tests reach.
#
#   make coverage        the tests on a build that counts, then lines and branches of each file, build/coverage/coverage.txt

# Without CUDA and the emulated device: their objects are C++, and the tests of kernels/cuda run in `make check`
COVERAGE := build/coverage
COVERAGE_FLAGS := -O1 -g1 --coverage -fprofile-update=atomic

.PHONY: coverage
coverage:
	@command -v gcovr > /dev/null || { echo 'make coverage: gcovr is missing (sh packages.sh --all)' >&2; exit 3; }
	@find $(COVERAGE) -name '*.gcda' -delete 2> /dev/null; true
	@$(MAKE) --no-print-directory MODE=debug BUILD=$(COVERAGE) CFLAGS='$(COVERAGE_FLAGS)' NVCC= CHECK_EMULATED= check
	@sh tests/coverage/coverage.sh $(COVERAGE)
