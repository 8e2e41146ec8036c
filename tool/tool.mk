# tool.mk - the program `ulp`: a source for each command, and the course.
#
#   make vectors         build/vectors: conversions and sums with their results, .npz and .csv, for tests of other programs

TOOL_SRC := $(wildcard tool/*.c tool/*/*.c course/*.c course/*/*.c)
PROGRAMS := $(if $(TOOL_SRC),ulp) $(PROGRAMS)
objects_of_ulp := $(TOOL_SRC:%.c=$O/%.o) $O/made/labs.o
libraries_of_ulp := $(DL_LIBS)
$(eval $(call flags_of,tool,$(if $(HAVE_MPFR),-DULP_WITH_MPFR) $(if $(HAVE_MPI),-DULP_WITH_MPI)))
$(eval $(call flags_of,tool/vectors,$(if $(HAVE_MPFR),-DULP_WITH_MPFR)))

.SECONDARY: $(objects_of_ulp)

.PHONY: vectors
vectors: programs
	@$(WRAP) BIN=$R/bin OUT=$(BUILD)/vectors COMMIT='$(COMMIT)' CHECK=$(if $(HAVE_MPFR),--check) sh tool/vectors/make.sh
