#!/bin/sh
# additions.sh - in a copy of the tree, one thing of each kind is added, and works.
#
# A format is one row. A rounding mode is one row and a case in the rounding, and two cases in the oracle. An operation of
# a backend is one row, and a function for each backend that offers it. A layer, a loss, a data set, an optimizer, a lab of
# the course and an experiment are one file each. A faster path for a product is one row and one file. A native product is
# one row. The copy is built with little optimization, to save time. newrow.sh tests the rows of datapaths.
# The file is long because the sources of all additions stand in it.
# modes: release
# not with RUN: builds programs and starts them
tree=$PWD
. tests/programs/support.sh
for folder in formats base kernels sim experiments tool course plots; do cp -R "$tree/$folder" .; done
copy_make "$tree" .
[ -e "$tree/config.mk" ] && cp "$tree/config.mk" .

# edit FILE AWK: replace FILE by the output of the awk program AWK
edit() { awk "$2" "$1" >edited && mv edited "$1"; }

# changed: the files of the copy that differ from the tree, with the number of different lines
changed() {
    for folder in formats base kernels sim experiments tool course plots; do
        diff -rq "$tree/$folder" "$folder"
    done | grep ' differ$' | sed 's/.* and \(.*\) differ$/\1/' | while read -r file; do
        echo "$file $(diff "$tree/$file" "$file" | grep -c '^[<>]')"
    done
}

# the format toy5 has 5 bits: a sign, two of exponent and two of fraction; the mode rno is to nearest, ties to odd
edit formats/formats.c '/^static const row rows\[\]/ { inside = 1 }
    inside && /^};/ { print "    {{\"toy5\", \"toy\", \"a test\"}, 5, 3, 1, IEEE, ULP_NAN_IEEE},"; inside = 0 }
    { print }'
edit formats/round.h '{ print }
    /^    X\(ULP_RNA, / { print "    X(ULP_RNO, \"rno\", \"to nearest, ties to odd\", 0, ULP_INWARD_NONE) \\" }
    /^    case ULP_RNA: return nu/ { print "    case ULP_RNO: return (uint32_t)(nu > half) | ((uint32_t)(nu == half) & ((uint32_t)(tail != 0) | (odd ^ 1u)));" }'
edit kernels/mpfr/reference.c '{ print }
    /^    case ULP_RNA: mpfr_round/ {
        print "    case ULP_RNO:"
        print "        mpfr_roundeven(s->z, s->x);"
        print "        mpfr_sub(s->x, s->x, s->z, MPFR_RNDN);"
        print "        if (mpfr_cmp_d(s->x, 0.5) == 0 || mpfr_cmp_d(s->x, -0.5) == 0) mpfr_add_si(s->z, s->z, mpfr_sgn(s->x), MPFR_RNDN);"
        print "        break;"
    }
    /^    case ULP_RNA:$/ { print "    case ULP_RNO:" }'
# cpu and mpfr offer the operation opposite, and cpu alone offers opposite64
edit kernels/operations.def '/^\/\* ---- movement/ {
        print "/* y (n) = -x (n). */"
        print "ULP_OPERATION(opposite, cpu, none, mpfr, (float *y, const float *x, size_t n), (y, x, n), check_arrays(y, x, x, n))"
        print "ULP_OPERATION(opposite64, cpu, none, none, (double *y, const double *x, size_t n), (y, x, n), check_arrays(y, x, x, n))"
    }
    { print }'
