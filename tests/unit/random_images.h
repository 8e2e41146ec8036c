/* random_images.h - a small set of random images, for trainings of every kind of layer. */
#ifndef ULP_TESTS_RANDOM_IMAGES_H
#define ULP_TESTS_RANDOM_IMAGES_H

#include "formats/rng.h"
#include "sim/data/data.h"

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

static inline void draw_images(void) {
    for (size_t i = 0; i < sizeof pixel; i++) pixel[i] = (uint8_t)(ulp_random_word((ulp_stream){9, 1, 0}, i) >> 24);
    for (size_t i = 0; i < SAMPLES; i++) label[i] = (uint8_t)(i % CLASSES);
}

#endif
