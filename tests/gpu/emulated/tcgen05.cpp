/* tcgen05.cpp - tcgen05 of the emulated device: tensor memory, and instructions that are carried out early or late.
 *
 * The fields of descriptors and the places of operands, scales and results are written here a second time;
 * kernels/cuda/fragments.h has the first text. The results are those of rows of datapath_rows.c. */
#include "tensor.h"

#include <deque>
#include <map>
#include <stdlib.h>
#include <string.h>

using namespace tensor;

namespace {

/* ---- tensor memory ---- */

enum { LANES = 128, COLUMNS = 512 };
uint32_t cells[LANES][COLUMNS];
bool taken[COLUMNS];
bool relinquished; /* no warp of the block may take columns any more */

uint32_t &cell(unsigned lane, unsigned column) {
    if (lane >= LANES || column >= COLUMNS || !taken[column]) fail("tensor memory that the block does not have");
    return cells[lane][column];
}

/* What a thread still owes. */
struct debts {
    bool waited;       /* a wait for instructions without ulp_tensor_after */
    bool used;         /* loads or stores without ulp_tensor_before */
    unsigned barriers; /* barriers of the block before the last ulp_tensor_after */
    struct store {
        unsigned lane, column;
        uint32_t value;
    };
    std::vector<store> stores; /* not waited for */
    struct load {
        uint32_t *to;
        uint32_t value;
    };
    std::vector<load> loads;
};
debts threads[1024];

void check_after(const char *what) {
    const debts &t = threads[threadIdx.x];
    if (t.waited || t.barriers != ulp_emulated_barriers)
        fail(std::string(what) + ": no tcgen05.fence::after_thread_sync before it");
}

/* No thread may have used tensor memory without a fence before the barrier. */
void check_before(const char *what) {
    for (unsigned i = 0; i < blockDim.x; i++)
        if (threads[i].used) fail(std::string(what) + ": a thread had no tcgen05.fence::before_thread_sync");
}

/* ---- instructions ---- */

struct kind {
    const char *text, *unit, *scale;
    unsigned k, scales; /* scales of a row */
};
const kind kinds[] = {{"f16", "", "", 16, 0},
                      {"tf32", "", "", 8, 0},
                      {"f8f6f4", "", "", 32, 0},
                      {"i8", "", "", 32, 0},
                      {"mxf8f6f4.block_scale.scale_vec::1X", "-mx", "e8m0", 32, 1},
                      {"mxf4.block_scale.scale_vec::2X", "-mxf4", "e8m0", 64, 2},
                      {"mxf4nvf4.block_scale.scale_vec::4X", "-nvf4", "e4m3", 64, 4}};

/* An instruction as its kind and its descriptor say. */
struct meaning {
    instruction in;
    const kind *what;
    unsigned n, a_id, b_id;
    ulp_format scale;
};

std::string type_of(const kind *k, unsigned code) {
    const std::string text = k->text;
    if (text == "f16" && code < 2) return code == 0 ? "fp16" : "bf16";
    if (text == "tf32" && code == 2) return "tf32";
    if (text == "i8" && code == 1) return "int8";
    if (k->k == 64 && code == 1) return "e2m1";
    const char *const narrow[] = {"e4m3", "e5m2", "", "e2m3", "e3m2", "e2m1", "", ""};
    if (k->k != 32 || text == "i8" || narrow[code][0] == '\0') fail(text + ": no such type of A or B");
    return narrow[code];
}

unsigned field(uint32_t word, unsigned first, unsigned bits) { return word >> first & ((1u << bits) - 1); }

meaning read_meaning(const std::string &text, uint32_t d) {
    meaning m = {};
    for (const kind &k : kinds)
        if (text == k.text) m.what = &k;
    if (m.what == nullptr) fail(text + ": not read");
    if (ulp_emulated_capability() != 100) fail(text + ": this device has no tcgen05");
    const bool scaled = m.what->scales != 0;
    m.n = field(d, 17, 6) * 8;
    if (field(d, 24, 5) * 16 != 128 || m.n < 16 || m.n > 256 || m.n % 16 != 0) fail(text + ": M and N");
    if (field(d, 0, 3) != 0 || field(d, 6, 1) != 0 || field(d, 13, 4) != 0)
        fail(text + ": a field that has to be 0 here");
    m.in.k = m.what->k;
    m.in.a = type_of(m.what, field(d, 7, 3));
    m.in.b = type_of(m.what, field(d, 10, 3));
    std::string name = "b200-" + m.in.a + (m.in.a != m.in.b ? "." + m.in.b : "");
    if (scaled) {
        m.b_id = field(d, 4, 2);
        m.a_id = field(d, 29, 2);
        if (field(d, 3, 1) != 0 || field(d, 31, 1) != 0 || m.a_id % m.what->scales != 0 ||
            m.b_id % m.what->scales != 0 || (field(d, 23, 1) == 1) != (strcmp(m.what->scale, "e8m0") == 0))
            fail(text + ": scales");
        if (ulp_format_parse(&m.scale, m.what->scale) != ULP_OK) fail(text + ": no format of scales");
        name += m.what->unit;
    } else {
        const unsigned type = field(d, 4, 2);
        const bool whole = m.in.a == "int8";
        if (field(d, 23, 1) != 0 || field(d, 29, 3) != 0 || (type == 2) != whole || type > 2 ||
            (type == 0 && (m.in.a == "bf16" || m.in.a == "tf32")) || (field(d, 3, 1) != 0 && !whole))
            fail(text + ": the type of D");
        if (whole) name = field(d, 3, 1) != 0 ? "int8:sat" : "int8";
        else if (type == 0) name += "-fp16";
    }
    choose_row(&m.in, name, text);
    return m;
}

const meaning &meaning_of(const std::string &text, uint32_t descriptor) {
    static std::map<std::pair<std::string, uint32_t>, meaning> known;
    const std::pair<std::string, uint32_t> key(text, descriptor);
    const auto at = known.find(key);
    return at != known.end() ? at->second : known.emplace(key, read_meaning(text, descriptor)).first->second;
}

/* The values x (k) of codes in 32 bytes. Each 16 bytes begin with half of the codes, one after the other from the
 * lowest bit on; a code of tf32 has the upper 19 of 32 bits. */
void read_codes(double *x, const unsigned char *bytes, unsigned k, const ulp_format *f, const double *values) {
    const unsigned width = f->bits == 19 ? 32 : f->bits;
    for (unsigned i = 0; i < k; i++) {
        const unsigned bit = i % (k / 2) * width;
        uint64_t word = 0;
        unsigned char half[24] = {0};
        memcpy(half, bytes + i / (k / 2) * 16, 16);
        memcpy(&word, half + bit / 8, 8);
        const uint32_t code = (uint32_t)(word >> bit % 8) & (uint32_t)((1ull << width) - 1);
        x[i] = f->bits == 19 ? ulp_decode(code >> 13, f) : values[code];
    }
}

struct work {
    enum { INSTRUCTION, COPY, COMMIT } type;
    const meaning *what;
    uint32_t d, a_scales, b_scales;
    uint64_t a, b;
    bool keep;
    uint64_t *barrier;
};

/* scales (what->scales) of row `row` of A or column `row` of B, for results in lane `lane`: every 32 lanes have them.
 */
void read_scales(double *scales, const meaning &m, uint32_t address, unsigned id, unsigned row, unsigned lane) {
    const uint32_t word = cell(lane / 32 * 32 + row % 32, (address & 0xffff) + row / 32);
    for (unsigned s = 0; s < m.what->scales; s++) {
        const unsigned code = word >> (8 * (id + s)) & 0xff;
        scales[s] = ulp_decode(m.scale.is_signed ? code & 0x7f : code, &m.scale);
    }
}

void carry_out(const work &w) {
    const meaning &m = *w.what;
    const unsigned k = m.in.k;
    std::vector<double> b((size_t)m.n * k);
    unsigned char bytes[32];
    if (w.a >> 46 != 1 || w.b >> 46 != 1) fail("a descriptor of tcgen05 with a swizzle, an offset or another constant");
    if (w.d >> 16 != 0) fail("D does not begin in lane 0");
    for (unsigned j = 0; j < m.n; j++) {
        operand_row(bytes, w.b, j);
        read_codes(&b[(size_t)j * k], bytes, k, &m.in.path.b, m.in.b_values.data());
    }
    for (unsigned i = 0; i < LANES; i++) {
        double a[64], a_scales[4], b_scales[4];
        operand_row(bytes, w.a, i);
        read_codes(a, bytes, k, &m.in.path.a, m.in.a_values.data());
        if (m.what->scales != 0) read_scales(a_scales, m, w.a_scales, m.a_id, i, i);
        for (unsigned j = 0; j < m.n; j++) {
            uint32_t &to = cell(i, w.d + j);
            ulp_products products = {a, &b[(size_t)j * k], k, nullptr, nullptr};
            if (m.what->scales != 0) {
                read_scales(b_scales, m, w.b_scales, m.b_id, j, i);
                products.a_scales = a_scales;
                products.b_scales = b_scales;
            }
            const uint32_t mask = m.in.path.result.bits == 16 ? 0xffffu : 0xffffffffu;
            to = (uint32_t)dot(m.in, w.keep ? to & mask : 0, products) | (0xbad00000u & ~mask);
        }
    }
}

/* 32 rows of 16 bytes to the lanes of each warp and four columns. */
void copy_scales(const work &w) {
    const unsigned base = (unsigned)(w.b & 0x3fff) << 4, stride = (unsigned)(w.b >> 32 & 0x3fff) << 4;
    if (w.b >> 46 != 1 || w.d >> 16 != 0) fail("tcgen05.cp: a descriptor or an address");
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned word = 0; word < 4; word++) {
            const unsigned row = lane % 32;
            memcpy(&cell(lane, w.d + word), shared_bytes(base + row / 8 * stride + row % 8 * 16 + word * 4), 4);
        }
}

