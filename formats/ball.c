/* ball.c - numbers of many limbs with a bound on their error; see ball.h. */
#include "ball.h"
#include "number.h"

/* pi/2, from the limb of weight 2^-31 on */
static const uint32_t half_pi[] = {
    0xc90fdaa2u, 0x2168c234u, 0xc4c6628bu, 0x80dc1cd1u, 0x29024e08u, 0x8a67cc74u, 0x020bbea6u, 0x3b139b22u,
    0x514a0879u, 0x8e3404ddu, 0xef9519b3u, 0xcd3a431bu, 0x302b0a6du, 0xf25f1437u, 0x4fe1356du, 0x6d51c245u,
    0xe485b576u, 0x625e7ec6u, 0xf44c42e9u, 0xa637ed6bu, 0x0bff5cb6u, 0xf406b7edu, 0xee386bfbu, 0x5a899fa5u,
    0xae9f2411u, 0x7c4b1fe6u, 0x49286651u, 0xece45b3du, 0xc2007cb8u, 0xa163bf05u, 0x98da4836u, 0x1c55d39au,
    0x69163fa8u, 0xfd24cf5fu, 0x83655d23u, 0xdca3ad96u, 0x1c62f356u, 0x208552bbu, 0x9ed52907u, 0x7096966du,
    0x670c354eu, 0x4abc9804u, 0xf1746c08u, 0xca18217cu, 0x32905e46u, 0x2e36ce3bu, 0xe39e772cu, 0x180e8603u};

/* 2/pi, from the limb of weight 2^-32 on: enough for the largest binary64 number */
static const uint32_t two_over_pi[] = {
    0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u, 0xb7246e3au,
    0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu, 0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u,
    0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu, 0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu,
    0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u,
    0x56033046u, 0xfc7b6babu, 0xf0cfbc20u, 0x9af4361du, 0xa9e39161u, 0x5ee61b08u, 0x6599855fu, 0x14a06840u, 0x8dffd880u,
    0x4d732731u, 0x06061556u, 0xca73a8c9u, 0x60e27bc0u, 0x8c6b47c4u, 0x19c367cdu, 0xdce8092au, 0x8359c476u, 0x8b961ca6u,
    0xddaf44d1u, 0x5719053eu, 0xa5ff0705u, 0x3f7e33e8u, 0x32c2de4fu, 0x98327dbbu, 0xc33d26efu, 0x6b1e5ef8u, 0x9f3a1f35u,
    0xcaf27f1du, 0x87f12190u, 0x7c7c246au, 0xfa6ed577u, 0x2d30433bu, 0x15c614b5u, 0x9d19c3c2u, 0xc4ad414du, 0x2c5d000cu,
    0x467d862du, 0x71e39ac6u, 0x9b006233u, 0x7cd2b497u, 0xa7b4d555u, 0x37f63ed7u, 0x1810a3fcu, 0x764d2a9du};

/* log 2, from the limb of weight 2^-32 on */
static const uint32_t ln_2[] = {
    0xb17217f7u, 0xd1cf79abu, 0xc9e3b398u, 0x03f2f6afu, 0x40f34326u, 0x7298b62du, 0x8a0d175bu, 0x8baafa2bu,
    0xe7b87620u, 0x6debac98u, 0x559552fbu, 0x4afa1b10u, 0xed2eae35u, 0xc1382144u, 0x27573b29u, 0x1169b825u,
    0x3e96ca16u, 0x224ae8c5u, 0x1acbda11u, 0x317c387eu, 0xb9ea9bc3u, 0xb136603bu, 0x256fa0ecu, 0x7657f74bu,
    0x72ce87b1u, 0x9d6548cau, 0xf5dfa6bdu, 0x38303248u, 0x655fa187u, 0x2f20e3a2u, 0xda2d97c5u, 0x0f3fd5c6u,
    0x07f4ca11u, 0xfb5bfb90u, 0x610d30f8u, 0x8fe551a2u, 0xee569d6du, 0xfc1efa15u, 0x7d2e23deu, 0x1400b396u,
    0x17460775u, 0xdb8990e5u, 0xc943e732u, 0xb479cd33u, 0xcccc4e65u, 0x9393514cu, 0x4c1a1e0bu, 0xd1d6095du};

