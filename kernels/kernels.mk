# kernels.mk - the arrays: sources that are compiled once for each instruction set, MPFR where it is there, CUDA by nvcc.

ISAS_HERE := baseline $(if $(X86),avx2 avx512) $(if $(AARCH64),neon $(if $(HAVE_SVE),sve256))
ISAS      ?= $(ISAS_HERE)
$(if $(filter-out $(ISAS_HERE),$(ISAS)),$(error ISAS=$(ISAS): allowed are $(ISAS_HERE)))
$(if $(filter baseline,$(ISAS)),,$(error ISAS=$(ISAS): has to hold baseline))
$(eval $(call flags_of,kernels/backend,$(ISAS:%=-DULP_WITH_%)))
ISA_FLAGS_baseline :=
ISA_FLAGS_avx2     := -mavx2 -mfma
ISA_FLAGS_neon     := -DULP_ARM=128
ISA_FLAGS_sve256   := -DULP_ARM=256 -march=armv8.2-a+sve -msve-vector-bits=256
# gcc 12 fails inside the compiler where it makes vectors of SVE from the loops of map.c; it makes vectors of NEON
ISA_FLAGS_sve256_map := $(if $(findstring clang,$(CC)),,--param=aarch64-autovec-preference=1)
# gcc for s390x takes minutes over this source with -O3
ISA_FLAGS_baseline_scaled_groups := $(if $(filter s390x%,$(TARGET)),-O2)
ISA_FLAGS_avx512   := -mavx2 -mfma -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512

LIB_SRC  += $(wildcard kernels/*.c $(patsubst %,kernels/%/*.c,products probe reduction foreign cpu/native)) \
    $(if $(HAVE_MPFR),$(filter-out %/absent.c,$(wildcard kernels/mpfr/*.c)),$(wildcard kernels/mpfr/absent.c))
CPU_SRC  := $(wildcard kernels/cpu/*.c $(patsubst %,kernels/cpu/%/*.c,rounding codes products layers))
CUDA_SRC := $(wildcard kernels/cuda/*.cu)
LIB_OBJ  += $(foreach isa,$(ISAS),$(CPU_SRC:%.c=$O/%.$(isa).o)) \
    $(if $(WITH_CUDA),$(CUDA_SRC:%.cu=$O/%.o),$(patsubst %.c,$O/%.o,$(wildcard kernels/cuda/absent.c)))

# Functions begin at cache lines: without that, the speed of a long loop depends on what the library holds before it.
CPU_FLAGS ?= -falign-functions=64
$(call stamp,$O/cpu_flags.txt,$(CPU_FLAGS))
define isa_rule
$O/kernels/cpu/%.$(1).o: kernels/cpu/%.c $O/flags.txt $O/cpu_flags.txt
	@mkdir -p $$(@D)
	$$(call run,cc,$$< ($(1)))$$(COMPILE) $$(ISA_FLAGS_$(1)) $$(ISA_FLAGS_$(1)_$$(*F)) $$(CPU_FLAGS) -DULP_ISA=$(1) -c $$< -o $$@
endef
$(foreach isa,$(ISAS),$(eval $(call isa_rule,$(isa))))

# CUDA code is part of the release build; the other modes run its kernels on the CPU, in tests. It is built for the GPUs of
# this machine, or for sm_90a where there is none: a target costs a minute and a half of a processor.
ifdef HAVE_NVCC
CUDA_HOME  ?= $(NVCC_HOME)
CUDA_ARCHS ?= $(or $(strip $(CUDA_FOUND)),90a)
CUDA_BAD   := $(filter-out $(foreach g,3 5 6 7 8 9 10 11 12,$(foreach n,0 1 2 3 5 6 7 8 9,$g$n $g$na $g$nf)),$(CUDA_ARCHS))
$(if $(CUDA_BAD),$(error CUDA_ARCHS: $(CUDA_BAD): these are no compute capabilities; they are written as in CUDA_ARCHS="80 90a 100a"))
CUDA_OLD   := $(filter 3% 5% 6% 7%,$(CUDA_ARCHS))
$(if $(CUDA_OLD),$(error CUDA_ARCHS: $(CUDA_OLD): the least compute capability is 80, as in CUDA_ARCHS="80 90a"))
ifeq ($(MODE),release)
WITH_CUDA := yes
endif
endif

ifdef WITH_CUDA
LIBS += -L$(CUDA_HOME)/lib64 -lcudart_static -lstdc++ -ldl -lrt
# code for every architecture named, and a form of the first that later devices can compile; they cannot that of 90a
NVCC_FLAGS := -std=c++17 --extended-lambda -O3 --fmad=false -ftz=false -prec-div=true -prec-sqrt=true \
    $(foreach a,$(CUDA_ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) \
    $(foreach a,$(filter-out %a,$(firstword $(CUDA_ARCHS))),-gencode arch=compute_$(a),code=compute_$(a)) \
    $(if $(WERROR),-Werror all-warnings) -I. $(if $(RANDOM123),-I$(RANDOM123)) \
    -Xcompiler -fPIC,-pthread,-ffp-contract=off,-Wall,-Wextra
# nvcc names files in objects after its process, unless it keeps them, and hashes the folder of the source into names
NVCC_MAP = -Xcompiler $(MAP) --keep --keep-dir $(@:.o=.keep) $(foreach x,cudafe cicc,-X$x --orig_src_path_name -X$x /ulplab/$<)
$(call stamp,$O/cuda_flags.txt,$(NVCC) $(NVCC_FLAGS))
$O/%.o: %.cu $O/cuda_flags.txt
	@mkdir -p $(@:.o=.keep)
	$(call run,nvcc,$<)$(NVCC) $(NVCC_FLAGS) $(NVCC_MAP) -MMD -MF $(@:.o=.d) -c $< -o $@
	@rm -rf $(@:.o=.keep)
endif
