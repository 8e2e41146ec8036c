/* build.c - the version, identity, commit, compiler and flags of the build. */
#include "message.h"

/* The Makefile defines these macros for this file alone, so that a new commit recompiles one file. */
#ifndef ULP_VERSION
#define ULP_VERSION "unknown"
#endif
#ifndef ULP_BUILD_ID
#define ULP_BUILD_ID "00000000"
#endif
#ifndef ULP_COMMIT
#define ULP_COMMIT "unknown"
#endif
#ifndef ULP_BUILD_FLAGS
#define ULP_BUILD_FLAGS "unknown"
#endif

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

const char *ulp_build_version(void) { return ULP_VERSION; }
const char *ulp_build_id(void) { return ULP_BUILD_ID; }
const char *ulp_build_commit(void) { return ULP_COMMIT; }
const char *ulp_build_compiler(void) { return COMPILER; }
const char *ulp_build_flags(void) { return ULP_BUILD_FLAGS; }
