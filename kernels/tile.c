/* tile.c - the largest tile of a matrix product. */
#include "backend.h"

static size_t tile_rows, tile_columns;

void ulp_tile_set(size_t rows, size_t columns) {
    tile_rows = rows;
    tile_columns = columns;
}

void ulp_tile_get(size_t *rows, size_t *columns) {
    *rows = tile_rows;
    *columns = tile_columns;
}
