/* t_windows.c - max pooling by windows with a stride and a frame, and up-sampling: every instruction set and number of
 * threads against scalar definitions. */
#include "support.h"
#include "instruction_sets.h"

enum { N = 60000 };

static float x[N], dy[N], y[N], place[N];
static double dx[N], want[N];

/* With any != 0 one number in five has random bits; one in three is small and whole, so that maxima are equal. */
static void fill(float *to, uint64_t stream, int any) {
    const ulp_stream s = {12, stream, 0};
    for (uint64_t i = 0; i < N; i++) {
        const uint32_t word = ulp_random_word(s, i);
        to[i] = any && word % 5 == 0 ? ulp_from_bits32(ulp_random_word(s, N + i))
                : word % 3 == 0      ? (float)(word / 3 % 4) - 1.0f
                                     : (float)ldexp(ulp_random_uniform(s, 2 * N + i) - 0.5, (int)(word / 3 % 40) - 20);
    }
}

static void same_doubles(const char *what, const ulp_backend *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (ulp_bits64(dx[i]) != ulp_bits64(want[i]))
            fail_msg("%s, %s: element %zu of %zu is %a, not %a", what, b->what, i, n, dx[i], want[i]);
}

/* Check that the result of a call ends where it should. */
static void ends(const float *at, size_t n) { assert_int_equal(ulp_bits32(at[n]), 0x55555555u); }
static void ends64(size_t n) { assert_int_equal(ulp_bits64(dx[n]), 0x5555555555555555u); }

/* ---- windows with a stride and a frame ---- */

/* One window, pixel by pixel: the index of the maximum in the image, and *in_window, its index in the window. */
static size_t maximum(const float *image, const ulp_strided_windows *s, size_t p, size_t q, size_t *in_window) {
    size_t best = SIZE_MAX;
    for (size_t j = 0; j < s->K * s->K; j++) {
        const size_t row = p * s->stride + j / s->K, column = q * s->stride + j % s->K; /* with the frame */
        const size_t at = (row - s->pad) * s->w + column - s->pad;
        if (row < s->pad || column < s->pad || row >= s->h + s->pad || column >= s->w + s->pad) continue;
        if (best != SIZE_MAX && !(image[at] > image[best]) && (!isnan(image[at]) || isnan(image[best]))) continue;
        best = at;
        *in_window = j;
    }
    return best;
}

static void check_strided(const ulp_backend *b, const ulp_strided_windows *s) {
    const size_t oh = s->h + 2 * s->pad < s->K ? 0 : (s->h + 2 * s->pad - s->K) / s->stride + 1,
                 ow = s->w + 2 * s->pad < s->K ? 0 : (s->w + 2 * s->pad - s->K) / s->stride + 1,
                 windows = s->images * oh * ow, area = s->h * s->w, pixels = s->images * area;
    assert_true(windows < N && pixels < N);
    memset(y, 0x55, sizeof y), memset(place, 0x55, sizeof place), memset(dx, 0x55, sizeof dx);
    assert_ok(ulp_backend_pool_strided(b, y, place, x, s));
    ends(y, windows), ends(place, windows);
    memset(want, 0, sizeof want);
    for (size_t i = 0; i < windows; i++) {
        const size_t image = i / (oh * ow);
        size_t at = 0;
        const size_t best = image * area + maximum(x + image * area, s, i / ow % oh, i % ow, &at);
        if (ulp_bits32(y[i]) != ulp_bits32(x[best]) || place[i] != (float)at)
            fail_msg("%s: maximum %zu is %a at %g, not %a at %zu", b->what, i, (double)y[i], (double)place[i],
                     (double)x[best], at);
        want[best] = ulp_quieted(want[best] + (double)dy[i]);
    }
    assert_ok(ulp_backend_pool_strided_slope(b, dx, dy, place, s));
    same_doubles("gradient of strided windows", b, pixels);
    ends64(pixels);
}

/* ---- up-sampling ---- */

/* The exact sum of a window, rounded to odd. `part` is the sum without errors as numbers that do not overlap and that
 * grow in magnitude (Shewchuk 1997, doi:10.1007/PL00009321, grow-expansion). */
static double sum_to_odd(const float *window, size_t w, size_t K) {
    double part[64] = {0}, special = 0.0;
    size_t parts = 0;
    int negative_zeros = 1;
    for (size_t j = 0; j < K * K; j++) {
        double next = (double)window[j / K * w + j % K];
        negative_zeros &= next == 0.0 && signbit(next) != 0;
        if (!isfinite(next)) special += next;
        if (!isfinite(next)) continue;
        for (size_t k = 0; k < parts; k++) {
            const double a = part[k], sum = a + next, back = sum - a;
            part[k] = (a - (sum - back)) + (next - back);
            next = sum;
        }
        assert_true(parts < 64);
        part[parts++] = next;
    }
    if (special != 0.0) return ulp_quieted(special); /* NaN or an infinity */
    if (negative_zeros) return -0.0;
    double hi = 0.0, rest = 0.0;
    while (parts > 0 && rest == 0.0) { /* the sign of the first error is that of all that is left */
        const double a = hi, b = part[--parts], sum = a + b;
        hi = sum;
        rest = b - (sum - a);
    }
    return ulp_to_odd(hi, rest);
}

