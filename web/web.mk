# web.mk - the page for the classroom: C sources as wasm32, scripts and a look in one HTML file.
#
#   make web             build/web/ulplab.html, the page for the classroom: one file that works offline

# The C sources of the page, compiled to wasm32 by clang and Debian's wasi-libc, and put into one HTML file
WEB_CC  ?= clang
WEB_SRC := $(wildcard web/*.c formats/*.c) experiments/harness/running_sum.c base/error.c base/key_values.c base/near_words.c \
    $(addprefix kernels/products/,datapath.c datapath_names.c datapath_explain.c datapath_rows.c datapath_settings.c dot.c multiword.c \
    split_k.c)
WEB     := $(BUILD)/web
WEB_FLAGS := --target=wasm32-wasi -mexec-model=reactor -std=c11 $(WARN) -Wno-pass-failed -Oz -flto -DNDEBUG -ffp-contract=off -fno-math-errno \
    -fno-trapping-math -ffunction-sections -fdata-sections -I. -I$(WEB)/include -D_POSIX_C_SOURCE=200809L \
    -Wl,--gc-sections,--strip-all,-z,stack-size=262144
# asked for only where the page is a goal
HAVE_WASM = $(shell mkdir -p $(WEB) && printf '\043include <stdio.h>\nint main(void) { return puts("") == 0; }\n' | \
    $(WEB_CC) --target=wasm32-wasi -x c - -o $(WEB)/probe.wasm 2>/dev/null && echo yes)
RANDOM123_FOLDER = $(realpath $(shell echo '$(hash)include <Random123/philox.h>' | $(CC) $(ALL_CPPFLAGS) -M -x c - | tr ' ' '\n' | \
    sed -n 's,/philox\.h$$,,p'))

$(WEB)/ulplab.wasm: $(WEB_SRC) $(wildcard web/*.h formats/*.h base/*.h kernels/*.h kernels/*.def kernels/products/*.h kernels/functions/*.h experiments/harness/running_sum.h) Makefile
	@mkdir -p $(WEB)/include && ln -sfn $(RANDOM123_FOLDER) $(WEB)/include/Random123
	$(call run,wasm,$@)$(WEB_CC) $(WEB_FLAGS) $(WEB_SRC) -o $@
$(WEB)/ulplab.html: $(WEB)/ulplab.wasm $(wildcard web/*.js web/*.css web/*.html web/*.csv web/*.sh)
	$(call run,web,$@)sh web/assemble.sh $< > $@.tmp && mv $@.tmp $@
.PHONY: web
web: $$(if $$(HAVE_WASM),$(WEB)/ulplab.html)
	@$(if $^,true,echo 'web: the page is left out; it needs clang$(,) lld$(,) wasi-libc and libclang-rt-14-dev-wasm32')
