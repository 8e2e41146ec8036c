/* features.c - which instructions the processor has and the kernel permits. */
#define _GNU_SOURCE /* syscall */
#include "native.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EAX, EBX, ECX, EDX };

/* A bit of CPUID. */
static int has(unsigned leaf, unsigned subleaf, int word, int bit) {
    unsigned r[4] = {0, 0, 0, 0};
    if (subleaf > 0) { /* EAX of subleaf 0 is the number of the last subleaf */
        if (!__get_cpuid_count(leaf, 0, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) || r[EAX] < subleaf) return 0;
    }
    if (!__get_cpuid_count(leaf, subleaf, &r[EAX], &r[EBX], &r[ECX], &r[EDX])) return 0;
    return (int)(r[word] >> bit & 1u);
}

/* The kernel saves the registers of 512 bits. */
static int has_avx512(void) { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"); }

const char *ulp_lacks_avx512_bf16(void) {
    return has_avx512() && has(7, 1, EAX, 5) ? "" : "this processor has no AVX512_BF16 (CPUID leaf 7.1, EAX bit 5)";
}

const char *ulp_lacks_avx2(void) {
    return __builtin_cpu_supports("avx2") ? "" : "this processor has no AVX2 (CPUID leaf 7, EBX bit 5)";
}

const char *ulp_lacks_vnni(void) {
    return has_avx512() && has(7, 0, ECX, 11) ? "" : "this processor has no AVX512_VNNI (CPUID leaf 7, ECX bit 11)";
}

/* AMX registers: 8 KiB of state, for which a process has to ask. */
static const char *lacks_tiles(void) {
    enum { REQUEST = 0x1023, GET = 0x1022, TILE_DATA = 18 };
    unsigned long permitted = 0;
    if (!has(7, 0, EDX, 24)) return "this processor has no AMX (CPUID leaf 7, EDX bit 24)";
    if (syscall(SYS_arch_prctl, REQUEST, TILE_DATA) != 0 || syscall(SYS_arch_prctl, GET, &permitted) != 0 ||
        (permitted >> TILE_DATA & 1ul) == 0)
        return "the kernel does not permit AMX (arch_prctl ARCH_REQ_XCOMP_PERM)";
    return "";
}

const char *ulp_lacks_amx_bf16(void) {
    const char *tiles = lacks_tiles();
    return tiles[0] != '\0' || has(7, 0, EDX, 22) ? tiles : "this processor has no AMX-BF16 (CPUID leaf 7, EDX bit 22)";
}

const char *ulp_lacks_amx_int8(void) {
    const char *tiles = lacks_tiles();
    return tiles[0] != '\0' || has(7, 0, EDX, 25) ? tiles : "this processor has no AMX-INT8 (CPUID leaf 7, EDX bit 25)";
}

const char *ulp_lacks_amx_fp16(void) {
    const char *tiles = lacks_tiles();
    if (tiles[0] != '\0') return tiles;
    return has(7, 1, EAX, 21) ? "" : "this processor has no AMX-FP16 (CPUID leaf 7.1, EAX bit 21)";
}

const char *ulp_lacks_avx512_fp16(void) {
    /* bits 0 to 7 of EBX are the version of AVX10, here 2 or more; bit 18: vectors of 512 bits */
    const int version = has(0x24, 0, EBX, 1) || has(0x24, 0, EBX, 2) || has(0x24, 0, EBX, 3);
    return has_avx512() && has(7, 1, EDX, 19) && version && has(0x24, 0, EBX, 18)
               ? ""
               : "this processor has no AVX10.2 with 512 bits (VDPPHPS; AVX512_FP16 is another extension)";
}

const char *ulp_cpu_f16c_lacks(void) {
    return __builtin_cpu_supports("avx") && has(1, 0, ECX, 29)
               ? ""
               : "this processor has no F16C (CPUID leaf 1, ECX bit 29)";
}

const char *ulp_cpu_bf16_lacks(void) { return ulp_lacks_avx512_bf16(); }

#else

const char *ulp_cpu_f16c_lacks(void) { return "this build is not for x86-64 on Linux"; }
const char *ulp_cpu_bf16_lacks(void) { return ulp_cpu_f16c_lacks(); }

#endif
