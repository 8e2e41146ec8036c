# memcheck.mk - the tests under Valgrind, which sees reads of memory that was never written; the sanitizers do not.
#
#   make memcheck        tests in C and of the tool under Valgrind; ALL=yes: also the long ones (hours); goes on where it was stopped
.PHONY: memcheck
memcheck: tests
	@BIN=$B TESTS=$T WORK=$(BUILD)/memcheck ALL='$(ALL)' JOBS='$(JOBS)' sh tests/proofs/memcheck/memcheck.sh