/* ---- the order of work ---- */

std::deque<work> waiting; /* in the order of the program */

/* A block carries out its work at once, or as late as it may, or its copies of scales at once and its instructions
 * late. The choice depends on the number of the block. */
enum { AT_ONCE, LATE, COPIES_FIRST } pace;
unsigned blocks;

void choose_pace(void) {
    const unsigned choice = (blocks++ * 2654435761u >> 16) % 3;
    pace = choice == 0 ? AT_ONCE : choice == 1 ? LATE : COPIES_FIRST;
}

void do_first(void) {
    const work w = waiting.front();
    waiting.pop_front();
    if (w.type == work::INSTRUCTION) carry_out(w);
    else if (w.type == work::COPY) copy_scales(w);
    else instructions_arrive(w.barrier);
}

void do_all(void) {
    while (!waiting.empty()) do_first();
}

void check_begin(const char *what) {
    check_after(what);
    check_before(what);
}

unsigned own_lane(uint32_t address) {
    if (address >> 16 != threadIdx.x / 32 % 4 * 32) fail("lanes of tensor memory that belong to another warp");
    return (address >> 16) + threadIdx.x % 32;
}

} // namespace

void ulp_emulated_tensor_alloc(uint32_t *to, uint32_t columns) {
    __syncwarp();
    if (threadIdx.x % 32 != 0) return;
    if (columns < 32 || columns > 512 || (columns & (columns - 1)) != 0) fail("tcgen05.alloc: the number of columns");
    if (relinquished) fail("tcgen05.alloc after tcgen05.relinquish_alloc_permit");
    unsigned first = 0;
    while (first < COLUMNS && taken[first]) first += 32;
    if (first + columns > COLUMNS) fail("tcgen05.alloc would wait for ever");
    for (unsigned c = first; c < first + columns; c++) {
        taken[c] = true;
        for (auto &lane : cells) lane[c] = 0xbadbadbau;
    }
    relinquished = true;
    choose_pace();
    *to = first;
    for (unsigned i = 0; i < blockDim.x; i++) threads[i] = debts();
}

