/* tensor.cpp - Tensor Cores of the emulated device: an instruction gives the results of a row of datapath_rows.c.
 *
 * The place of an element in the registers is written here a second time: this file says which lane holds element
 * (i,k), and kernels/cuda/fragments.h says what lane l holds. The row of each instruction on each device is also
 * written a second time. A mistake in one of the two texts makes tests fail. */
#include "tensor.h"

#include <map>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- models ---- */

namespace tensor {

void fail(const std::string &text) {
    fprintf(stderr, "emulated device: %s\n", text.c_str());
    abort();
}

std::string project_name(const std::string &type) { return type == "f16" ? "fp16" : type; }

static std::vector<double> values_of(const ulp_format *f) {
    std::vector<double> values(f->bits <= 16 ? (size_t)1 << f->bits : 0);
    for (size_t code = 0; code < values.size(); code++) values[code] = ulp_decode(code, f);
    return values;
}

void choose_row(instruction *i, const std::string &name, const std::string &text) {
    const char *settings = getenv("EMULATED_SETTINGS"); /* for tests: the device differs from its model */
    memset(&i->path, 0, sizeof i->path);
    if ((settings == nullptr || ulp_datapath_parse(&i->path, (name + settings).c_str()) != ULP_OK) &&
        ulp_datapath_parse(&i->path, name.c_str()) != ULP_OK)
        fail(text + ": no row " + name);
    i->a_values = values_of(&i->path.a);
    i->b_values = values_of(&i->path.b);
}

unsigned size_of(const ulp_format *f) { return f->bits == 19 ? 4 : f->bits / 8u; }

template <typename word>
static void read_values(double *x, const unsigned char *bytes, unsigned k, const double *values) {
    for (unsigned i = 0; i < k; i++) {
        word code;
        memcpy(&code, bytes + i * sizeof code, sizeof code);
        x[i] = values[code];
    }
}

void read_row(double *x, const unsigned char *bytes, unsigned k, const ulp_format *f, const double *values) {
    if (f->bits == 8) read_values<uint8_t>(x, bytes, k, values);
    else if (f->bits == 16) read_values<uint16_t>(x, bytes, k, values);
    else
        for (unsigned i = 0; i < k; i++) {
            uint32_t code;
            memcpy(&code, bytes + 4 * i, 4);
            x[i] = ulp_decode(code >> 13, f);
        }
}

uint64_t dot(const instruction &in, uint64_t c, const ulp_products &products) {
    const ulp_stream none = {0, 0, 0};
    uint64_t code;
    if (ulp_datapath_code(&code, ulp_dot(&in.path, ulp_decode(c, &in.path.result), products, none), &in.path) != ULP_OK)
        fail("a result has no code");
    return code;
}

} // namespace tensor

using namespace tensor;

/* ---- mma.sync ---- */