/* 1/sqrt(2 pi), from the limb of weight 2^-33 on */
static const uint32_t density_at_0[] = {
    0xcc42299eu, 0xa1b28468u, 0x7e59e280u, 0x5d5c717fu, 0xa7053e60u, 0xa24e0db1u, 0x808e3690u, 0x04c73a5du,
    0x3bf158aau, 0x88fa7b6eu, 0x47eba757u, 0x66e9d11bu, 0xd6284ef2u, 0xe17c2a26u, 0x4f1d3268u, 0x8be119ffu,
    0x30505c3fu, 0xb28f9c96u, 0x9d9b7adcu, 0xcb84672bu, 0x9596a89bu, 0xcd3dd465u, 0x84ed26f6u, 0x378aced2u,
    0x3839d891u, 0x058ef559u, 0xdfc3ece1u, 0x0653567fu, 0x91a55648u, 0x6bdc8b92u, 0x2a1884d7u, 0x769290fcu,
    0x901b1251u, 0xcc46245au, 0x46d2b32bu, 0x0547306eu, 0xd3ce6530u, 0xcb924327u, 0xda5310afu, 0x9703570eu,
    0xcb2acbd2u, 0x3ca290f5u, 0xfcc10e3au, 0x09431c86u, 0x5cd7feb2u, 0x98d2fdaau, 0x7f3a155eu, 0x0355121bu};

static void copy(uint32_t *to, const uint32_t *from, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) to[i] = from[i];
}

static void lose(ulp_ball *y) { y->radius = ULP_BALL_LOST; }

static void put_radius(ulp_ball *y, uint64_t radius) { y->radius = radius < ULP_BALL_LOST ? radius : ULP_BALL_LOST; }

/* radius top / 2^32 or a little more, where top + 1 bounds a mantissa from above. */
static uint64_t scaled(uint64_t radius, uint32_t top) {
    const uint64_t factor = (uint64_t)top + 1;
    return (radius >> 32) * factor + ((radius & 0xffffffffu) * factor >> 32) + 1;
}

/* radius 2^-count, or one more. */
static uint64_t shifted(uint64_t radius, uint32_t count) {
    return count > 60 ? radius > 0 : (radius >> count) + (uint64_t)((radius & ((1ull << count) - 1)) != 0);
}

/* The upper n limbs of x. */
static ulp_ball upper(const ulp_ball *x, uint32_t n) {
    ulp_ball y;
    const uint32_t less = x->n - n;
    y.n = n;
    y.neg = x->neg;
    y.exp = x->exp + 32 * (int32_t)less;
    copy(y.limb, x->limb + less, n);
    y.radius = x->radius;
    if (x->radius >= ULP_BALL_LOST || less == 0) return y;
    y.radius = shifted(x->radius, 32 * less) + 1;
    return y;
}

void ulp_ball_cut(ulp_ball *x, int32_t exp) {
    if (exp - x->exp < 32 || x->n == 2) return;
    const uint32_t less = (uint32_t)(exp - x->exp) / 32;
    *x = upper(x, less < x->n - 2 ? x->n - less : 2);
}

/* Drops the lowest limb of three or more. Returns the radius that was `radius` before. */
static uint64_t drop_limb(ulp_ball *y, uint64_t radius) {
    if (y->n == 2 || radius >= ULP_BALL_LOST) return radius;
    y->n--;
    for (uint32_t i = 0; i < y->n; i++) y->limb[i] = y->limb[i + 1];
    y->exp += 32;
    return (radius >> 32) + 2;
}

