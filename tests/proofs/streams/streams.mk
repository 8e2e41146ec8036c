# streams.mk - the test of random streams: sources of sim/ that draw words on the host are compiled with tests/proofs/streams/hook.h.

DRAWING := $(shell grep -lE '\bulp_random_(word|uniform)\b' $(wildcard sim/*.c sim/*/*.c))
DRAWING_OBJ := $(DRAWING:%.c=$O/drawing/%.o)

$O/drawing/%.o: %.c tests/proofs/streams/hook.h $O/flags.txt
	@mkdir -p $(@D)
	$(call run,cc,$< (recorded))$(CC) $(ALL_CPPFLAGS) -include tests/proofs/streams/hook.h $(ALL_CFLAGS) -MMD -c $< -o $@
-include $(DRAWING_OBJ:.o=.d)

# these objects stand in the archive's place of the same sources
$T/t_streams: $O/tests/unit/t_streams.o $O/tests/proofs/streams/record.o $(DRAWING_OBJ) $L/libulp.a $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(inputs) -lcmocka $(LIBS) -lm -o $@

# the vectorised generator against Random123's known answers: known.c for each instruction set
define known_rule
$O/tests/proofs/streams/known.$(1).o: tests/proofs/streams/known.c $O/flags.txt
	@mkdir -p $$(@D)
	$$(call run,cc,$$< ($(1)))$$(CC) $$(ALL_CPPFLAGS) $$(ALL_CFLAGS) $$(ISA_FLAGS_$(1)) -DULP_ISA=$(1) -MMD -c $$< -o $$@
endef
$(foreach isa,$(ISAS),$(eval $(call known_rule,$(isa))))
$(eval $(call flags_of,tests/unit/t_known,$(ISAS:%=-DULP_WITH_%)))
$T/t_known: $O/tests/unit/t_known.o $(ISAS:%=$O/tests/proofs/streams/known.%.o) $L/libulp.a $O/links.txt
	@mkdir -p $(@D)
	$(call run,ld,$@)$(LINK) $(inputs) -lcmocka $(LIBS) -lm -o $@
