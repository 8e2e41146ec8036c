/* walled_network.c - the operations of networks between products, as operations of the walled backend. */
#include "walled_inside.h"

static ulp_status narrow(float *y, const double *x, size_t n) {
    walled_enter();
    walled_inside("narrow", y, n * sizeof *y);
    walled_inside("narrow", x, n * sizeof *x);
    return walled_left(walled_open()->narrow(y, x, n));
}

static ulp_status scale(double *y, const double *x, size_t n, double factor) {
    walled_enter();
    walled_inside("scale", y, n * sizeof *y);
    walled_inside("scale", x, n * sizeof *x);
    return walled_left(walled_open()->scale(y, x, n, factor));
}

static ulp_status relu(float *y, const float *x, size_t n) {
    walled_enter();
    walled_inside("relu", y, n * sizeof *y);
    walled_inside("relu", x, n * sizeof *x);
    return walled_left(walled_open()->relu(y, x, n));
}

static ulp_status relu_slope(float *dx, const float *dy, const float *y, size_t n) {
    walled_enter();
    walled_inside("relu_slope", dx, n * sizeof *dx);
    walled_inside("relu_slope", dy, n * sizeof *dy);
    walled_inside("relu_slope", y, n * sizeof *y);
    return walled_left(walled_open()->relu_slope(dx, dy, y, n));
}

static ulp_status activate(double *y, const float *x, size_t n, ulp_activation f) {
    walled_enter();
    walled_inside("activate", y, n * sizeof *y);
    walled_inside("activate", x, n * sizeof *x);
    return walled_left(walled_open()->activate(y, x, n, f));
}

static ulp_status activate_slope(double *dx, const float *dy, const float *at, size_t n, ulp_activation f) {
    walled_enter();
    walled_inside("activate_slope", dx, n * sizeof *dx);
    walled_inside("activate_slope", dy, n * sizeof *dy);
    walled_inside("activate_slope", at, n * sizeof *at);
    return walled_left(walled_open()->activate_slope(dx, dy, at, n, f));
}

static ulp_status pool(float *y, float *place, const float *x, const ulp_windows *s) {
    walled_enter();
    walled_outside("pool", s, sizeof *s);
    walled_inside("pool", y, s->images * (s->h / s->K) * (s->w / s->K) * sizeof *y);
    walled_inside("pool", place, s->images * (s->h / s->K) * (s->w / s->K) * sizeof *place);
    walled_inside("pool", x, s->images * s->h * s->w * sizeof *x);
    return walled_left(walled_open()->pool(y, place, x, s));
}

static ulp_status pool_slope(float *dx, const float *dy, const float *place, const ulp_windows *s) {
    walled_enter();
    walled_outside("pool_slope", s, sizeof *s);
    walled_inside("pool_slope", dx, s->images * s->h * s->w * sizeof *dx);
    walled_inside("pool_slope", dy, s->images * (s->h / s->K) * (s->w / s->K) * sizeof *dy);
    walled_inside("pool_slope", place, s->images * (s->h / s->K) * (s->w / s->K) * sizeof *place);
    return walled_left(walled_open()->pool_slope(dx, dy, place, s));
}

/* The number of windows of all images. */
static size_t strided_windows(const ulp_strided_windows *s) {
    return s->images * ulp_strided_count(s->h, s) * ulp_strided_count(s->w, s);
}

static ulp_status pool_strided(float *y, float *place, const float *x, const ulp_strided_windows *s) {
    walled_enter();
    walled_outside("pool_strided", s, sizeof *s);
    walled_inside("pool_strided", y, strided_windows(s) * sizeof *y);
    walled_inside("pool_strided", place, strided_windows(s) * sizeof *place);
    walled_inside("pool_strided", x, s->images * s->h * s->w * sizeof *x);
    return walled_left(walled_open()->pool_strided(y, place, x, s));
}

static ulp_status pool_strided_slope(double *dx, const float *dy, const float *place, const ulp_strided_windows *s) {
    walled_enter();
    walled_outside("pool_strided_slope", s, sizeof *s);
    walled_inside("pool_strided_slope", dx, s->images * s->h * s->w * sizeof *dx);
    walled_inside("pool_strided_slope", dy, strided_windows(s) * sizeof *dy);
    walled_inside("pool_strided_slope", place, strided_windows(s) * sizeof *place);
    return walled_left(walled_open()->pool_strided_slope(dx, dy, place, s));
}

static ulp_status average(double *y, const float *x, const ulp_windows *s) {
    walled_enter();
    walled_outside("average", s, sizeof *s);
    walled_inside("average", y, s->images * (s->h / s->K) * (s->w / s->K) * sizeof *y);
    walled_inside("average", x, s->images * s->h * s->w * sizeof *x);
    return walled_left(walled_open()->average(y, x, s));
}

static ulp_status average_slope(double *dx, const float *dy, const ulp_windows *s) {
    walled_enter();
    walled_outside("average_slope", s, sizeof *s);
    walled_inside("average_slope", dx, s->images * s->h * s->w * sizeof *dx);
    walled_inside("average_slope", dy, s->images * (s->h / s->K) * (s->w / s->K) * sizeof *dy);
    return walled_left(walled_open()->average_slope(dx, dy, s));
}