namespace {

bool is_byte(const std::string &type) { return type == "e4m3" || type == "e5m2" || type == "s8"; }

/* The name of the row that an instruction mma.sync has on this device. */
std::string mma_row(const instruction &i) {
    const int capability = ulp_emulated_capability();
    std::string name = project_name(i.a);
    if (i.a != i.b) name += "." + i.b;
    if (i.result == "f16") name += "-fp16";
    if (capability == 89) return "l40s-" + name;
    if (capability < 90) return "a100-" + name;
    if (capability < 100) {
        if (is_byte(i.a)) return "h100-" + name + "-mma";
        if (i.a == "tf32") return i.k == 4 ? "h100-tf32-k4" : "h100-tf32";
        return i.k == 8 ? "h100-" + name + "-k8" : "h100-" + name;
    }
    if (capability < 120) /* nobody has measured instructions with half of k; they are taken to be as on Hopper */
        return i.k == 16 || (i.a == "tf32" && i.k == 8) || is_byte(i.a) ? "b200-" + name + "-mma"
                                                                        : "h100-" + name + (i.k == 4 ? "-k4" : "-k8");
    return "rtx5090-" + name;
}

instruction read_mma(const std::string &text) {
    instruction i;
    char result[8], a[8], b[8], c[8];
    unsigned k;
    const std::string plain =
        text.find(".satfinite") == std::string::npos ? text : std::string(text).erase(text.find(".satfinite"), 10);
    if (sscanf(plain.c_str(), "m16n8k%u.row.col.%7[a-z0-9].%7[a-z0-9].%7[a-z0-9].%7[a-z0-9]", &k, result, a, b, c) != 5)
        fail(text + ": not read");
    i.k = k;
    i.result = result;
    i.a = a;
    i.b = b;
    i.saturates = plain != text;
    i.exact = i.a == "s8";
    if (strcmp(result, c) != 0) fail(text + ": C and D differ");
    if ((i.a == "e4m3" || i.a == "e5m2") && ulp_emulated_capability() < 89) fail(text + ": this device has no fp8");
    choose_row(&i, i.exact ? (i.saturates ? "int8:sat" : "int8") : mma_row(i), text);
    return i;
}

const instruction &mma_of(const char *text) {
    static std::map<std::string, instruction> known;
    const auto at = known.find(text);
    return at != known.end() ? at->second : known.emplace(text, read_mma(text)).first->second;
}

/* The registers of a lane: four of A, two of B. */
struct operands {
    uint32_t a[4], b[2];
};

unsigned char byte_of(uint32_t reg, unsigned i) { return (unsigned char)(reg >> (8 * i)); }

/* to (bytes) = row i of A, or column j of B, from the registers of all lanes. */
void row_of_a(unsigned char *to, const operands *all, unsigned i, unsigned bytes) {
    for (unsigned at = 0; at < bytes; at++)
        to[at] = byte_of(all[i % 8 * 4 + at % 16 / 4].a[i / 8 + at / 16 * 2], at % 4);
}
void row_of_b(unsigned char *to, const operands *all, unsigned j, unsigned bytes) {
    for (unsigned at = 0; at < bytes; at++) to[at] = byte_of(all[j * 4 + at % 16 / 4].b[at / 16], at % 4);
}

/* The code of c + a (k) b (k). */
uint64_t dot_of(const instruction &in, uint64_t c, const unsigned char *a, const unsigned char *b) {
    double x[64], y[64];
    read_row(x, a, in.k, &in.path.a, in.a_values.data());
    read_row(y, b, in.k, &in.path.b, in.b_values.data());
    return dot(in, c, {x, y, in.k, nullptr, nullptr});
}

} // namespace

void ulp_emulated_mma(const char *text, uint32_t *d, const uint32_t *a, const uint32_t *b) {
    const instruction &in = mma_of(text);
    const unsigned bytes = in.k * size_of(&in.path.a), lane = ulp_emulated_lane();
    operands mine = {{0, 0, 0, 0}, {0, 0}}, all[32];
    if (bytes != 16 && bytes != 32) fail(std::string(text) + ": rows of another length");
    memcpy(mine.a, a, bytes / 2);
    memcpy(mine.b, b, bytes / 4);
    ulp_emulated_exchange(all, &mine, sizeof mine);
    const bool half = in.result == "f16";
    for (unsigned i = 0; i < 16; i++)
        for (unsigned j = 0; j < 8; j++) {
            if (lane != i % 8 * 4 + j / 2) continue;
            unsigned char x[32], y[32];
            row_of_a(x, all, i, bytes);
            row_of_b(y, all, j, bytes);
            if (half) {
                uint32_t *to = &d[i / 8];
                const unsigned shift = j % 2 * 16;
                const uint64_t code = dot_of(in, *to >> shift & 0xffffu, x, y);
                *to = (*to & ~(0xffffu << shift)) | (uint32_t)code << shift;
            } else {
                uint32_t *to = &d[i / 8 * 2 + j % 2];
                *to = (uint32_t)dot_of(in, *to, x, y);
            }
        }
}

/* A chain of fused multiply-adds over ascending k. */
void ulp_emulated_mma64(const char *text, double *d, double a, double b) {
    struct pair {
        double a, b;
    } mine = {a, b}, all[32];
    if (strcmp(text, "m8n8k4.row.col.f64.f64.f64.f64") != 0) fail(std::string(text) + ": not read");
    ulp_emulated_exchange(all, &mine, sizeof mine);
    const unsigned lane = ulp_emulated_lane();
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = 0; j < 8; j++)
            for (unsigned k = 0; lane == 4 * i + j / 2 && k < 4; k++)
                d[j % 2] = __builtin_fma(all[4 * i + k].a, all[4 * j + k].b, d[j % 2]);
}