changed >files
[ "$(cat files)" = 'formats/formats.c 1
formats/round.h 2
kernels/mpfr/reference.c 6
kernels/operations.def 3' ]
verdict $? 'a format is one line; a mode is two lines of round.h, and its oracle; an operation is a line and its comment'

cat >kernels/cpu/layers/opposite.c <<'END'
/* opposite.c - numbers with the other sign. */
#include "kernels/cpu/cpu.h"

ulp_status ULP_CPU(ulp_cpu_opposite)(float *y, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = -x[i];
    return ULP_OK;
}

ulp_status ULP_CPU(ulp_cpu_opposite64)(double *y, const double *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = -x[i];
    return ULP_OK;
}
END
cat >kernels/mpfr/opposite.c <<'END'
/* opposite.c - the backend "mpfr": numbers with the other sign. */
#include "operations.h"

ulp_status ulp_mpfr_opposite(float *y, const float *x, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = -x[i];
    return ULP_OK;
}
END
mkdir experiments/opposite
cat >experiments/opposite/opposite.c <<'END'
/* opposite.c - calls the operations opposite and opposite64 of two backends. */
#include "kernels/backend.h"

#include <stdio.h>

int main(void) {
    const char *const names[] = {"cpu", "mpfr"};
    for (size_t i = 0; i < 2; i++) {
        const ulp_backend *backend;
        const float x[3] = {1.0f, -2.5f, 0.0f};
        const double x64[1] = {0.1};
        float y[3] = {0};
        double y64[1] = {0};
        if (ulp_backend_get(&backend, names[i]) != ULP_OK) return 1;
        const ulp_status status = ulp_backend_opposite(backend, y, x, 3), bad = ulp_backend_opposite(backend, NULL, x, 3);
        printf("%s: %s, %g %g %g; %s\n", names[i], ulp_status_text(status), (double)y[0], (double)y[1], (double)y[2], ulp_status_text(bad));
        const ulp_status wide = ulp_backend_opposite64(backend, y64, x64, 1);
        ulp_error why = {0};
        if (wide != ULP_OK) ulp_backend_explain(&why, backend, wide);
        printf("%s: %s, %g [%s]\n", names[i], ulp_status_text(wide), y64[0], why.text);
    }
    return 0;
}
END
# one file each: a layer, a loss that is half of softmax, four kinds of bars, sgd at half its rate, and an experiment
cat >sim/layers/htan.c <<'END'
/* htan.c - the hyperbolic tangent once more. */
#include "kernels/functions/elementary.h"
#include "sim/layers/layer.h"

static const ulp_activation f = {.kind = ULP_TANH};

static ulp_status forward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    return ulp_pass_curve(pass, ulp_site_output(layer), f, t->y, t->x);
}

static ulp_status backward(const ulp_layer *layer, ulp_pass *pass, const ulp_layer_tensors *t) {
    return ulp_pass_slope(pass, ulp_site_input_gradient(layer), f, t->dx, t->dy, t->y);
}

static void forward64(const ulp_layer *layer, const ulp_layer64 *t, size_t B) {
    for (size_t i = 0; i < B * ulp_dims_size(layer->out); i++) t->y[i] = ulp_tanh(t->x[i]);
}

const ulp_layer_kind ulp_layer_htan = {
    .name = "htan",
    .usage = "htan: hyperbolic tangent",
    .example = "htan",
    .reads = ULP_READS_OUTPUT,
    .shape = ulp_layer_shape_plain,
    .forward = forward,
    .backward = backward,
    .forward64 = forward64,
};
END
cat >sim/losses/half.c <<'END'
/* half.c - half of softmax cross-entropy, with its whole gradient. */
#include "sim/losses/loss.h"

extern const ulp_loss_kind ulp_loss_softmax, ulp_loss_half;

static ulp_status check(ulp_dims out, const ulp_data *data, ulp_error *error) {
    return ulp_loss_softmax.check(out, data, error);
}

static ulp_status step(const ulp_loss *loss, ulp_pass *pass, const ulp_loss_batch *batch, double *mean) {
    const ulp_status status = ulp_loss_softmax.step(loss, pass, batch, mean);
    *mean /= 2;
    return status;
}

static ulp_status score(const ulp_loss *loss, ulp_pass *pass, ulp_score *sum, const float *z, const uint8_t *label) {
    return ulp_loss_softmax.score(loss, pass, sum, z, label);
}

const ulp_loss_kind ulp_loss_half = {.name = "half", .what = "half a cross-entropy", .check = check, .step = step, .score = score};
END
cat >sim/data/bars.c <<'END'
/* bars.c - images of 4x4 with a bar in one of four rows. */
#include <stdlib.h>
#include <string.h>

#include "sim/data/data.h"

