# targets.mk - what differs between Linux (ELF), macOS and Windows: names and flags of libraries and programs, by $(CC) -dumpmachine.

# the shared library as programs ask for it, as links take it, and the file itself
SO_NAME := libulp.so.$(ABI)
SO      := libulp.so
SO_FILE := libulp.so.$(VERSION)
# calls inside the library go straight to their function
SHARED  = -shared -Wl,-Bsymbolic-functions -Wl,-soname,$(SO_NAME)
# a program finds the shared library next to its own folder, in build/ as in an installation; $(call rpath,FOLDER)
rpath = -Wl,-rpath,'$$ORIGIN/$(1)'
STRIP_UNNEEDED = $(or $(TARGET_STRIP),strip) --strip-unneeded
DL_LIBS := -ldl
EXE :=

ifneq ($(findstring darwin,$(TARGET))$(findstring macos,$(TARGET)),)
SO_NAME := libulp.$(ABI).dylib
SO      := libulp.dylib
SO_FILE := libulp.$(VERSION).dylib
SHARED  = -dynamiclib -Wl,-install_name,@rpath/$(SO_NAME)
rpath = -Wl,-rpath,@loader_path/$(1)
STRIP_UNNEEDED = $(or $(TARGET_STRIP),strip) -x
DL_LIBS :=
endif
ifneq ($(findstring mingw,$(TARGET))$(findstring windows,$(TARGET)),)
# Windows has no folder of libraries next to programs: they are linked with libulp.a, and the libraries of the compiler into them
SO_FILE :=
STATIC  := 1
LDFLAGS += -static
EXE := .exe
rpath :=
DL_LIBS :=
endif
