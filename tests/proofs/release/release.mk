# release.mk - the files of a release, which anyone can make again byte for byte; README.md explains versions.
#
#   make dist            build/dist: the sources of the last commit as one archive, their parts (SPDX), SHA256SUMS
#   make distcheck       unpacks what `make dist` wrote, then builds, tests, installs and cleans there: nothing is missing, nothing is left
#   make reproducible    two builds in two folders, a day apart, by other users' settings: all files have the same bytes
DIST := $(BUILD)/dist

.PHONY: dist distcheck reproducible
dist:
	@VERSION=$(VERSION) DIST=$(DIST) sh tests/proofs/release/dist.sh
distcheck: dist
	@VERSION=$(VERSION) DIST=$(DIST) WORK=$(BUILD)/distcheck sh tests/proofs/release/distcheck.sh
reproducible:
	@WORK=$(BUILD)/reproducible NVCC='$(if $(HAVE_NVCC),$(NVCC))' WEB='$(HAVE_WASM)' PYTHON='$(PYTHON)' sh tests/proofs/release/reproducible.sh
