/* gan_checkpoint.h - saving a run of two networks to a file, and loading the run from the file, as in checkpoint.h. */
#ifndef ULP_GAN_CHECKPOINT_H
#define ULP_GAN_CHECKPOINT_H

#include "gan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As ulp_checkpoint_save() and ulp_checkpoint_load(). */
ulp_status ulp_gan_save(const ulp_gan *gan, const char *path, const void *note, size_t note_bytes, char *error,
                        size_t error_size);
ulp_status ulp_gan_load(ulp_gan *gan, const char *path, void **note, size_t *note_bytes, char *error,
                        size_t error_size);

#ifdef __cplusplus
}
#endif
#endif
