# machines.mk - another machine computes the bytes of this machine; README.md says which machines, and how long it takes.
#
#   make check-machines  builds for aarch64, s390x and windows, runs by emulators, compares all bytes; MACHINES="riscv64", SAMPLE=1

MACHINES ?= aarch64 s390x windows
# experiments that an emulator computes for too long
SLOW     ?= multiword
QUICK    := cartoon_sgd footprint stagnation trees units
.PHONY: check-machines
check-machines: programs $T/bytes$(EXE)
	@HOST=$B WORK=$(BUILD)/machines MACHINES='$(MACHINES)' EXPERIMENTS='$(EXPERIMENTS)' SLOW='$(SLOW)' QUICK='$(QUICK)' \
	    SAMPLE='$(SAMPLE)' sh tests/proofs/machines/machines.sh

# checksums of the library alone, for systems without the tool
$T/bytes$(EXE): $O/tests/proofs/machines/bytes.o $(LIBULP) $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(RPATH) $(inputs) $(LIBS) -lm -o $@