void ulp_emulated_tensor_free(uint32_t base, uint32_t columns) {
    check_after("tcgen05.dealloc");
    check_before("tcgen05.dealloc");
    __syncwarp();
    if (threadIdx.x % 32 != 0) return;
    if (!waiting.empty()) fail("tcgen05.dealloc: instructions are not done");
    for (unsigned c = base; c < base + columns; c++) {
        (void)cell(0, c);
        taken[c] = false;
    }
}

/* Called by the runtime at the end of each block. */
void ulp_emulated_tensor_end(void) {
    for (bool column : taken)
        if (column) fail("a block ends and has tensor memory");
    check_copies();
    relinquished = false;
}

void ulp_emulated_tensor_before(void) {
    debts &t = threads[threadIdx.x];
    if (!t.stores.empty() || !t.loads.empty()) fail("loads or stores of tensor memory that were not waited for");
    t.used = false;
}

void ulp_emulated_tensor_after(void) {
    threads[threadIdx.x].waited = false;
    threads[threadIdx.x].barriers = ulp_emulated_barriers;
}

/* A store is there after the wait, and the registers of a load have their values after the wait. */
void ulp_emulated_tensor_store(uint32_t address, const uint32_t *d, unsigned count) {
    debts &t = threads[threadIdx.x];
    check_after("tcgen05.st");
    for (unsigned i = 0; i < count; i++) {
        (void)cell(own_lane(address), (address & 0xffff) + i);
        t.stores.push_back({own_lane(address), (address & 0xffff) + i, d[i]});
    }
    t.used = true;
}