static ulp_status load(ulp_data *data, const char *folder, uint64_t seed, ulp_error *error) {
    (void)folder, (void)error;
    *data = (ulp_data){.name = "bars", .n = 64, .dims = {1, 4, 4}, .features = 16, .classes = 4, .labels = 1, .white = 1};
    data->pixel = calloc(64, 16);
    data->label = malloc(64);
    if (!data->pixel || !data->label) return ULP_NO_MEMORY;
    for (size_t i = 0; i < 64; i++) memset(data->pixel + 16 * i + 4 * (data->label[i] = (uint8_t)(i % 4)), 1, 4);
    return ulp_data_split(data, 48, seed);
}

extern const ulp_data_kind ulp_data_bars;
const ulp_data_kind ulp_data_bars = {.name = "bars", .what = "bars in four places", .ships = 1, .load = load};
END
cat >sim/optim/slow.c <<'END'
/* slow.c - gradient descent at half the rate. */
#include "sim/optim/update.h"

static const ulp_key none[] = {{.name = NULL}};

static void carve(ulp_optimizer *o, ulp_arena *arena) { (void)o, (void)arena; }

static ulp_operand direction(ulp_update_plan *p, ulp_operand g, double *rate) {
    (void)p;
    *rate /= 2;
    return g;
}

extern const ulp_optimizer_kind ulp_optimizer_slow;
const ulp_optimizer_kind ulp_optimizer_slow = {
    .name = "slow", .what = "gradient descent at half the rate", .keys = none, .carve = carve, .direction = direction, .rule = {.rate = 0.1}};
END
mkdir experiments/lesson
cat >experiments/lesson/lesson.c <<'END'
/* lesson.c - the loss of a few steps of a training. */
#include "experiments/harness/training/options.h"
#include "sim/train/train.h"

typedef struct settings { const char *net, *loss, *optimizer, *set; } settings;
typedef struct point { int unused; } point;
typedef struct row { int64_t step; double loss; } row;

#define TEXT(field, value_) {.name = #field, .type = &ulp_type_text, ULP_FIELD(settings, field), .value = value_, .help = #field}
static const ulp_option options[] = {TEXT(net, "fc8 tanh fc4"), TEXT(loss, "softmax"), TEXT(optimizer, "sgd,rate=0.1"), ULP_OPTION_SET(settings, set), {0}};
static const ulp_column columns[] = {ULP_COLUMNS(row, step, loss), {0}};

static ulp_status plan(ulp_plan *plan) {
    ulp_plan_add(plan, &(point){0}, 1, "all");
    return ULP_OK;
}

static ulp_status train(const ulp_task *task, const ulp_train_options *options, const ulp_data *data, ulp_error *error) {
    ulp_trainer *trainer = NULL;
    ulp_status status = ulp_trainer_new(&trainer, data, options, error);
    for (ulp_step step; status == ULP_OK && trainer->step < 20;) {
        status = ulp_trainer_step(trainer, &step);
        if (status == ULP_OK) ulp_row_put(task->rows, &(row){(int64_t)step.step, step.loss});
    }
    ulp_trainer_free(trainer);
    return status;
}

static ulp_status compute(const ulp_task *task) {
    const settings *s = task->settings;
    ulp_error error = {0};
    ulp_data data;
    ulp_net net = {0};
    ulp_optimizer_rule rule;
    ulp_train_options options = {.net = &net, .optimizer = &rule, .batch = 8, .seed = 1};
    ulp_status status = ulp_data_load(&data, s->set, NULL, 1, &error);
    if (status == ULP_OK) status = ulp_net_parse(&net, s->net, data.dims, &error);
    if (status == ULP_OK) status = ulp_optimizer_parse(&rule, s->optimizer, &error);
    if (status == ULP_OK) status = ulp_loss_parse(&options.loss, s->loss, &error);
    if (status == ULP_OK) status = train(task, &options, &data, &error);
    ulp_net_release(&net);
    ulp_data_release(&data);
    return status == ULP_OK ? status : ulp_task_fail(task, status, "%s", error.text);
}

const ulp_experiment experiment = {
    .name = "lesson", .question = "does it learn?", .options = options, .columns = columns, .settings_size = sizeof(settings),
    .point_size = sizeof(point), .row_size = sizeof(row), .plan = plan, .compute = compute};
END
cat >course/l7.c <<'END'
/* l7.c - a lab of one question. */
#include "course/sheets/sheet.h"

static void ask(course_sheet *s) {
    const int n = (int)course_draw(s, 1000);
    course_ask_number(s, n + 1, NULL, "What is %d + 1?", n);
}

