/* policy_draft.h - a policy while its text is parsed, for policy_keys.c, policy_selected.c and policy_text.c. */
#ifndef ULP_POLICY_DRAFT_H
#define ULP_POLICY_DRAFT_H

#include "cast_text.h"
#include "base/key_values.h"

/* The indices of the keys. A cast has the number of its point; the cast of out= has the number after the last point.
 * The keys fwd, bwd and acc have AT_PRODUCTS and a bit for each datapath. */
enum { AT_OUT = ULP_AT_COUNT, FORWARD = 1, BACKWARD = 2, AT_PRODUCTS = 32, AT_MODE = 64 };

typedef struct draft {
    ulp_policy policy;                  /* the first field: a pointer to a draft is printed as a policy */
    uint8_t own_mode[ULP_AT_COUNT + 1]; /* 1: the text gives the cast a mode of its own */
    uint8_t has_mode;
    ulp_rule mode; /* if has_mode: the value of mode= */
    char *error;
    size_t error_size;
} draft;

/* The keys, in the order of the canonical text; the last one has no name. */
extern const ulp_key ulp_policy_keys[];

/* Read a value as the cast with number i. */
ulp_status ulp_draft_cast(draft *d, int i, const char *text);
ulp_status ulp_draft_datapath(const draft *d, ulp_datapath *datapath, const char *text);

/* Refuse a word for which the policy has no room. */
ulp_status ulp_draft_full(const draft *d, const char *word);

/* Read "SELECTOR.KEY" with its value into a draft. */
ulp_status ulp_draft_select(void *d, const char *name, const char *value, char *error, size_t error_size);

/* Give selections without a mode of their own the mode of their selector, or the mode of mode=. */
void ulp_draft_settle_modes(draft *d);

/* Write "SELECTOR.KEY=VALUE", and return the length. */
int ulp_selection_print(char *text, size_t size, const ulp_policy *policy, const ulp_selection *selection);

#endif
