/* batch_invariance.h - settings, points and rows of batch_invariance, shared by its parts and its claims. */
#ifndef ULP_EXPERIMENT_BATCH_INVARIANCE_H
#define ULP_EXPERIMENT_BATCH_INVARIANCE_H

#include "experiments/harness/experiment.h"
#include "experiments/harness/training/options.h"

typedef struct settings {
    int64_t sums, k, tokens, completions, length, steps, batch;
    ulp_integer_list parts, tiles, bits, widths; /* widths: of the accumulators of completions */
    const char *net, *optimizer, *set, *data;
    double rate;
    uint64_t seed;
    const ulp_backend *backend;
} settings;

/* How the sums of parts are added. */
enum { SERIAL, TREE, JOIN_COUNT };
#define JOIN_WORDS "serial tree"

enum { SCHEDULE, DISTINCT, NEAR, BATCH, PAIRWISE, TOKENS, DECISION, COMPLETION, KIND_COUNT };
#define KIND_WORDS "schedule distinct near batch pairwise tokens decision completion"

/* What a point computes: all sums, or the tokens or the completions under an accumulator. */
typedef struct point {
    int kind; /* SCHEDULE, TOKENS, COMPLETION */
    int64_t bits;
} point;

/* Columns that a kind does not use are empty.
 *   - schedule: value = rms of (result - exact sum) over `count` sums
 *   - distinct: `count` sums have `number` different results under all schedules, as values of the format
 *   - near: of `count` sums all binary32 results lie within a unit in the last place of the format; they have at most
 *     `number` different results there
 *   - batch: `count` of the sums have other bits when they are computed in batches of `number`
 *   - pairwise: `count` of the sums have other bits than the pairwise sum
 *   - tokens: `count` tokens differ between 1 and `parts` parts; value = E|d1 - d2|; law = the expected number
 *   - decision: after `count` of `number` places of held-out texts the likeliest character depends on the schedule
 *   - completion: text `number` has `count` different completions; they differ first at character `value`, the number
 * of characters plus 1 if never */
typedef struct row {
    int kind;
    int64_t tile, parts;
    int join;
    const char *format;
    int64_t bits, number, count;
    double value, law;
} row;

enum { TOKEN_PARTS = 4, TOKEN_TILE = 16, WIDTH = 512, VOCABULARY = 256 };

/* The rows of all sums, and of the tokens and the completions of one accumulator. */
ulp_status put_sums(const ulp_task *task);
ulp_status put_tokens(const ulp_task *task, int64_t bits);
ulp_status put_completions(const ulp_task *task, int64_t bits);

/* Whether the settings of completions fit together; error gets a sentence. */
ulp_status check_completions(const settings *s, ulp_error *error);

/* A row without numbers. */
row row_of(const ulp_task *task, int kind);

/* x (n), backend memory: the normal numbers of a stream, rounded to bfloat16, times `scale` before the rounding.
 * `room` (n) is host memory. */
ulp_status fill_normal(const ulp_task *task, float *x, float *room, size_t n, const char *name, double scale);

#endif
