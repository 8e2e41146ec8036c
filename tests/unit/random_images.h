/* random_images.h - a small set of random images, and one of sequences of tokens, for trainings of every kind of layer.
 */
#ifndef ULP_TESTS_RANDOM_IMAGES_H
#define ULP_TESTS_RANDOM_IMAGES_H

#include "formats/rng.h"
#include "sim/data/data.h"
#include "sim/layers/layer.h"

enum { SAMPLES = 40, TRAIN = 24, SIDE = 4, CLASSES = 3 };

static uint8_t pixel[SAMPLES * SIDE * SIDE], label[SAMPLES];
static ulp_data images = {.name = "images",
                          .n = SAMPLES,
                          .n_train = TRAIN,
                          .dims = {1, SIDE, SIDE},
                          .features = SIDE * SIDE,
                          .classes = CLASSES,
                          .labels = 1,
                          .white = 255,
                          .pixel = pixel,
                          .label = label};

/* SIDE tokens each, numbers below CLASSES. */
static uint8_t token[SAMPLES * SIDE];
static ulp_data sentences = {.name = "sentences",
                             .n = SAMPLES,
                             .n_train = TRAIN,
                             .dims = {1, SIDE, 1},
                             .features = SIDE,
                             .classes = CLASSES,
                             .labels = 1,
                             .tokens = 1,
                             .white = 1,
                             .pixel = token,
                             .label = label};

/* The data that the example net of a kind reads. */
static inline const ulp_data *example_data(const ulp_layer_kind *kind) {
    return strncmp(kind->example, "embed", 5) == 0 ? &sentences : &images;
}

static inline void draw_images(void) {
    for (size_t i = 0; i < sizeof pixel; i++) pixel[i] = (uint8_t)(ulp_random_word((ulp_stream){9, 1, 0}, i) >> 24);
    for (size_t i = 0; i < sizeof token; i++) token[i] = (uint8_t)(pixel[i] % CLASSES);
    for (size_t i = 0; i < SAMPLES; i++) label[i] = (uint8_t)(i % CLASSES);
}

#endif
