# compilers.mk - the library, the tool and some tests by other compilers and another C library.
#
#   make compilers       every gcc and clang installed (READ=) reads the sources; COMPILERS= (the oldest and the newest) and musl build, and print the same bytes;
#                        SETS="baseline avx2" leaves out instruction sets
COMPILERS ?= $(shell sh tests/proofs/compilers/installed.sh --ends)
READ ?= $(shell sh tests/proofs/compilers/installed.sh)
COMPILED_TESTS := t_decimal t_round t_datapath t_sums t_gemm
.PHONY: compilers
compilers: $B/ulp
	@BIN=$B CC='$(CC)' MAKE='$(MAKE)' SETS='$(SETS)' READ='$(READ)' TESTED='$(if $(TESTS),$(COMPILED_TESTS))' sh tests/proofs/compilers/compilers.sh $(COMPILERS) | \
	    awk '{ print; fflush() } / # SKIP/ { s++; next } /^ok / { p++ } /^not ok / { f++ } \
	        END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 || p == 0 }'
