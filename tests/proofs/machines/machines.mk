# machines.mk - another machine computes the bytes of this machine; README.md says which machines, and how long it takes.
#
#   make check-machines  builds for aarch64 and s390x, runs by qemu-user, compares all bytes; MACHINES="riscv64", SAMPLE=1: a minute

MACHINES ?= aarch64 s390x
# experiments that an emulator computes for too long
SLOW     ?= multiword
QUICK    := cartoon_sgd footprint stagnation trees units
.PHONY: check-machines
check-machines: programs
	@HOST=$B WORK=$(BUILD)/machines MACHINES='$(MACHINES)' EXPERIMENTS='$(EXPERIMENTS)' SLOW='$(SLOW)' QUICK='$(QUICK)' \
	    SAMPLE='$(SAMPLE)' sh tests/proofs/machines/machines.sh
