# sim.mk - networks. A source of sim/FOLDER that defines a row `const ulp_KIND_kind ulp_KIND_NAME` is a kind: the folder is the list.

LIB_SRC += $(wildcard sim/*.c sim/*/*.c)
# $(call kinds,FOLDER,KIND,HEADER): the table of the kinds of a folder, if the folder has sources
kinds = $(if $(wildcard sim/$(1)/*.c),$(eval LIB_OBJ += $O/made/$(1).o)$(eval \
    $(call made_table,$(1),$(wildcard sim/$(1)/*.c),sim/$(1)/$(3).h,ulp_$(2)_kind,ulp_$(2)_,ulp_$(2)_kind_get)))
$(call kinds,layers,layer,layer)
$(call kinds,losses,loss,loss)
$(call kinds,data,data,data)
$(call kinds,optim,optimizer,optim)
