/* tensor_counts.h - counts the numbers of tensors by magnitude, and how they end in formats at different scales.
 *
 *     ulp_tensor_counts *counts;
 *     status = ulp_tensor_counts_new(&counts, &(ulp_tensor_looks){backend, &formats, &scales}, &trainer->model);
 *     ulp_tensor_count(counts, kind, layer, stage, x, n);    ... for each tensor; counts->status is the first failure
 *     ulp_tensor_counts_sum(counts);
 *
 * A tensor is counted:
 *   - in a histogram of magnitudes (sim/stats.h)
 *   - for each format and each scale: how many elements become zero, subnormal or overflow when the tensor times
 * 2^scale is rounded once to nearest even
 *   - for each format: the same with a power of two of the tensor in place of 2^scale. This power of two brings the
 *     largest magnitude of the tensor just below the largest number of the format (ulp_scaling_of; FORMAT@amax of
 *     sim/policy/policy.h).
 *
 * Without scales each tensor is rounded as it is, and nothing else.
 */
#ifndef ULP_TENSOR_COUNTS_H
#define ULP_TENSOR_COUNTS_H

#include "experiments/harness/cli/options.h"
#include "experiments/harness/table/table.h"
#include "sim/model.h"
#include "sim/stats.h"

/* Kinds of tensors, at most, in an order of the caller. The stages of a training, at most, and their sum. The slots are
 * layers, or tensors between layers, and their sum. */
enum { ULP_TENSOR_KINDS = 6 };
enum { ULP_STAGE_BEGIN, ULP_STAGE_MIDDLE, ULP_STAGE_END, ULP_STAGE_ALL, ULP_STAGES };
enum { ULP_LAYER_ALL = 65, ULP_LAYER_SLOTS };

/* The counts of one kind and slot, by stage. */
typedef struct ulp_layer_counts {
    ulp_histogram histogram[ULP_STAGES];
    ulp_stats *stats[ULP_STAGES]; /* [formats][columns]; the last column is the tensor scale; NULL: nothing counted */
} ulp_layer_counts;

/* How tensors are counted. The lists have to outlive the counts. */
typedef struct ulp_tensor_looks {
    const ulp_backend *backend;
    const ulp_format_list *formats;
    const ulp_integer_list *scales; /* log2; NULL: none */
} ulp_tensor_looks;

typedef struct ulp_tensor_counts {
    ulp_tensor_looks looks;
    size_t columns;          /* scales + 1 */
    float *host;             /* one tensor */
    float *scaled, *rounded; /* the same tensor in backend memory */
    ulp_layer_counts at[ULP_TENSOR_KINDS][ULP_LAYER_SLOTS];
    ulp_status status; /* the first failure */
} ulp_tensor_counts;

/* Makes the counts for tensors as large as those of a model. The caller calls ulp_tensor_counts_free() after success
 * and after failure; *counts is NULL if there are no counts. */
ulp_status ulp_tensor_counts_new(ulp_tensor_counts **counts, const ulp_tensor_looks *looks, const ulp_model *model);

/* Counts x (n), host memory, in a slot before ULP_LAYER_ALL and a stage before ULP_STAGE_ALL. */
void ulp_tensor_count(ulp_tensor_counts *c, int kind, size_t slot, int stage, const float *x, size_t n);

/* Forms the sums over slots and over stages, after the last tensor. */
ulp_status ulp_tensor_counts_sum(ulp_tensor_counts *counts);
void ulp_tensor_counts_free(ulp_tensor_counts *counts);

/* ---- a histogram as rows: one per power of two that occurs, and one for the zeros ---- */

/* The cells of a bin: the exponent x with 2^x <= |value| < 2^(x+1), empty for the zeros; the number of values in the
 * bin; their share of all values in the histogram. */
typedef struct ulp_bin {
    int64_t x, count;
    double share;
} ulp_bin;

#define ULP_BIN_COLUMNS_OF(row, field) ULP_COLUMNS_OF(row, field, x, count, share)

/* Puts the rows, copies of `row` but for its fields `bin` and `what`. The words of `what` begin with "bin zero". */
void ulp_bins_put(ulp_rows *rows, const void *row, ulp_bin *bin, int *what, const ulp_histogram *h);

#endif
