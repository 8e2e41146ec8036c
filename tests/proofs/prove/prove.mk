# prove.mk - the targets of tests/proofs/prove: proofs of the roundings, and the complete tables of small formats.
#
#   make prove           proves the roundings for all binary64 inputs; ONLY=, JOBS=, LIMIT=, REPORT=; tests/proofs/prove/README.md
#   make check-tables    every result of the operations of formats of up to 8 bits, fma included; part of make check-all
.PHONY: prove check-tables

$T/describe: $O/tests/proofs/prove/describe.o $(LIBULP) $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(RPATH) $(inputs) $(LIBS) -lm -o $@

tests: $T/describe

prove: $T/describe
	@DESCRIBE=$T/describe LIBRARY=$(LIBULP) PROVE_BUILD=$(BUILD)/prove CC='$(CC)' PYTHON='$(PYTHON)' JOBS='$(JOBS)' LIMIT='$(LIMIT)' \
	    ONLY='$(ONLY)' REPORT='$(or $(REPORT),$(BUILD)/prove/results.txt)' sh tests/proofs/prove/prove.sh

check-tables: $T/t_arith_tables
	@$(RUN) $T/t_arith_tables --all

check-all: $(if $(SELECTED),,check-tables)
