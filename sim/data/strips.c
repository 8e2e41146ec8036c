/* strips.c - strips of 4 to 6 digits of the set digits; see strips.c. */
#include "sim/data/strip_images.h"

extern const ulp_data_kind ulp_data_digits, ulp_data_strips;

static ulp_status load(ulp_data *data, const char *folder, uint64_t seed, char *error, size_t error_size) {
    static const ulp_strips strips = {&ulp_data_digits, "strips", 2000, 500};
    return ulp_strips_load(data, &strips, folder, seed, error, error_size);
}

const ulp_data_kind ulp_data_strips = {"strips", "strips of 4 to 6 joined digits, labels in order", 1, load};
