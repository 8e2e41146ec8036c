# experiments.mk - programs: experiments/NAME/NAME.c, what lies in its folder and main.c become build/bin/NAME; the harness is in all.
#
#   make bench           speed compared with memcpy, the peak and OpenBLAS; PEERS=1, CPFLOAT=folder: other libraries; BENCH=options
#   make bench-record    the same, and keeps the rows in RECORD=file
#   make bench-compare   OLD=a.json NEW=b.json: which rows changed beyond noise

HARNESS_OBJ := $(patsubst %.c,$O/%.o,$(wildcard experiments/harness/*.c experiments/harness/*/*.c))
PROGRAMS := $(foreach d,$(wildcard experiments/*),$(if $(wildcard $d/$(notdir $d).c),$(notdir $d)))
EXPERIMENTS := $(filter-out bench,$(PROGRAMS))
# objects_of_NAME, if it is set, are the objects of a program that is no experiment
program_objects = $(or $(objects_of_$(1)),$O/experiments/main.o $(patsubst %.c,$O/%.o,$(wildcard experiments/$(1)/*.c experiments/$(1)/*/*.c)))
libraries_of_bench = $(if $(HAVE_BLAS),-lopenblas)

# kept although only pattern rules name them
.SECONDARY: $(patsubst %.c,$O/%.o,$(wildcard experiments/*.c experiments/*/*.c experiments/*/*/*.c))
programs: $$(patsubst %,$B/%,$$(PROGRAMS))
$B/%: $$(call program_objects,$$*) $(HARNESS_OBJ) $(LIBULP) $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(RPATH) $(inputs) $(MPI_LIBS) $(libraries_of_$*) $(LIBS) -lm -o $@

# the names of the experiments, for scripts
list-experiments:
	@echo $(EXPERIMENTS)

# The record of a run names the version, the build, the commit and the flags of its build. The commit is another after every
# change of a source and after every commit.
FOR_experiments/harness/cli/build = -DULP_VERSION="\"$(VERSION)\"" -DULP_BUILD_ID="\"$(BUILD_ID)\"" -DULP_COMMIT="\"$(COMMIT)\"" \
    -DULP_BUILD_FLAGS="\"$(CC) $(strip $(ALL_CFLAGS))\""
$O/experiments/harness/cli/build.o: $(wildcard .git/logs/HEAD .commit) $(filter-out $(PARTS),$(MAKEFILE_LIST)) $O/objects.txt \
    $(wildcard $(foreach d,$(BUILD_SRC),$(foreach e,c h cu def,$d/*.$e $d/*/*.$e $d/*/*/*.$e)))
$(eval $(call flags_of,experiments/harness/sweep/ranks,$(if $(HAVE_MPI),-DULP_WITH_MPI $(MPI_COMPILE))))
$(eval $(call flags_of,experiments/bench,$(if $(HAVE_BLAS),-DULP_WITH_BLAS)))
$(eval $(call flags_of,experiments/bench/roofs,$(ISAS:%=-DULP_WITH_%)))
$(eval $(call flags_of,experiments/bench/report,-DULP_COMMIT_DATE="\"$(COMMIT_DATE)\""))

.PHONY: bench bench-record bench-compare
BENCH_PEERS := $(filter-out 0 no,$(PEERS))
# the workers of other libraries come first, so that a run without them loses nothing
BENCH_WORKERS = workers=; $(if $(BENCH_PEERS)$(CPFLOAT),workers=$$(PEERS='$(BENCH_PEERS)' CPFLOAT='$(CPFLOAT)' CC='$(CC)' \
    sh experiments/bench/peers/peers.sh $(BUILD)/peers) || exit;)
BENCH_OPTIONS = $(BENCH) $${workers:+--peers "$$workers"}
bench: programs
	@mkdir -p results figures
	@$(BENCH_WORKERS) echo '$(RUN) $B/bench $(BENCH)'; $(RUN) $B/bench $(BENCH_OPTIONS)
	$(if $(HAVE_GNUPLOT),LC_ALL=C.UTF-8 gnuplot plots/bench.gp && LC_ALL=C.UTF-8 gnuplot plots/roofline.gp)
bench-record: RECORD ?= results/bench.txt
bench-record: programs
	@$(BENCH_WORKERS) $(WRAP) BENCH=$R/bin/bench sh experiments/bench/record.sh '$(RECORD)' results/bench.csv $(BENCH_OPTIONS)
# OLD and NEW are files such as results/bench.json
bench-compare:
	@sh experiments/bench/compare.sh '$(OLD)' '$(NEW)'
