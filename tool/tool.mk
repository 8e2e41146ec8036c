# tool.mk - the program `ulp`: a source for each command, and the course.
#
#   make static          build/static/bin/ulp: the tool as one file that needs no library, by musl-gcc or CC=
#   make vectors         build/vectors: conversions and sums with their results, .npz and .csv, for tests of other programs

TOOL_SRC := $(wildcard tool/*.c tool/*/*.c course/*.c course/*/*.c)
PROGRAMS := $(if $(TOOL_SRC),ulp) $(PROGRAMS)
objects_of_ulp := $(TOOL_SRC:%.c=$O/%.o) $O/made/labs.o
libraries_of_ulp := $(DL_LIBS)
$(eval $(call flags_of,tool,$(if $(HAVE_MPFR),-DULP_WITH_MPFR) $(if $(HAVE_MPI),-DULP_WITH_MPI)))
$(eval $(call flags_of,tool/vectors,$(if $(HAVE_MPFR),-DULP_WITH_MPFR)))

.SECONDARY: $(objects_of_ulp)

# The tool by itself: musl-gcc, or CC= of the command line, links it with all it needs. It has no MPFR, MPI and CUDA, one thread
# for arrays, and zlib where the compiler finds it. Random123 has headers alone; a link keeps other headers of its folder out.
STATIC_CC := $(if $(filter command,$(firstword $(origin CC))),$(CC),musl-gcc)
.PHONY: static
static:
	@mkdir -p build/static/include && ln -sfn '$(RANDOM123_FOLDER)' build/static/include/Random123
	@$(MAKE) --no-print-directory CC='$(STATIC_CC)' BUILD=build/static STATIC=1 LDFLAGS=-static RANDOM123=build/static/include \
	    NVCC= MPICC= HAVE_OPENMP= HAVE_MPFR= build/static/bin/ulp
	@strip build/static/bin/ulp && wc -c build/static/bin/ulp

.PHONY: vectors
vectors: programs
	@$(WRAP) BIN=$R/bin OUT=$(BUILD)/vectors COMMIT='$(COMMIT)' CHECK=$(if $(HAVE_MPFR),--check) sh tool/vectors/make.sh