void ulp_emulated_tensor_store_wait(void) {
    debts &t = threads[threadIdx.x];
    for (const debts::store &s : t.stores) cell(s.lane, s.column) = s.value;
    t.stores.clear();
}

void ulp_emulated_tensor_load(uint32_t *d, uint32_t address, unsigned count) {
    debts &t = threads[threadIdx.x];
    check_after("tcgen05.ld");
    for (unsigned i = 0; i < count; i++) {
        t.loads.push_back({&d[i], cell(own_lane(address), (address & 0xffff) + i)});
        d[i] = 0xbadbadbau;
    }
    t.used = true;
}

void ulp_emulated_tensor_load_wait(void) {
    debts &t = threads[threadIdx.x];
    for (const debts::load &l : t.loads) *l.to = l.value;
    t.loads.clear();
}

/* A copy of scales follows no earlier instruction. */
void ulp_emulated_tensor_copy(const char *text, uint32_t to, uint64_t from) {
    check_begin("tcgen05.cp");
    if (strcmp(text, "32x128b.warpx4") != 0) fail(std::string("tcgen05.cp ") + text + ": not read");
    work w = {work::COPY, nullptr, to, 0, 0, 0, from, false, nullptr};
    if (pace != LATE) copy_scales(w);
    else waiting.push_back(w);
}

void ulp_emulated_tcgen05(const char *text, uint32_t d, uint64_t a, uint64_t b, uint32_t descriptor, uint32_t a_scales,
                          uint32_t b_scales, uint32_t keep) {
    check_begin("tcgen05.mma");
    waiting.push_back(
        {work::INSTRUCTION, &meaning_of(text, descriptor), d, a_scales, b_scales, a, b, keep != 0, nullptr});
    if (pace == AT_ONCE) do_all();
}

void ulp_emulated_tcgen05_commit(uint64_t *at) {
    check_barrier(at);
    waiting.push_back({work::COMMIT, nullptr, 0, 0, 0, 0, 0, false, at});
}

bool tensor::advance_instructions(uint64_t *at) {
    bool committed = false;
    for (const work &w : waiting) committed |= w.type == work::COMMIT && w.barrier == at;
    if (committed) do_first();
    return committed;
}

void tensor::instructions_waited(void) { threads[threadIdx.x].waited = true; }
