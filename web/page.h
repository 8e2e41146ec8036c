/* page.h - exports, the text of an answer, numbers in texts, shared by the functions for the page.
 *
 * The page calls exported functions with C strings and numbers. A function answers with a JSON text that stays until
 * the next call, or with numbers in web_values(). A refusal is {"error": "a sentence"}.
 */
#ifndef ULP_WEB_PAGE_H
#define ULP_WEB_PAGE_H

#include "formats/number.h"
#include "kernels/products/datapath.h"

#ifdef __wasm__
#define WEB_EXPORT(name) __attribute__((export_name(#name)))
#else
#define WEB_EXPORT(name)
#endif

enum { WEB_VALUES_MAX = 1 << 16, WEB_INPUT_MAX = 1 << 17, WEB_EXACT_MAX = 1200 };

/* Where the page writes strings (WEB_INPUT_MAX bytes), and where arrays of numbers are answered (WEB_VALUES_MAX). */
char *web_input(void);
double *web_values(void);

/* ---- the text of an answer ---- */

/* Begins an answer, an object; web_end() ends the object and returns the text. */
void web_begin(void);
const char *web_end(void);
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
void web_add(const char *format, ...);
/* Adds a JSON string. */
void web_string(const char *text);
/* Adds a comma, unless the next value is the first of its list or object. */
void web_item(void);
/* Begins an object in a list; web_add("}") ends it. */
void web_object(void);
/* Each of the following adds a comma, if needed, and "key": with a value. web_list() begins a list: web_add("]") ends
 * it. */
void web_key(const char *key);
void web_list(const char *key);
void web_text_field(const char *key, const char *text);
/* A JSON string with the exact decimal digits; with a hex float. */
void web_exact_field(const char *key, double value);
void web_float_field(const char *key, double value);
void web_integer_field(const char *key, int64_t value);
/* A number of 17 digits, or null where it is not finite. */
void web_number_field(const char *key, double value);
/* A code of a format in hex, or null where `known` is 0. The code of a value, if the format has one. */
void web_bits_field(const char *key, int known, uint64_t code, const ulp_format *format);
void web_code_field(const char *key, double value, const ulp_format *format);
const char *web_answer(void);

/* Answers {"error": sentence}. */
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
const char *
web_refuse(const char *format, ...);

/* ---- reading ---- */

/* Reads a decimal number, a hex float, a power such as 2^-14 or 3*2^-7, inf or nan: the exact number, or the nearest of
 * binary64. Returns 0 for other texts. */
int web_exact_read(ulp_exact *x, const char *text);
int web_number_read(double *value, const char *text);

/* Whether a finite number is beyond binary64: the text is no "inf", and the value is. */
int web_is_too_large(const char *text, double value);
/* Whether the text, up to a blank or semicolon, is digits, one comma, digits: 0,1 is a number or two. If it is, answers
 * with a sentence about the line. */
int web_comma_unclear(const char *text, double line);

/* Reads a format's name; a failure answers with a sentence and returns 0. */
int web_format_read(ulp_format *format, const char *name);
int web_mode_read(ulp_rule *rule, const char *mode, const char *overflow, uint32_t bits, const ulp_format *format);

/* Whether a seed is a whole number from 0 to 2^53; otherwise answers with a sentence. */
int web_seed_read(double seed);

/* The decimal digits of a value, all of them, or "nan", "inf", "-inf", "-0". */
void web_exact_text(char to[WEB_EXACT_MAX], double value);

/* ---- for several parts ---- */

/* The two results of a stochastic rounding of x, and how many of the 2^r words give the one away from zero. */
typedef struct web_coin {
    double low, high; /* low is nearer to zero */
    uint64_t ups, words;
} web_coin;
web_coin web_coin_of(ulp_exact x, const ulp_format *format, ulp_rule rule);

#endif