static ulp_status upsample(float *y, const float *x, const ulp_windows *s) {
    walled_enter();
    walled_outside("upsample", s, sizeof *s);
    walled_inside("upsample", y, s->images * s->h * s->w * sizeof *y);
    walled_inside("upsample", x, s->images * (s->h / s->K) * (s->w / s->K) * sizeof *x);
    return walled_left(walled_open()->upsample(y, x, s));
}

static ulp_status upsample_slope(double *dx, const float *dy, const ulp_windows *s) {
    walled_enter();
    walled_outside("upsample_slope", s, sizeof *s);
    walled_inside("upsample_slope", dx, s->images * (s->h / s->K) * (s->w / s->K) * sizeof *dx);
    walled_inside("upsample_slope", dy, s->images * s->h * s->w * sizeof *dy);
    return walled_left(walled_open()->upsample_slope(dx, dy, s));
}

static ulp_status norm_statistics(double *to, const float *x, ulp_channels s) {
    walled_enter();
    walled_inside("norm_statistics", to, 2 * s.c * sizeof *to);
    walled_inside("norm_statistics", x, s.B * s.c * s.n * sizeof *x);
    return walled_left(walled_open()->norm_statistics(to, x, s));
}

static ulp_status norm_running(double *to, const float *running, const float *batch, ulp_channels s) {
    walled_enter();
    walled_inside("norm_running", to, 2 * s.c * sizeof *to);
    walled_inside("norm_running", running, 2 * s.c * sizeof *running);
    walled_inside("norm_running", batch, 2 * s.c * sizeof *batch);
    return walled_left(walled_open()->norm_running(to, running, batch, s));
}

static ulp_status norm(double *y, const float *x, ulp_norm by) {
    const ulp_channels s = by.shape;
    walled_enter();
    walled_inside("norm", y, s.B * s.c * s.n * sizeof *y);
    walled_inside("norm", x, s.B * s.c * s.n * sizeof *x);
    walled_inside("norm", by.statistics, 2 * s.c * sizeof *by.statistics);
    walled_inside("norm", by.w, 2 * s.c * sizeof *by.w);
    return walled_left(walled_open()->norm(y, x, by));
}

static ulp_status norm_sums(double *sums, const float *dy, const float *x, ulp_norm by) {
    const ulp_channels s = by.shape;
    walled_enter();
    walled_inside("norm_sums", sums, 2 * s.c * sizeof *sums);
    walled_inside("norm_sums", dy, s.B * s.c * s.n * sizeof *dy);
    walled_inside("norm_sums", x, s.B * s.c * s.n * sizeof *x);
    walled_inside("norm_sums", by.statistics, 2 * s.c * sizeof *by.statistics);
    return walled_left(walled_open()->norm_sums(sums, dy, x, by));
}

static ulp_status norm_slope(double *dx, const float *dy, const float *x, const double *sums, ulp_norm by) {
    const ulp_channels s = by.shape;
    walled_enter();
    walled_inside("norm_slope", dx, s.B * s.c * s.n * sizeof *dx);
    walled_inside("norm_slope", dy, s.B * s.c * s.n * sizeof *dy);
    walled_inside("norm_slope", x, s.B * s.c * s.n * sizeof *x);
    walled_inside("norm_slope", sums, 2 * s.c * sizeof *sums);
    walled_inside("norm_slope", by.statistics, 2 * s.c * sizeof *by.statistics);
    walled_inside("norm_slope", by.w, 2 * s.c * sizeof *by.w);
    return walled_left(walled_open()->norm_slope(dx, dy, x, sums, by));
}

static ulp_status dropout(double *y, const float *x, size_t n, ulp_dropout how) {
    walled_enter();
    walled_inside("dropout", y, n * sizeof *y);
    walled_inside("dropout", x, n * sizeof *x);
    return walled_left(walled_open()->dropout(y, x, n, how));
}

static ulp_status softmax(double *p, double *loss, const float *z, ulp_labels of) {
    walled_enter();
    walled_inside("softmax", p, of.B * of.C * sizeof *p);
    walled_inside("softmax", loss, of.B * sizeof *loss);
    walled_inside("softmax", z, of.B * of.C * sizeof *z);
    walled_inside("softmax", of.label, of.B);
    return walled_left(walled_open()->softmax(p, loss, z, of));
}

static ulp_status softmax_slope(double *dz, const float *p, ulp_labels of, double scale) {
    walled_enter();
    walled_inside("softmax_slope", dz, of.B * of.C * sizeof *dz);
    walled_inside("softmax_slope", p, of.B * of.C * sizeof *p);
    walled_inside("softmax_slope", of.label, of.B);
    return walled_left(walled_open()->softmax_slope(dz, p, of, scale));
}

void walled_add_network(ulp_backend *table) {
    table->narrow = narrow;
    table->scale = scale;
    table->relu = relu;
    table->relu_slope = relu_slope;
    table->activate = activate;
    table->activate_slope = activate_slope;
    table->pool = pool;
    table->pool_slope = pool_slope;
    table->pool_strided = pool_strided;
    table->pool_strided_slope = pool_strided_slope;
    table->average = average;
    table->average_slope = average_slope;
    table->upsample = upsample;
    table->upsample_slope = upsample_slope;
    table->norm_statistics = norm_statistics;
    table->norm_running = norm_running;
    table->norm = norm;
    table->norm_sums = norm_sums;
    table->norm_slope = norm_slope;
    table->dropout = dropout;
    table->softmax = softmax;
    table->softmax_slope = softmax_slope;
}
