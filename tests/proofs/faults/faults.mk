# faults.mk - commands whose calls fail one after the other: the library, the program that replays, and their test.
#
#   make check-faults    memory, disks, threads, clocks fail at every call, processes are killed; JOBS=; goes on where it was stopped

FAULTS := $T/faults
FOR_tests/proofs/faults = -O1
# the interposed functions of memory are what the compiler knows by name
FOR_tests/proofs/faults/interpose = -fno-builtin

$(FAULTS)/interpose.so: $O/tests/proofs/faults/interpose.o $O/tests/proofs/faults/filter.o $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(CC) $(filter-out -fopenmp,$(ALL_CFLAGS)) $(LDFLAGS) -shared $(filter %.o,$^) -ldl -o $@
$(FAULTS)/replay: $(patsubst %,$O/tests/proofs/faults/%.o,replay cases child judge power tree) $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(CC) $(filter-out -fopenmp,$(ALL_CFLAGS)) $(LDFLAGS) $(filter %.o,$^) -o $@

FAULTS_TEST := $(if $(filter release,$(MODE)),$(FAULTS)/interpose.so $(FAULTS)/replay)
tests: $(FAULTS_TEST)

.PHONY: check-faults
check-faults: programs $(FAULTS_TEST)
	@$(if $(FAULTS_TEST),,echo 'make check-faults: faults are replayed with MODE=release' >&2; exit 3;) \
	BIN=$B TESTS=$T JOBS='$(JOBS)' sh tests/proofs/faults/run.sh
