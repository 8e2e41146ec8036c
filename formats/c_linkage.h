/* c_linkage.h - ULP_C_BEGIN and ULP_C_END: the declarations between them keep the names of C in C++. */
#ifndef ULP_C_LINKAGE_H
#define ULP_C_LINKAGE_H

#ifdef __cplusplus
#define ULP_C_BEGIN extern "C" {
#define ULP_C_END }
#else
#define ULP_C_BEGIN
#define ULP_C_END
#endif

#endif