/* Moves the bits up until the top bit is set, and drops limbs that are 0 above. The radius is that of the limbs as they
 * are. */
static void normalise(ulp_ball *y, uint64_t radius) {
    uint32_t empty = 0, zeros = 0;
    while (empty < y->n && y->limb[y->n - 1 - empty] == 0) empty++;
    if (empty == y->n || (empty + 2 > y->n && radius > 0)) {
        y->limb[y->n - 1] = 0x80000000u;
        lose(y);
        return;
    }
    if (radius == 0) { /* an exact number keeps its limbs */
        for (uint32_t i = y->n; i-- > 0 && empty > 0;) y->limb[i] = i < empty ? 0 : y->limb[i - empty];
        y->exp -= 32 * (int32_t)empty;
    } else {
        y->n -= empty;
    }
    if (radius >> 28 != 0) radius = drop_limb(y, radius); /* the lowest limb tells nothing, or next to nothing */
    while (!(y->limb[y->n - 1] << zeros >> 31)) zeros++;
    if (zeros > 0) {
        for (uint32_t i = y->n; i-- > 1;) y->limb[i] = y->limb[i] << zeros | y->limb[i - 1] >> (32 - zeros);
        y->limb[0] <<= zeros;
    }
    y->exp -= (int32_t)zeros;
    radius = radius >= ULP_BALL_LOST >> zeros ? ULP_BALL_LOST : radius << zeros;
    put_radius(y, radius >> 32 != 0 ? drop_limb(y, radius) : radius);
}

void ulp_ball_of(ulp_ball *y, ulp_exact x, uint32_t n) {
    for (uint32_t i = 0; i < n - 4; i++) y->limb[i] = 0;
    for (uint32_t i = 0; i < 2; i++) {
        y->limb[n - 4 + i] = (uint32_t)(x.lo >> 32 * i);
        y->limb[n - 2 + i] = (uint32_t)(x.hi >> 32 * i);
    }
    y->n = n;
    y->neg = x.neg;
    y->exp = x.exp + 128 - 32 * (int32_t)n;
    y->radius = 0;
}

void ulp_ball_of_constant(ulp_ball *y, ulp_ball_constant constant, uint32_t n) {
    const uint32_t *const table = constant == ULP_HALF_PI ? half_pi : constant == ULP_LN_2 ? ln_2 : density_at_0;
    for (uint32_t i = 0; i < n; i++) y->limb[n - 1 - i] = table[i];
    y->n = n;
    y->neg = 0;
    y->exp = (constant == ULP_HALF_PI ? 1 : constant == ULP_LN_2 ? 0 : -1) - 32 * (int32_t)n;
    y->radius = 1;
}

double ulp_ball_near(const ulp_ball *x) {
    const uint64_t top = (uint64_t)x->limb[x->n - 1] << 32 | x->limb[x->n - 2];
    const double y = ulp_scale((double)(top >> 11), ulp_ball_top(x) - 52);
    return x->neg ? -y : y;
}

/* ---- sums ---- */

/* Limb i of x; those beyond its ends are zero. */
static uint64_t limb_at(const ulp_ball *x, int32_t i) { return i >= 0 && i < (int32_t)x->n ? x->limb[i] : 0; }

/* y (n) = x 2^-count for count > -32. Returns 1 if a bit that is set is lost. */
static uint32_t shift_right(uint32_t *y, uint32_t n, const ulp_ball *x, int32_t count) {
    const int32_t whole = count < 0 ? -1 : count / 32, bits = count - 32 * whole;
    uint32_t lost = 0;
    for (int32_t i = 0; i < whole && i < (int32_t)x->n; i++) lost |= x->limb[i];
    if (bits > 0) lost |= (uint32_t)limb_at(x, whole) << (32 - bits);
    for (uint32_t i = 0; i < n; i++) {
        const int32_t from = (int32_t)i + whole;
        y[i] = (uint32_t)((limb_at(x, from + 1) << 32 | limb_at(x, from)) >> bits);
    }
    return lost != 0;
}

