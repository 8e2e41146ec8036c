/* mnist_strips.c - strips of 4 to 6 digits of MNIST; see strips.c. */
#include "sim/data/strip_images.h"

extern const ulp_data_kind ulp_data_mnist, ulp_data_mnist_strips;

static ulp_status load(ulp_data *data, const char *folder, uint64_t seed, char *error, size_t error_size) {
    static const ulp_strips strips = {&ulp_data_mnist, "mnist-strips", 12000, 2000};
    return ulp_strips_load(data, &strips, folder, seed, error, error_size);
}

const ulp_data_kind ulp_data_mnist_strips = {"mnist-strips", "strips of 4 to 6 joined digits of MNIST, labels in order",
                                             0, load};
