/* batch_invariance.c - the same dot products under 52 schedules, and the tokens that a schedule changes: how many
 * answers does one question have?
 *
 * A kernel chooses its schedule by the size of the batch: into how many parts it splits a sum (split-K), how many
 * products it adds at a time, and in which order it adds the parts. So the answer to one question depends on the
 * questions beside it (Thinking Machines 2025, "Defeating nondeterminism in LLM inference"). A schedule that looks at
 * the row alone has the same bits in every batch.
 *
 *   - Sums (sums.c): dot products of normal numbers in bfloat16, exact products, tiles of t exact products, one
 *     rounding to binary32 when a tile is added; S parts, added one after the other or as a tree.
 *   - Tokens (tokens.c): the largest of 256 logits, sums of 512 products by tiles of 16 into p bits, in 1 and 4 parts.
 *     With d the difference of the two schedules for the two largest logits, and rho(0) the density of their exact
 *     distance at 0, T rho(0) E|d1 - d2| / 2 of T tokens are expected to change.
 *   - Completions (completions.c): a small model, trained on a text in binary32, goes on with held-out texts at
 *     temperature 0 under eight schedules; how many completions does a text have, and where do they part?
 */
#include "batch_invariance.h"

static const ulp_option options[] = {
    ULP_OPTION(settings, sums, integer, "2048", .quick = "256", .full = "16384", .help = "dot products", .min = 1,
               .max = 1e5),
    ULP_OPTION(settings, k, integer, "4096", .help = "products in a sum", .min = 64, .max = 65536),
    ULP_OPTION(settings, parts, integers, "1,2,4,8,16,32,64", .help = "parts of a sum", .min = 1, .max = 64),
    ULP_OPTION(settings, tiles, integers, "1,4,8,16", .help = "products that are added at a time", .min = 1, .max = 64),
    ULP_OPTION(settings, tokens, integer, "2048", .full = "16384", .help = "tokens", .min = 100, .max = 1e5),
    ULP_OPTION(settings, bits, integers, "8..24", .quick = "8,10,12,14,24",
               .help = "bits of the accumulators of tokens", .min = 2, .max = 24),
    ULP_OPTION(settings, completions, integer, "40", .quick = "8", .full = "100",
               .help = "held-out texts to go on with", .min = 1, .max = 1e5),
    ULP_OPTION(settings, length, integer, "16", .quick = "8", .full = "64", .help = "new characters of a text",
               .min = 1, .max = 10000),
    ULP_OPTION(settings, widths, integers, "8,10,12,24", .quick = "8,24", .full = "8,10,12,16,24",
               .help = "bits of the accumulators of completions", .min = 2, .max = 24),
    ULP_OPTION(settings, net, text,
               "embed32:61 pos64 fork ln attn4:causal join fork ln lin64 gelu lin32 join ln unembed", .full = "gpt",
               .topic = "nets", .help = "the model of the completions, which reads text"),
    ULP_OPTION(settings, steps, integer, "300", .quick = "60", .full = "1200", .help = "its training steps", .min = 1,
               .max = 1e7),
    ULP_OPTION(settings, batch, integer, "16", .help = "sequences of a step", .min = 1, .max = 1000),
    ULP_OPTION(settings, optimizer, text, "adam", .value_name = "OPTIMIZER", .topic = "optimizers",
               .help = "its optimizer"),
    ULP_OPTION(settings, rate, number, "5e-3", .full = "3e-3", .help = "its rate, which a cosine takes to zero",
               .max = 1),
    ULP_OPTION_AS(settings, set, "set", set, "text:32", .full = "text", .help = "the data set, a text"),
    ULP_OPTION_SEED(settings, seed),
    ULP_OPTION_DATA(settings, data),
    ULP_OPTION_BACKEND_OF(settings, backend),
    {0},
};

static const ulp_column columns[] = {
    ULP_WORDS(row, kind, KIND_WORDS),
    ULP_COLUMNS(row, tile, parts),
    ULP_WORDS(row, join, JOIN_WORDS),
    ULP_COLUMNS(row, format, bits, number, count, value, law),
    {0},
};

static ulp_status plan(ulp_plan *plan) {
    const settings *s = plan->settings;
    ulp_error error = {0};
    const ulp_status status = check_completions(s, &error);
    if (status != ULP_OK) return ulp_plan_fail(plan, status, "%s", error.text);
    ulp_plan_add(plan, &(point){SCHEDULE, 0}, 0, "sums");
    for (size_t i = 0; i < s->bits.count; i++)
        ulp_plan_add(plan, &(point){TOKENS, s->bits.at[i]}, 0, "tokens %lld", (long long)s->bits.at[i]);
    for (size_t i = 0; i < s->widths.count; i++)
        ulp_plan_add(plan, &(point){COMPLETION, s->widths.at[i]}, 0, "completions %lld", (long long)s->widths.at[i]);
    return ULP_OK;
}

static ulp_status compute(const ulp_task *task) {
    const point *p = task->point;
    const ulp_status status = p->kind == SCHEDULE ? put_sums(task)
                              : p->kind == TOKENS ? put_tokens(task, p->bits)
                                                  : put_completions(task, p->bits);
    return status == ULP_OK ? status : ulp_task_fail(task, status, "%s: %s", task->label, ulp_status_text(status));
}

const ulp_experiment experiment = {
    .name = "batch_invariance",
    .question = "how many answers does one question have, when the schedule of its sums depends on the batch?",
    ULP_EXPERIMENT_OF(settings, point, row),
};
