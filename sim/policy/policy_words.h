/* policy_words.h - the words of a policy's text, for the files of this folder and the texts of optimizers.
 *
 * A policy grows in a draft while its text is read. Functions that read write a sentence to `error` (may be NULL) on
 * failure.
 */
#ifndef ULP_POLICY_WORDS_H
#define ULP_POLICY_WORDS_H

#include "base/error.h"
#include "base/key_values.h"
#include "policy.h"

/* ---- casts and rules ---- */

enum { ULP_CAST_TEXT_MAX = 128 };

/* MODE[/BITS]. BITS, 1 to 32, is for stochastic modes alone. The overflow of *rule stays. */
ulp_status ulp_rule_read(ulp_rule *rule, const char *text, ulp_error *error);

/* The text of a cast as it is read. */
typedef struct ulp_cast_text {
    const char *name; /* of the rounding point, for the sentence */
    int takes_scale;  /* 1: the point takes a tensor scale */
    int has_mode;     /* set by ulp_cast_read(): the text gives a mode */
} ulp_cast_text;

/* FORMAT[@amax|@delayed[N]][/MODE[/BITS]]. Without a mode the rule is to nearest even. */
ulp_status ulp_cast_read(ulp_cast *cast, ulp_cast_text *about, const char *text, ulp_error *error);

/* Writes the text of a cast with its mode, and returns the length. */
int ulp_cast_write(char *text, size_t size, const ulp_cast *cast);

/* Writes the text of a rule, and returns the length. */
int ulp_rule_write(char *text, size_t size, ulp_rule rule);

/* ---- drafts ---- */

/* The indices of the keys. A cast has the number of its point; the cast of out= has the number after the last point.
 * The keys fwd, bwd and acc have AT_PRODUCTS and a bit for each datapath. */
enum { AT_OUT = ULP_AT_COUNT, FORWARD = 1, BACKWARD = 2, AT_PRODUCTS = 32, AT_MODE = 64 };

typedef struct draft {
    ulp_policy policy;                  /* the first field: a pointer to a draft is printed as a policy */
    uint8_t own_mode[ULP_AT_COUNT + 1]; /* 1: the text gives the cast a mode of its own */
    uint8_t has_mode;
    ulp_rule mode; /* if has_mode: the value of mode= */
    ulp_error *error;
} draft;

/* The name of the cast with number i. */
static inline const char *ulp_cast_name(int i) { return i < AT_OUT ? ulp_point_name((ulp_point_kind)i) : "out"; }

/* The keys, in the order of the canonical text; the last one has no name. */
extern const ulp_key ulp_policy_keys[];

/* Read a value as the cast with number i. */
ulp_status ulp_draft_cast(draft *d, int i, const char *text);
ulp_status ulp_draft_datapath(const draft *d, ulp_datapath *datapath, const char *text);

/* Refuse a word for which the policy has no room. */
ulp_status ulp_draft_full(const draft *d, const char *word);

/* Read "SELECTOR.KEY" with its value into a draft. */
ulp_status ulp_draft_select(void *d, const char *name, const char *value, ulp_error *error);

/* Give selections without a mode of their own the mode of their selector, or the mode of mode=. */
void ulp_draft_settle_modes(draft *d);

/* Write "SELECTOR.KEY=VALUE", and return the length. */
int ulp_selection_print(char *text, size_t size, const ulp_policy *policy, const ulp_selection *selection);

/* ---- parts of a policy ---- */

/* Whether a selector selects row t of the table of a net's policies (policy.h). */
int ulp_policy_selects(const char *selector, const ulp_net *net, size_t t);

static inline int ulp_point_is_gradient(int i) { return i == ULP_AT_WGRAD || i == ULP_AT_AGRAD; }

/* Check that a datapath takes the tensors at two casts as its operands a and b. If not, the status is ULP_UNSUPPORTED,
 * and `error` (may be NULL) gets a sentence. */
typedef struct ulp_operands {
    const char *key; /* "fwd" or "bwd" */
    const ulp_datapath *path;
    ulp_point_kind a_point, b_point;
    const ulp_cast *a, *b;
    const ulp_operand_cast *by; /* [2]: casts of a and b that replace those of the tensors; NULL: none */
    int first;                  /* ulp_operand_use of by[0] */
} ulp_operands;
ulp_status ulp_operands_check(const ulp_operands *operands, ulp_error *error);

#endif