static void check_upsample(const ulp_backend *b, const ulp_windows *s) {
    const size_t rows = s->h / s->K, columns = s->w / s->K, small = s->images * rows * columns,
                 large = s->images * s->h * s->w;
    assert_true(large < N);
    memset(y, 0x55, sizeof y), memset(dx, 0x55, sizeof dx);
    assert_ok(ulp_backend_upsample(b, y, x, s));
    ends(y, large);
    for (size_t i = 0; i < large; i++) {
        const size_t p = i / s->w % s->h / s->K, q = i % s->w / s->K, image = i / (s->h * s->w);
        const float right = p < rows && q < columns ? x[(image * rows + p) * columns + q] : 0.0f;
        if (ulp_bits32(y[i]) != ulp_bits32(right))
            fail_msg("%s: pixel %zu is %a, not %a", b->what, i, (double)y[i], (double)right);
    }
    assert_ok(ulp_backend_upsample_slope(b, dx, dy, s));
    for (size_t i = 0; i < small; i++) {
        const size_t p = i / columns % rows, q = i % columns, image = i / columns / rows;
        want[i] = sum_to_odd(dy + (image * s->h + p * s->K) * s->w + q * s->K, s->w, s->K);
    }
    same_doubles("sums of windows", b, small);
    ends64(small);
}

/* ---- all ---- */

static void check_all(const ulp_backend *b) {
    static const ulp_strided_windows strided[] = {{3, 7, 6, 3, 2, 0},  {40, 7, 6, 3, 2, 1},   {5, 4, 5, 2, 1, 1},
                                                  {30, 5, 5, 2, 3, 0}, {7, 2, 3, 4, 2, 3},    {600, 8, 8, 3, 2, 1},
                                                  {1, 1, 1, 1, 1, 0},  {1, 90, 70, 5, 1, 2},  {9, 3, 3, 4, 1, 0},
                                                  {2, 9, 4, 2, 5, 1},  {100, 16, 3, 3, 1, 1}, {0, 5, 5, 3, 2, 1}};
    static const ulp_windows up[] = {{3, 6, 8, 2}, {700, 8, 8, 4}, {1, 5, 5, 1},   {2, 100, 9, 3},
                                     {5, 7, 8, 3}, {4, 3, 3, 4},   {2, 64, 64, 7}, {0, 6, 6, 2}};
    for (size_t k = 0; k < COUNT_OF(strided); k++) {
        ulp_threads_set((int)(k % 3));
        check_strided(b, &strided[k]);
    }
    for (size_t k = 0; k < COUNT_OF(up); k++) {
        ulp_threads_set((int)(k % 3));
        check_upsample(b, &up[k]);
    }
    ulp_threads_set(0);
}

TEST(instruction_sets) {
    for (int any = 1; any >= 0; any--) {
        fill(x, 1, any);
        fill(dy, 2, any);
        on_every_instruction_set(check_all);
    }
}

/* A tail that decides a tie, large numbers that cancel, zeros of either sign, infinities. */
TEST(hard_sums) {
    static const struct {
        float dy[4];
        double sum;
    } cases[] = {{{1.0f, 0x1p-53f, 0x1p-100f, 0.0f}, 1.0 + 0x1p-52},
                 {{1.0f, 0x1p-53f, -0x1p-100f, 0.0f}, 1.0 + 0x1p-52},
                 {{0x1p100f, 1.0f, -0x1p100f, 0x1p-149f}, 1.0 + 0x1p-52},
                 {{0x1p100f, 0x1p-149f, -0x1p100f, 0}, 0x1p-149},
                 {{1.0f, -1.0f, 0.0f, -0.0f}, 0.0},
                 {{-0.0f, -0.0f, -0.0f, -0.0f}, -0.0},
                 {{INFINITY, 1.0f, 1.0f, INFINITY}, INFINITY},
                 {{INFINITY, -INFINITY, 1.0f, 1.0f}, NAN}};
    const ulp_windows one = {1, 2, 2, 2};
    const ulp_backend *b;
    assert_ok(ulp_backend_get(&b, "cpu"));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_ok(ulp_backend_upsample_slope(b, dx, cases[i].dy, &one));
        if (!same_result(dx[0], cases[i].sum)) fail_msg("case %zu: %a, not %a", i, dx[0], cases[i].sum);
    }
}

TESTS(NULL, NULL)