const course_lab course_lab_l7 = {"L7", "sums", ask};
END
changed >files
[ "$(cat files)" = 'formats/formats.c 1
formats/round.h 2
kernels/mpfr/reference.c 6
kernels/operations.def 3' ]
verdict $? 'a layer, a loss, a data set, an optimizer, a lab and an experiment change no file'

# a path for products of a column and a row
edit kernels/cpu/products/paths.h '
    /^    X\(fp32_chain,/ { print "    X(outer, \"products of a column and a row in binary32\", \"\", \"fp32\") \\" }
    { print }'
cat >kernels/cpu/products/outer.c <<'END'
/* outer.c - the product of a column and a row in binary32. */
#include "gemm.h"

int ULP_CPU(ulp_serves_outer)(const ulp_job *job) {
    return job->s.k == 1 && !job->s.accumulate && ULP_CPU(ulp_serves_fp32_chain)(job);
}

ulp_status ULP_CPU(ulp_product_outer)(const ulp_job *job) {
    for (size_t i = 0; i < job->s.m; i++)
        for (size_t j = 0; j < job->s.n; j++)
            ((float *)job->c)[i * job->s.ldc + j] = canonical(a_at(job, i, 0) * b_at(job, 0, j) + 0.0f);
    return ULP_OK;
}
END
changed >files
[ "$(cat files)" = 'formats/formats.c 1
formats/round.h 2
kernels/cpu/products/paths.h 1
kernels/mpfr/reference.c 6
kernels/operations.def 3' ]
verdict $? 'a faster path for a product is one line'

# two instruction sets, to save time; opposite is no experiment: it has a main of its own
isas=baseline
[ "$(uname -m)" != x86_64 ] || isas='baseline avx2'
make -j"$(getconf _NPROCESSORS_ONLN)" MODE=release CC="${CC:-gcc}" CFLAGS=-O0 CPU_FLAGS=-O1 ISAS="$isas" NVCC= STATIC=1 \
    'objects_of_opposite=$O/experiments/opposite/opposite.o' build/bin/ulp build/bin/lesson build/bin/opposite >log 2>&1
verdict $? 'the copy is built'
[ $failed -eq 0 ] || { grep -E 'error|\*\*\*' log | head -20 | sed 's/^/# /'; exit 1; }
ulp=build/bin/ulp

# rounds TEXT FORMAT MODE NUMBERS WANT: `ulp round` rounds NUMBERS to WANT
rounds() {
    got=$(printf '%s\n' $4 | "$ulp" round --format "$2" --mode "$3" --to value 2>err.txt | tr '\n' ' ')
    [ "$got" = "$5 " ] || { echo "# $4 gives '$got', not '$5'"; sed 's/^/# /' err.txt; }
    [ "$got" = "$5 " ]
    verdict $? "$1"
}
exits 2 'before, toy5 is no format' "$BIN/ulp" round --format toy5 /dev/null
rounds 'toy5 rounds' toy5 rne '1.1 1.125 1.2 0.1 3.6 3.75 -9' '1 1 1.25 0 3.5 inf -inf'
"$ulp" formats >out.txt && says '^toy5 ' out.txt 'ulp formats lists it'
exits 0 'toy5 equals MPFR in every mode' "$ulp" verify --format toy5 --sample 2000

exits 2 'before, rno is no mode' "$BIN/ulp" round --format fp16 --mode rno /dev/null
rounds 'rno rounds ties to odd' e4m3 rno '1.0625 -1.0625 1.1875 1.07 -1.06 448 464 465' '1.125 -1.125 1.125 1.125 -1 448 448 448'
rounds 'the mode behind it is as before' e4m3 rz '1.0625 -1.0625 1.1875 1.07 1.24' '1 -1 1.125 1 1.125'
for isa in $isas; do
    ULPLAB_ISA=$isa "$ulp" gemm --datapath fp32 --m 1 --n 1 --k 1 --seconds 0 >/dev/null 2>&1 || { skip "rno under $isa" 'this machine does not run it' && continue; }
    ULPLAB_ISA=$isa "$ulp" verify --mode rno --sample 2000 >out.txt 2>err.txt
    [ $? -eq 0 ] && [ "$(grep -c '^PASS' out.txt)" -gt 60 ]
    verdict $? "rno equals MPFR in every format, under $isa"
done
complains 2 'a mode that is none' 'rno' "$ulp" round --format fp16 --mode nosuch /dev/null

# 1.125 + 0.0625 is a tie between 1.125 (39) and 1.25 (3a)
for datapath in serial split kahan pairwise exact chunk3 block4; do
    [ "$(echo '39 18 38' | "$ulp" dot --datapath $datapath:e4m3:rno)" = 39 ] && [ "$(echo '39 18 38' | "$ulp" dot --datapath $datapath:e4m3:rne)" = 3a ]
    verdict $? "$datapath rounds by rno"
    for isa in $isas; do
        ULPLAB_ISA=$isa "$ulp" gemm --datapath $datapath:fp16:rno --m 5 --n 37 --k 30 --seconds 0 2>err.txt | grep '^checksum' >>$datapath.txt
    done
    [ -s $datapath.txt ] && [ "$(sort -u $datapath.txt | wc -l)" -eq 1 ]
    verdict $? "$datapath gives the same product under every instruction set"
done

# ---- a faster path for a product ----

exits 0 'a product of a column and a row' "$ulp" gemm --datapath fp32 --k 1 --explain
says '^path  *outer serves products of a column and a row' out.txt 'the new path serves it'
prints 0 'a longer sum' '^path  *fp32_chain ' "$ulp" gemm --datapath fp32 --k 2 --explain
prints 0 'the table of paths' '^outer ' "$ulp" backends --products
for of in "$ulp" "$BIN/ulp"; do "$of" gemm --datapath fp32 --k 1 --m 37 --n 41 --seconds 0 | grep '^checksum'; done >sums
[ "$(wc -l <sums)" -eq 2 ] && [ "$(sort -u sums | wc -l)" -eq 1 ]
verdict $? 'the new path has the bits of the other'

# ---- an operation of a backend ----

uses() { "${CC:-gcc}" -std=c11 -Werror -fsyntax-only -I"$1" experiments/opposite/opposite.c >/dev/null 2>&1; }
! uses "$tree" && uses .
verdict $? 'before, ulp_backend_opposite is not declared; now it is'
cat >want <<'END'
cpu: no error, -1 2.5 -0; an argument is out of its range
cpu: no error, -0.1 []
mpfr: no error, -1 2.5 -0; an argument is out of its range
mpfr: this combination is not offered, 0 [the backend mpfr does not offer the operation opposite64]
END
for isa in $isas; do
    ULPLAB_ISA=$isa "$ulp" gemm --datapath fp32 --m 1 --n 1 --k 1 --seconds 0 >/dev/null 2>&1 || { skip "the operation under $isa" 'this machine does not run it' && continue; }
    ULPLAB_ISA=$isa build/bin/opposite >got
    same want got "cpu and mpfr compute the operation, and what mpfr lacks is named, under $isa"
done

# ---- a layer, a loss, a data set, an optimizer, an experiment ----

# lists TOPIC NAME: `ulp help TOPIC` of the copy lists NAME, and that of the tree does not
lists() {
    "$BIN/ulp" help "$1" >before.txt && "$ulp" help "$1" >after.txt && ! grep -q "^$2\b" before.txt && grep -q "^$2\b" after.txt
    verdict $? "ulp help $1 lists $2"
}
lists nets htan
lists losses half
lists data bars
lists optimizers slow

# losses NAME OPTION...: the losses of a training in NAME
losses() {
    build/bin/lesson --quiet --restart --out lesson.csv --set bars "$@" >/dev/null 2>err.txt || sed 's/^/# /' err.txt
    sed -n '/^[0-9]/p' lesson.csv
    rm -f lesson.csv
}
exits 0 'the experiment runs' build/bin/lesson --set bars --out lesson.csv
holds 'and writes its CSV' [ "$(grep -c '^[0-9]' lesson.csv)" -eq 20 ]
losses >plain
[ "$(wc -l <plain)" -eq 20 ] && awk -F, 'NR == 1 { first = $2 } { last = $2 } END { exit !(last < first / 2) }' plain
verdict $? 'the data set is learned'
"$BIN/update_ratio" --set bars --quick --list >/dev/null 2>err.txt
[ $? -eq 2 ] && grep -q "no data set 'bars'" err.txt
verdict $? 'before, there was no such data set'
losses --net 'fc8 htan fc4' >got
same plain got 'the layer computes what it is written for'
losses --loss half | awk -F, '{ printf "%s,%.17g\n", $1, 2 * $2 }' >got
awk -F, '{ printf "%s,%.17g\n", $1, $2 }' plain | cmp - got
verdict $? 'the loss is half of the other, and its gradient the same'
losses --optimizer slow,rate=0.2 >got
same plain got 'the optimizer at twice the rate does what sgd does'
losses --optimizer slow,rate=0.1 >got
holds 'and at the same rate something else' ! cmp -s plain got
prints 0 'the help of the experiment' 'the data set: bars ' build/bin/lesson --help
complains 2 'a layer that is none' 'nosuch' build/bin/lesson --set bars --net 'fc8 nosuch fc4' --restart --out lesson.csv
exits 2 'a key that the optimizer lacks' build/bin/lesson --set bars --optimizer slow,momentum=0.9 --restart --out lesson.csv
says 'no key' err.txt 'it says so'

exits 2 'before, there is no lab L7' "$BIN/ulp" course key --id anna L7
exits 0 'the lab has a key' "$ulp" course key --id anna L7
cp out.txt key.csv
exits 0 'which is right' "$ulp" course check key.csv

# ---- a native product, in a second copy, which takes the objects of the build and makes only those that change ----

mkdir twin && cd twin || exit 1
if [ -n "$TESTS" ] && [ -x "$tree/$TESTS/check_emulated" ]; then
    for folder in formats base kernels sim experiments tool course plots; do cp -Rp "$tree/$folder" .; done
    mkdir tests tests/unit build
    cp -Rp "$tree/tests/gpu" tests
    cp -p "$tree"/tests/unit/*.h tests/unit
    copy_make "$tree" .
    [ -e "$tree/config.mk" ] && cp -p "$tree/config.mk" .
    cp -Rp "$tree/${TESTS%/test}/obj" build/obj
    edit kernels/cuda/native_rows.h '{ print }
        /^#define ULP_NATIVE_MMA\(X\)/ { print "    X(TWIN, \"mma:twin\", \"fp16\", \"fp16\", \"fp32\", \"fp16\", WHOLE, \"m16n8k16.row.col.f32.f16.f16.f32\", F32_WIDE, 4, 4, 800) \\" }'
    changed >files
    holds 'a native product is one line' [ "$(cat files)" = 'kernels/cuda/native_rows.h 1' ]
    edit kernels/products/datapath_rows.c '
        index($0, "CORE(\"h100\", \"\", \"wgmma mma\", \"fp16 bf16\"") { sub(/.fused.late = 0/, ".fused.zero_operand = -126, .fused.zero_c = -126, .fused.signed_zero = 1") }
        index($0, "CORE(\"h100\", \"\", \"wgmma\", FP8, FP16") { sub(/.fused.late = 0/, ".rounding = 1 + ULP_RZ, .fused.c_last = 1") }
        { print }'
    make -j"$(getconf _NPROCESSORS_ONLN)" MODE=release CC="${CC:-gcc}" NVCC= build/test/check_emulated >log 2>&1
    verdict $? 'the second copy is built'
    exits 2 'before, mma:twin is no native product' "$tree/$TESTS/check_emulated" --small --tap --part tensor --only mma:twin
    exits 0 'the emulated device computes mma:twin' build/test/check_emulated --small --tap --part tensor --only mma:twin
    says '^ok - cuda: .*mma:twin' out.txt 'its bits are those of its model'
    exits 0 'a row takes the answers to open points' build/test/check_emulated --small --rows --part open --only wgmma:
    says 'h100-bf16: with -126;' out.txt 'the exponent of a zero operand'
    says 'h100-bf16: -0;' out.txt 'the sign of zero'
    says 'h100-e4m3-fp16: toward zero;' out.txt 'the rounding'
    says 'h100-e4m3-fp16: it is added last;' out.txt 'the place of c'
else
    skip 'a native product' 'no check_emulated in TESTS'
fi
exit $failed
