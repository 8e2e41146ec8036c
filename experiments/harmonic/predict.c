/* predict.c - the term at which the sum of the harmonic series stops; harmonic.c gives the reasons. */
#include "harmonic.h"

int64_t predict(const ulp_format *format, int64_t limit) {
    double harmonic = 0;
    for (int64_t i = 1; i <= limit; i++) {
        harmonic += 1 / (double)i;
        if (harmonic > format->max) return 0;
        if (2 <= (double)i * ulp_spacing(harmonic, format)) return i;
    }
    return 0;
}
