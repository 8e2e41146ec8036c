/* datapath_rows.c - the rows of datapaths that model hardware: MACHINE-INPUT[.INPUT][-ACCUMULATOR][-UNIT]. */
#include "datapath.h"

#include <string.h>

enum { NONE = ULP_NO_EXPONENT };

enum { FP32, FP16 };
static const char *const accumulators[] = {"fp32", "fp16"};

/* A matrix or dot-product unit of a machine. `inputs` lists formats: a datapath for each format, or for each pair of
 * formats if `mixed`. */
typedef struct row {
    const char *machine, *unit;
    const char *also; /* other names of the unit: h100-fp16-wgmma is h100-fp16 */
    const char *inputs;
    uint8_t accumulator, mixed, kind, mode; /* accumulator: an index of `accumulators` */
    uint32_t length;                        /* of a SERIAL row */
    /* kept = 0: all bits of the accumulator; zero_operand, zero_product, zero_c = 0: none; align and output of a Tensor
     * Core are not read, see `rounding` */
    ulp_fused fused;
    ulp_chains chains;
    uint8_t scale_block;
    const char *scale;
    uint16_t nan_code; /* 1: NaN results have all bits of the code set but the sign */
    uint8_t rounding;  /* of a Tensor Core: 1 + the ulp_mode of its sums; 0: rz for binary32, rne for binary16 */
} row;

#define FP8 "e4m3 e5m2"
#define FP864 "e4m3 e5m2 e3m2 e2m3 e2m1"
#define FNUZ8 "e4m3fnuz e5m2fnuz"

/* A Tensor Core. Khattak and Mikaitis 2025 (arXiv 2512.07004) measured the floors of Emax on V100, A100, L40S, H100 and
 * B200 with fp16 and bf16. MMA-Sim 2.1.1 (Xie et al. 2025, arXiv 2511.10909) has the same numbers as exponents of zero
 * terms, on all units; since c is zero or has at least the accumulator's emin, both are one rule. The other fields are
 * from Xie et al., and from the machine code of ptxas 13.0 for fp8 of `mma` on h100 and b200. */
#define CORE(machine_, unit_, also_, inputs_, accumulator_, mixed_, L, F, kept_, floor_, ...)                          \
    {                                                                                                                  \
        .machine = machine_, .unit = unit_, .also = also_, .inputs = inputs_, .accumulator = accumulator_,             \
        .mixed = mixed_, .kind = ULP_ALIGNED, .nan_code = 1, .fused.length = L, .fused.fraction = F,                   \
        .fused.kept = kept_, .fused.floor = floor_, __VA_ARGS__                                                        \
    }

/* AMD CDNA3: products are truncated, sums are rounded down. Whether the sum meets c with 32 or 31 bits is open. */
#define CDNA3(inputs_, mixed_, L, parts_, c_cut_)                                                                      \
    {                                                                                                                  \
        .machine = "mi300", .unit = "", .also = "mfma", .inputs = inputs_, .accumulator = FP32, .mixed = mixed_,       \
        .kind = ULP_ALIGNED, .fused = {                                                                                \
            .length = L,                                                                                               \
            .fraction = 24,                                                                                            \
            .floor = NONE,                                                                                             \
            .output = ULP_RNE,                                                                                         \
            .signed_zero = 1,                                                                                          \
            .zero_c = -126,                                                                                            \
            .join = 32,                                                                                                \
            .normal = 31,                                                                                              \
            .parts = parts_,                                                                                           \
            .c_cut = c_cut_                                                                                            \
        }                                                                                                              \
    }

/* The chains of AMD CDNA2: a tree of rounded products, then c. */
#define CDNA2(products)                                                                                                \
    .length = products, .term = 1, .lanes = products, .c_last = 1, .flush_ab = ULP_FLUSH_POSITIVE,                     \
    .flush_c = ULP_FLUSH_POSITIVE, .flush = ULP_FLUSH_ROUNDED

/* The chains of x86: c and results are flushed. A binary16 operand is a normal number of binary32. */
#define X86(products, products_of_term, is_fused, chains_)                                                             \
    .length = products, .term = products_of_term, .fused = is_fused, .lanes = chains_, .flush_c = ULP_FLUSH_SIGNED,    \
    .flush = ULP_FLUSH_AFTER