/* y (n) += x. Returns the carry. */
static uint32_t add_limbs(uint32_t *y, const uint32_t *x, uint32_t n) {
    uint64_t carry = 0;
    for (uint32_t i = 0; i < n; i++) {
        carry += (uint64_t)y[i] + x[i];
        y[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return (uint32_t)carry;
}

/* y (n) = y - x, or x - y if it is negative. Returns 1 in the second case. */
static uint32_t subtract_limbs(uint32_t *y, const uint32_t *x, uint32_t n) {
    uint64_t borrow = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t d = (uint64_t)y[i] - x[i] - borrow;
        y[i] = (uint32_t)d;
        borrow = d >> 63;
    }
    if (!borrow) return 0;
    uint64_t carry = 1;
    for (uint32_t i = 0; i < n; i++) {
        carry += (uint32_t)~y[i];
        y[i] = (uint32_t)carry;
        carry >>= 32;
    }
    return 1;
}

void ulp_ball_add(ulp_ball *y, const ulp_ball *a, const ulp_ball *b) {
    if (ulp_ball_top(a) < ulp_ball_top(b)) {
        const ulp_ball *const c = a;
        a = b;
        b = c;
    }
    /* limbs of a whose weight is below the last bit of b tell nothing */
    const uint32_t less = b->exp > a->exp ? (uint32_t)(b->exp - a->exp) / 32 : 0;
    if (less + 2 > a->n || a->radius >= ULP_BALL_LOST || b->radius >= ULP_BALL_LOST) {
        *y = *a;
        lose(y);
        return;
    }
    ulp_ball sum = upper(a, a->n - less);
    uint32_t other[ULP_BALL_MOST];
    const int32_t count = sum.exp - b->exp; /* more than -32 */
    const uint64_t of_b = count >= 0             ? shifted(b->radius, (uint32_t)count)
                          : b->radius >> 32 != 0 ? ULP_BALL_LOST
                                                 : b->radius << -count;
    uint64_t radius = sum.radius + of_b + shift_right(other, sum.n, b, count);
    if (sum.neg != b->neg) {
        sum.neg ^= subtract_limbs(sum.limb, other, sum.n);
    } else if (add_limbs(sum.limb, other, sum.n)) {
        radius = shifted(radius, 1) + (sum.limb[0] & 1u);
        for (uint32_t i = 0; i + 1 < sum.n; i++) sum.limb[i] = sum.limb[i] >> 1 | sum.limb[i + 1] << 31;
        sum.limb[sum.n - 1] = sum.limb[sum.n - 1] >> 1 | 0x80000000u;
        sum.exp++;
    }
    normalise(&sum, radius);
    *y = sum;
}

/* ---- products and quotients ---- */

void ulp_ball_mul(ulp_ball *y, const ulp_ball *a, const ulp_ball *b) {
    const uint32_t n = a->n < b->n ? a->n : b->n;
    const uint32_t *const u = a->limb + (a->n - n), *const v = b->limb + (b->n - n);
    const uint64_t of_a = a->n > n ? shifted(a->radius, 32 * (a->n - n)) + 1 : a->radius;
    const uint64_t of_b = b->n > n ? shifted(b->radius, 32 * (b->n - n)) + 1 : b->radius;
    uint32_t w[2 * ULP_BALL_MOST];
    /* Left out are the products of limbs i and j with i + j < n - 2: less than 2 n 2^(32 (n - 1)) in all, and n < 2^30.
     */
    for (uint32_t i = 0; i < n; i++) w[i] = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t carry = 0;
        for (uint32_t j = v[i] == 0 ? n : i + 2 < n ? n - 2 - i : 0; j < n; j++) {
            carry += (uint64_t)u[j] * v[i] + w[i + j];
            w[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        w[i + n] = (uint32_t)carry;
    }
    /* 3: the lower half of the product, the products left out, and the product of the radii */
    const uint64_t radius = scaled(of_a, v[n - 1]) + scaled(of_b, u[n - 1]) + 3;
    const int is_lost = a->radius >= ULP_BALL_LOST || b->radius >= ULP_BALL_LOST || (n < 4 && (of_a | of_b) >> 31 != 0);
    y->neg = a->neg ^ b->neg;
    y->exp = a->exp + b->exp + 32 * (int32_t)(a->n - n + b->n - n + n);
    y->n = n;
    copy(y->limb, w + n, n);
    normalise(y, radius);
    if (is_lost) lose(y);
}

void ulp_ball_div(ulp_ball *y, const ulp_ball *a, const ulp_ball *b) {
    const uint32_t n = a->n < b->n ? a->n : b->n;
    const ulp_ball u = upper(a, n), v = upper(b, n);
    uint32_t w[2 * ULP_BALL_MOST + 1];
    for (uint32_t i = 0; i < n; i++) w[i] = 0;
    copy(w + n, u.limb, n);
    w[2 * n] = 0;
    for (uint32_t i = n + 1; i-- > 0;) w[i + n] = ulp_limb_divide(w + i, v.limb, n);
    y->neg = u.neg ^ v.neg;
    y->exp = u.exp - v.exp - 32 * (int32_t)n;
    y->n = n;
    copy(y->limb, w + n, n);
    if (w[2 * n]) { /* the quotient of the mantissas is 1 or more */
        for (uint32_t i = 0; i < n; i++) y->limb[i] = w[n + i] >> 1 | w[n + i + 1] << 31;
        y->exp++;
    }
    /* The mantissas lie in [2^(32 n - 1), 2^(32 n)), so that an error of a last bit of u or of v moves the quotient by
     * two of its last bits at most; one is cut off, and one is for the product of the radii. */
    put_radius(y, 2 * (u.radius + v.radius) + 4);
    if (u.radius >= ULP_BALL_LOST || v.radius >= ULP_BALL_LOST) lose(y);
}

void ulp_ball_times(ulp_ball *x, uint32_t k) {
    uint64_t carry = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        carry += (uint64_t)x->limb[i] * k;
        x->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    uint32_t bits = 0;
    while (carry >> bits != 0) bits++;
    if (bits > 0) {
        for (uint32_t i = 0; i + 1 < x->n; i++)
            x->limb[i] = (uint32_t)(((uint64_t)x->limb[i + 1] << 32 | x->limb[i]) >> bits);
        x->limb[x->n - 1] = (uint32_t)((carry << 32 | x->limb[x->n - 1]) >> bits);
    }
    x->exp += (int32_t)bits;
    put_radius(x, 2 * x->radius + 2); /* k 2^-bits <= 2, as the mantissa is at least half of its range */
}

void ulp_ball_over(ulp_ball *x, uint32_t k) {
    uint64_t rest = 0;
    for (uint32_t i = x->n; i-- > 0;) {
        rest = rest << 32 | x->limb[i];
        x->limb[i] = (uint32_t)(rest / k);
        rest %= k;
    }
    /* the next 32 bits of the quotient take the place of leading zeros */
    const uint32_t next = (uint32_t)((rest << 32) / k);
    uint32_t zeros = 0;
    while (zeros < 32 && !(x->limb[x->n - 1] << zeros >> 31)) zeros++;
    if (zeros > 0) {
        for (uint32_t i = x->n; i-- > 1;)
            x->limb[i] = (uint32_t)(((uint64_t)x->limb[i] << 32 | x->limb[i - 1]) << zeros >> 32);
        x->limb[0] = (uint32_t)(((uint64_t)x->limb[0] << 32 | next) << zeros >> 32);
    }
    x->exp -= (int32_t)zeros;
    const uint64_t radius = x->radius < 1ull << 28 ? (x->radius << zeros) / k : 2 * x->radius; /* 2^zeros < 2 k */
    put_radius(x, radius + 2);
}

/* ---- quadrants, and the result ---- */

uint32_t ulp_ball_quadrant(ulp_ball *r, ulp_exact x, uint32_t n) {
    enum { ROOM = ULP_BALL_MOST + 5 };
    const int32_t e = x.exp + 64; /* |x| = x.hi 2^e */
    if (e < -63) {                /* |x| < 1 */
        ulp_ball_of(r, x, n);
        return 0;
    }
    /* x.hi 2^e 2/pi modulo 4 needs the limbs of 2/pi with weights below 2^(2 - e); taken are n + 1 of them. */
    const uint32_t first = e > 2 ? (uint32_t)(e - 2) / 32 : 0, taken = n + 1 < ULP_BALL_MOST - 2 ? n + 1 : n;
    uint32_t w[ROOM] = {0};
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t carry = 0;
        for (uint32_t j = 0; j < taken; j++) {
            carry += (x.hi >> 32 * i & 0xffffffffu) * two_over_pi[first + taken - 1 - j] + w[i + j];
            w[i + j] = (uint32_t)carry;
            carry >>= 32;
        }
        w[i + taken] = (uint32_t)carry;
    }
    /* the product is w 2^-point; 2/pi lacks less than one unit of its last limb, and w less than 2^64 units */
    const uint32_t point = (uint32_t)(32 * (int32_t)(first + taken) - e), whole = point / 32, bits = point % 32;
    uint32_t q = (uint32_t)(((uint64_t)w[whole + 1] << 32 | w[whole]) >> bits) & 3u;
    const uint32_t half = bits > 0 ? w[whole] >> (bits - 1) & 1u : w[whole - 1] >> 31;
    w[whole] &= (1u << bits) - 1;
    for (uint32_t i = whole + 1; i < taken + 2; i++) w[i] = 0;
    r->neg = half ^ x.neg;
    if (half) { /* the fraction less 1 */
        uint32_t one[ROOM] = {0};
        one[whole] = 1u << bits;
        subtract_limbs(w, one, taken + 2);
        q = (q + 1) & 3u;
    }
    r->n = taken;
    r->exp = 64 - (int32_t)point;
    copy(r->limb, w + 2, taken);
    normalise(r, 2);
    ulp_ball factor;
    ulp_ball_of_constant(&factor, ULP_HALF_PI, n);
    ulp_ball_mul(r, r, &factor);
    return x.neg ? (4 - q) & 3u : q;
}

int ulp_ball_exact(ulp_exact *y, const ulp_ball *x) {
    uint64_t word[2] = {0, 0};
    for (uint32_t i = 0; i < 4 && i < x->n; i++) word[i / 2] |= (uint64_t)x->limb[x->n - 1 - i] << (i % 2 ? 0 : 32);
    *y = ulp_exact_pack(x->neg, word[0], word[1], 0, ulp_ball_top(x) - 127);
    if (x->n < 5 || x->radius >> (x->n == 5 ? 32 : 60) != 0) return 0;
    /* the bits below are neither all 0 nor all 1 anywhere in the ball */
    const uint32_t unit = x->n == 5 ? 32 : 0;
    const uint64_t low = x->n == 5 ? (uint64_t)x->limb[0] << 32 : (uint64_t)x->limb[1] << 32 | x->limb[0];
    const uint64_t radius = x->radius << unit;
    uint32_t all = UINT32_MAX, any = 0;
    for (uint32_t i = 2; i + 4 < x->n; i++) {
        all &= x->limb[i];
        any |= x->limb[i];
    }
    if ((any == 0 && low <= radius) || (all == UINT32_MAX && low + radius < low)) return 0;
    y->sticky = 1;
    return 1;
}