#define FLUSH_BF16 .flush_ab = ULP_FLUSH_SIGNED

#define ARM(products, products_of_term, is_fused, chains_)                                                             \
    .length = products, .term = products_of_term, .fused = is_fused, .lanes = chains_, .c_last = 1

#define RISCV(L, F)                                                                                                    \
    .length = L, .fraction = F, .floor = NONE, .zero_c = NONE, .align = ULP_RO, .output = ULP_RO, .c_last = 1

#define UNIT(machine_, unit_, also_, inputs_, accumulator_, mixed_, kind_, ...)                                        \
    {                                                                                                                  \
        .machine = machine_, .unit = unit_, .also = also_, .inputs = inputs_, .accumulator = accumulator_,             \
        .mixed = mixed_, .kind = kind_, __VA_ARGS__                                                                    \
    }

static const row rows[] = {
    /* machine, unit, its other names, inputs, accumulator, mixed, L: products of a sum, F: bits kept below Emax, kept:
     * fraction bits of the rounded result (0: those of the accumulator), floor: the lowest Emax */
    CORE("v100", "", "mma", "fp16", FP32, 0, 4, 23, 0, -131, .fused.late = 0),
    CORE("v100", "", "mma", "fp16", FP16, 0, 4, 23, 0, -19, .fused.late = 0),
    CORE("t4", "", "mma", "fp16", FP32, 0, 8, 24, 0, -132, .fused.late = 0),
    CORE("t4", "", "mma", "fp16", FP16, 0, 8, 24, 0, -20, .fused.late = 0),
    CORE("t4", "k4", "", "fp16", FP32, 0, 4, 23, 0, -131, .fused.late = 0), /* mma.m8n8k4 */
    CORE("t4", "k4", "", "fp16", FP16, 0, 4, 23, 0, -19, .fused.late = 0),
    CORE("a100", "", "mma", "fp16 bf16", FP32, 0, 8, 24, 0, -132, .fused.late = 0),
    CORE("a100", "", "mma", "fp16", FP16, 0, 8, 24, 0, -20, .fused.late = 0),
    CORE("a100", "", "mma", "tf32", FP32, 0, 4, 24, 0, -132, .fused.late = 0),
    CORE("l40s", "", "mma", "fp16 bf16", FP32, 0, 8, 24, 0, -132, .fused.late = 0),
    CORE("l40s", "", "mma", "fp16", FP16, 0, 8, 24, 0, -20, .fused.late = 0),
    CORE("l40s", "", "mma", "tf32", FP32, 0, 4, 24, 0, -132, .fused.late = 0),
    CORE("l40s", "", "mma", FP8, FP32, 1, 16, 13, 13, -132, .fused.late = 0),
    CORE("l40s", "", "mma", FP8, FP16, 1, 16, 13, 0, -20, .fused.late = 0),
    CORE("h100", "", "wgmma mma", "fp16 bf16", FP32, 0, 16, 25, 0, -133, .fused.late = 0),
    CORE("h100", "", "wgmma mma", "fp16", FP16, 0, 16, 25, 0, -21, .fused.late = 0),
    CORE("h100", "", "wgmma mma", "tf32", FP32, 0, 8, 25, 0, -133, .fused.late = 0),
    CORE("h100", "", "wgmma", FP8, FP32, 1, 32, 13, 13, -133, .fused.late = 0),
    CORE("h100", "", "wgmma", FP8, FP16, 1, 32, 13, 0, -21, .fused.late = 0),
    CORE("h100", "k8", "", "fp16 bf16", FP32, 0, 8, 25, 0, -133, .fused.late = 0), /* mma.m16n8k8 */
    CORE("h100", "k4", "", "tf32", FP32, 0, 4, 25, 0, -133, .fused.late = 0),      /* mma.m16n8k4 */
    CORE("h100", "mma", "", FP8, FP32, 1, 16, 25, 0, -133, .fused.late = 1),       /* mma.sync on fp16 units */
    CORE("h100", "mma", "", FP8, FP16, 1, 16, 25, 0, -21, .fused.late = 1),
    CORE("b200", "", "tcgen05", "fp16 bf16", FP32, 0, 16, 25, 0, -133, .fused.late = 0), /* tcgen05 */
    CORE("b200", "", "tcgen05", "fp16", FP16, 0, 16, 25, 0, -21, .fused.late = 0),
    CORE("b200", "", "tcgen05", "tf32", FP32, 0, 8, 25, 0, -133, .fused.late = 0),
    CORE("b200", "", "tcgen05", FP864, FP32, 1, 32, 25, 0, -133, .fused.late = 0),
    CORE("b200", "", "tcgen05", FP864, FP16, 1, 32, 25, 0, -21, .fused.late = 0),
    CORE("b200", "mma", "", "fp16 bf16", FP32, 0, 16, 25, 0, -133, .fused.late = 0),
    CORE("b200", "mma", "", "fp16", FP16, 0, 16, 25, 0, -21, .fused.late = 0),
    CORE("b200", "mma", "", "tf32", FP32, 0, 8, 25, 0, -133, .fused.late = 0),
    CORE("b200", "mma", "", FP8, FP32, 1, 16, 25, 0, -133, .fused.late = 1),
    CORE("b200", "mma", "", FP8, FP16, 1, 16, 25, 0, -21, .fused.late = 1),
    CORE("b200", "mx", "", FP864, FP32, 1, 32, 25, 0, -133, .scale_block = 32, .scale = "e8m0"), /* mxf8f6f4 */
    CORE("b200", "mxf4", "", "e2m1", FP32, 0, 64, 35, 0, -139, .fused.group = 16, .scale_block = 32, .scale = "e8m0"),
    CORE("b200", "mxf4x16", "", "e2m1", FP32, 0, 64, 35, 0, -139, .fused.group = 16, .scale_block = 16,
         .scale = "e8m0"), /* kind::mxf4nvf4, scale_vec::4X, ue8m0: PTX 9.1; the sum is as of nvf4 */
    CORE("b200", "nvf4", "", "e2m1", FP32, 0, 64, 35, 0, -139, .fused.group = 16, .scale_block = 16, .scale = "e4m3"),
    CORE("rtx5090", "", "mma", "fp16 bf16", FP32, 0, 16, 25, 0, -133, .fused.late = 0),
    CORE("rtx5090", "", "mma", "fp16", FP16, 0, 16, 25, 0, -21, .fused.late = 0),
    CORE("rtx5090", "", "mma", "tf32", FP32, 0, 8, 25, 0, -133, .fused.late = 0),
    CORE("rtx5090", "", "mma", FP864, FP32, 1, 32, 25, 0, -133, .fused.late = 0),
    CORE("rtx5090", "", "mma", FP864, FP16, 1, 32, 25, 0, -21, .fused.late = 0),
    CORE("rtx5090", "k16", "", FP8, FP32, 1, 16, 25, 0, -133, .fused.late = 0), /* mma.m16n8k16 */
    CORE("rtx5090", "mx", "", FP864, FP32, 1, 32, 25, 0, -133, .scale_block = 32, .scale = "e8m0"),
    CORE("rtx5090", "mxf4", "", "e2m1", FP32, 0, 64, 35, 0, -139, .fused.group = 16, .scale_block = 32,
         .scale = "e8m0"),
    CORE("rtx5090", "mxf4x16", "", "e2m1", FP32, 0, 64, 35, 0, -139, .fused.group = 16, .scale_block = 16,
         .scale = "e8m0"),
    CORE("rtx5090", "nvf4", "", "e2m1", FP32, 0, 64, 35, 0, -139, .fused.group = 16, .scale_block = 16,
         .scale = "e4m3"),

    /* AMD MFMA: Xie et al. 2025, arXiv 2511.10909, version 2; Khattak and Mikaitis 2025, arXiv 2512.07004. mi250-bf16
     * is the _1k instruction. Subnormal operands of CDNA2 become +0; subnormal sums become zeros of their sign. */
    UNIT("mi100", "", "mfma", "fp16", FP32, 0, ULP_SERIAL, .length = 4),
    UNIT("mi100", "", "mfma", "bf16", FP32, 0, ULP_SERIAL, .length = 2),
    UNIT("mi250", "", "mfma", "fp16 bf16", FP32, 0, ULP_CHAINS, .chains = {CDNA2(4)}),
    UNIT("mi250", "p2", "", "bf16", FP32, 0, ULP_CHAINS, .chains = {CDNA2(2)}),
    CDNA3("fp16 bf16", 0, 8, 1, 0),
    CDNA3("tf32", 0, 4, 1, 0),
    CDNA3(FNUZ8, 1, 16, 2, 1),

    /* x86: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, operation of VDPBF16PS, VDPPHPS,
     * TDPBF16PS, TDPFP16PS, TDPBF8PS and their mixed forms. Subnormal binary32 numbers are zeros, also as results. */
    UNIT("avx512", "", "", "bf16", FP32, 0, ULP_CHAINS, .chains = {X86(2, 1, 1, 1), .swapped = 1, FLUSH_BF16}),
    UNIT("avx512", "", "", "fp16", FP32, 0, ULP_CHAINS, .chains = {X86(2, 1, 1, 1), .swapped = 1}),
    UNIT("amx", "", "", "bf16", FP32, 0, ULP_CHAINS, .chains = {X86(32, 1, 1, 2), .c_last = 1, FLUSH_BF16}),
    UNIT("amx", "", "", "fp16", FP32, 0, ULP_CHAINS, .chains = {X86(32, 1, 1, 2), .c_last = 1}),
    UNIT("amx", "", "", FP8, FP32, 1, ULP_CHAINS, .chains = {X86(64, 2, 0, 2), .c_last = 1}),

    /* Arm: Arm Architecture Reference Manual for A-profile (DDI 0487), BFDOT and BFMMLA with FPCR.EBF = 0 and 1, FMLAL,
     * FMOPA of binary16, FDOT of FP8 in 4 ways into binary32 and in 2 ways into binary16 with FPMR.LSCALE = 0 and
     * FPMR.OSM = 0. */
    UNIT("arm", "", "bfdot bfmmla", "bf16", FP32, 0, ULP_CHAINS, .mode = ULP_RO,
         .chains = {ARM(2, 1, 0, 2), .flush_ab = ULP_FLUSH_SIGNED, .flush_c = ULP_FLUSH_SIGNED,
                    .flush = ULP_FLUSH_BEFORE}),
    UNIT("arm", "ebf", "", "bf16", FP32, 0, ULP_CHAINS, .chains = {ARM(2, 2, 0, 1)}),
    UNIT("arm", "fmlal", "", "fp16 bf16", FP32, 0, ULP_SERIAL, .length = 1),
    UNIT("arm", "fmopa", "", "fp16", FP32, 0, ULP_CHAINS, .chains = {ARM(2, 2, 0, 1)}),
    UNIT("arm", "", "fdot", FP8, FP32, 1, ULP_CHAINS, .chains = {.length = 4, .term = 4, .fused = 1, .lanes = 1}),
    UNIT("arm", "", "fdot", FP8, FP16, 1, ULP_CHAINS, .chains = {.length = 2, .term = 2, .fused = 1, .lanes = 1}),

    /* RISC-V: draft of Zvdota and Zvbdota, version 0.2, bulk normalization with F = 23 + log2 L. L belongs to the
     * implementation: the elements of a register of 128 bits. */
    UNIT("riscv", "", "", "bf16", FP32, 0, ULP_ALIGNED, .fused = {RISCV(8, 26)}),
    UNIT("riscv", "", "", FP8, FP32, 0, ULP_ALIGNED, .fused = {RISCV(16, 27)}),
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* Word i of a list separated by spaces. 0 past the end. */
static int word_at(char to[ULP_NAME_MAX], const char *list, size_t i) {
    for (;; i--) {
        size_t n = strcspn(list, " ");
        if (n == 0) return 0;
        if (i == 0) {
            memcpy(to, list, n);
            to[n] = '\0';
            return 1;
        }
        list += n + (list[n] == ' ');
    }
}

static size_t word_count(const char *list) {
    char word[ULP_NAME_MAX];
    size_t n = 0;
    while (word_at(word, list, n)) n++;
    return n;
}

static size_t pair_count(const row *r) {
    size_t n = word_count(r->inputs);
    return r->mixed ? n * n : n;
}

/* Name `u` of a row's unit; the name in canonical names comes first. 0 past the end. */
static int unit_at(char to[ULP_NAME_MAX], const row *r, size_t u) {
    if (u > 0) return word_at(to, r->also, u - 1);
    strcpy(to, r->unit);
    return 1;
}

/* The formats of pair `i` of a row, and the pair's name with name `u` of the unit. 0 past the last name. */
static int pair_at(const row *r, size_t i, size_t u, char name[ULP_DATAPATH_NAME_MAX], char formats[2][ULP_NAME_MAX]) {
    const size_t n = word_count(r->inputs);
    char unit[ULP_NAME_MAX];
    if (!unit_at(unit, r, u)) return 0;
    const size_t a = r->mixed ? i / n : i, b = r->mixed ? i % n : i;
    word_at(formats[0], r->inputs, a);
    word_at(formats[1], r->inputs, b);
    strcpy(name, r->machine);
    strcat(strcat(name, "-"), formats[0]);
    if (a != b) strcat(strcat(name, "."), formats[1]);
    if (r->accumulator != FP32) strcat(strcat(name, "-"), accumulators[r->accumulator]);
    if (unit[0] != '\0') strcat(strcat(name, "-"), unit);
    return 1;
}

/* Sets *d and its name to pair `i` of a row. */
static ulp_status from_row(ulp_datapath *d, const row *r, size_t i) {
    char formats[2][ULP_NAME_MAX];
    pair_at(r, i, 0, d->name, formats);
    ULP_TRY(ulp_format_parse(&d->accumulator, accumulators[r->accumulator]));
    ULP_TRY(ulp_format_parse(&d->a, formats[0]));
    ULP_TRY(ulp_format_parse(&d->b, formats[1]));
    if (r->scale_block != 0) ULP_TRY(ulp_format_parse(&d->scale, r->scale));
    const int narrow = d->accumulator.prec < 24;
    d->kind = r->kind;
    d->length = r->length != 0 ? r->length : 1;
    d->rule.mode = r->mode;
    d->has_inputs = 1;
    d->scale_block = r->scale_block;
    if (r->nan_code) d->nan_code = narrow ? 0x7fffu : 0x7fffffffu;
    d->chains = r->chains;
    d->fused = r->fused;
    int16_t *const zeros[] = {&d->fused.zero_operand, &d->fused.zero_product, &d->fused.zero_c};
    for (size_t k = 0; k < sizeof zeros / sizeof zeros[0]; k++)
        if (*zeros[k] == 0) *zeros[k] = NONE;
    if (r->kind != ULP_ALIGNED) return ULP_OK;
    if (d->fused.kept == 0) d->fused.kept = (uint8_t)(d->accumulator.prec - 1);
    if (r->nan_code) d->fused.align = ULP_RZ, d->fused.output = narrow ? ULP_RNE : ULP_RZ;
    if (r->rounding != 0) d->fused.output = (uint8_t)(r->rounding - 1);
    else if (r->fused.join != 0) d->fused.align = ULP_RZ;
    return ULP_OK;
}

ulp_status ulp_datapath_row(ulp_datapath *d, const char *text) {
    char name[ULP_DATAPATH_NAME_MAX], formats[2][ULP_NAME_MAX];
    for (size_t r = 0; r < ROWS; r++) {
        const size_t machine = strlen(rows[r].machine);
        if (strncmp(text, rows[r].machine, machine) != 0 || text[machine] != '-') continue;
        const size_t n = pair_count(&rows[r]);
        for (size_t i = 0; i < n; i++)
            for (size_t u = 0; pair_at(&rows[r], i, u, name, formats); u++)
                if (strcmp(name, text) == 0) return from_row(d, &rows[r], i);
    }
    return ULP_BAD_NAME;
}

ulp_status ulp_datapath_get(size_t i, ulp_datapath *datapath) {
    if (!datapath) return ULP_BAD_ARGUMENT;
    for (size_t r = 0; r < ROWS; r++) {
        const size_t n = pair_count(&rows[r]);
        if (i < n) {
            *datapath = (ulp_datapath){.length = 1};
            ulp_status status = from_row(datapath, &rows[r], i);
            return status == ULP_OK ? ulp_datapath_init(datapath) : status;
        }
        i -= n;
    }
    return ULP_BAD_ARGUMENT;
}
