/* operand_parts.c - which products are formed from elements and scales, and whether casts fit datapaths and layers; see
 * operand_parts.h. */
#include "operand_parts.h"

#include "sim/layers/layer.h"

static int is_nothing(const ulp_operand_cast *c) { return c->kind == ULP_OPERAND_AS_IT_IS; }

/* Whether the elements of a cast stand for products with scales. */
static int has_scales(const ulp_operand_cast *c) {
    if (c->kind == ULP_OPERAND_LOW_BIT) return c->low_bit != ULP_LOW_SIGN;
    return c->kind == ULP_OPERAND_BLOCK || (c->kind == ULP_OPERAND_FORMAT && c->cast.tensor_scale);
}

int ulp_product_has_parts(const ulp_datapath *path, const ulp_operand_cast by[2]) {
    if (!path->has_inputs || path->words) return 0;
    return path->scale_block || ulp_datapath_is_integer(path) || has_scales(&by[0]) || has_scales(&by[1]);
}

/* ---- what a datapath takes ---- */

static int takes_elements(const ulp_format *takes, const ulp_operand_cast *c) {
    if (is_nothing(c) || c->kind == ULP_OPERAND_LOW_BIT) return 1; /* the tensor's format is checked elsewhere */
    return ulp_format_holds(takes, c->kind == ULP_OPERAND_BLOCK ? &c->block.element : &c->cast.format);
}

static int takes_blocks(const ulp_datapath *path, const ulp_format *takes, const ulp_operand_cast *c) {
    return c->kind == ULP_OPERAND_BLOCK && ulp_format_equal(takes, &c->block.element) &&
           ulp_format_holds(&path->scale, &c->block.scale) && c->block.size == path->scale_block;
}

static int takes_integers(const ulp_format *takes, const ulp_operand_cast *c) {
    if (c->kind == ULP_OPERAND_LOW_BIT) return 1;
    return c->kind == ULP_OPERAND_FORMAT && c->cast.format.is_fixed && ulp_format_holds(takes, &c->cast.format);
}

static int takes(const ulp_datapath *path, const ulp_format *format, const ulp_operand_cast *c) {
    if (path->scale_block) return takes_blocks(path, format, c);
    return ulp_datapath_is_integer(path) ? takes_integers(format, c) : takes_elements(format, c);
}

int ulp_product_is_turned(const ulp_datapath *path, const ulp_operand_cast by[2]) {
    const int straight = takes(path, &path->a, &by[0]) && takes(path, &path->b, &by[1]);
    return !straight && takes(path, &path->b, &by[0]) && takes(path, &path->a, &by[1]);
}

static ulp_status fail(const ulp_datapath *path, const char *key, const ulp_operand_cast *c, int operand,
                       ulp_error *error) {
    char how[ULP_VALUE_MAX];
    const ulp_format *format = operand % 2 ? &path->b : &path->a;
    ulp_operand_cast_write(how, sizeof how, c);
    if (path->scale_block)
        return ulp_fail(error, ULP_UNSUPPORTED,
                        "%s=%s: takes blocks of %d numbers in %s with scales in %s, and %s=%s gives others", key,
                        path->name, path->scale_block, format->name, path->scale.name, ulp_operand_name(operand), how);
    if (ulp_datapath_is_integer(path))
        return ulp_fail(error, ULP_UNSUPPORTED,
                        "%s=%s: takes integers in %s, which are casts as int8@amax, int4@amax, sign, xnor and ternary; "
                        "%s=%s",
                        key, path->name, format->name, ulp_operand_name(operand), how);
    return ulp_fail(error, ULP_UNSUPPORTED, "%s=%s: takes operands in %s, which does not hold all elements of %s=%s",
                    key, path->name, format->name, ulp_operand_name(operand), how);
}

ulp_status ulp_parts_check(const ulp_datapath *path, const char *key, const ulp_operand_cast by[2], int first,
                           ulp_error *error) {
    if (by[1].kind == ULP_OPERAND_LOW_BIT && by[1].low_bit == ULP_LOW_XNOR && first + 1 == ULP_DGRAD_W)
        return ulp_fail(error, ULP_UNSUPPORTED,
                        "%s=%s: dgrad.w=xnor has scales along the sum, which the datapath does not take; bwd=fp32 does",
                        key, path->name);
    if (ulp_product_is_turned(path, by)) return ULP_OK;
    if (!takes(path, &path->a, &by[0])) return fail(path, key, &by[0], first, error);
    return takes(path, &path->b, &by[1]) ? ULP_OK : fail(path, key, &by[1], first + 1, error);
}

/* ---- the sums of a layer ---- */

/* Check operand i, whose product has the sums `length`. */
static ulp_status check_length(const ulp_operand_cast *cast, int i, const ulp_datapath *path, const ulp_layer *layer,
                               size_t length, ulp_error *error) {
    const size_t G = cast->transform;
    if (G && !cast->fits && length % G != 0)
        return ulp_fail(error, ULP_BAD_ARGUMENT,
                        "policy: %s: layer %zu (%s) forms these sums over parts of %zu numbers, which the Hadamard "
                        "transform of %zu does not divide%s",
                        ulp_operand_name(i), layer->index, layer->word, length, G,
                        i < ULP_WGRAD_X ? "" : "; another batch may fit");
    if (layer->kind->turned && i == layer->kind->turned && cast->kind == ULP_OPERAND_LOW_BIT &&
        cast->low_bit != ULP_LOW_SIGN && path->has_inputs)
        return ulp_fail(error, ULP_UNSUPPORTED,
                        "policy: layer %zu (%s): %s=%s takes no scales of kernels in this product, which rearranges "
                        "them; %s=fp32 takes %s=xnor and ternary",
                        layer->index, layer->word, i < ULP_DGRAD_G ? "fwd" : "bwd", path->name,
                        i < ULP_DGRAD_G ? "fwd" : "bwd", ulp_operand_name(i));
    const int is_block = cast->kind == ULP_OPERAND_BLOCK && path->has_inputs && !path->words && !path->scale_block;
    if (is_block && (cast->tiles || cast->block.size < length))
        return ulp_fail(error, ULP_UNSUPPORTED,
                        "policy: layer %zu (%s): %s=%s has no block scales and takes one scale for each sum of %zu "
                        "numbers; %s has blocks of %u",
                        layer->index, layer->word, i < ULP_DGRAD_G ? "fwd" : "bwd", path->name, length,
                        ulp_operand_name(i), (unsigned)cast->block.size);
    return ULP_OK;
}

ulp_status ulp_operand_lengths_check(const ulp_operand_cast cast[ULP_OPERANDS], const ulp_datapath *forward,
                                     const ulp_datapath *backward, const ulp_layer *layer, size_t batch,
                                     ulp_error *error) {
    const ulp_datapath *const paths[] = {forward, backward};
    const int is_recurrent = layer->kind->operation == ULP_OPERATION_CELL;
    for (int i = 0; i < ULP_OPERANDS && is_recurrent; i += 2)
        if (ulp_product_has_parts(paths[i > 0], &cast[i]))
            return ulp_fail(error, ULP_UNSUPPORTED,
                            "policy: layer %zu (%s): %s=%s takes operands with scales, and recurrent layers have no "
                            "casts; %s.%s=fp32 leaves it out",
                            layer->index, layer->word, i ? "bwd" : "fwd", paths[i > 0]->name, layer->kind->name,
                            i ? "bwd" : "fwd");
    for (int i = 0; i < ULP_OPERANDS && layer->kind->casts; i++) {
        const size_t length = layer->sums[i / 2] * (i < ULP_WGRAD_X ? 1 : batch);
        ULP_TRY(check_length(&cast[i], i, paths[i >= ULP_DGRAD_G], layer, length, error));
    }
    return ULP_OK;
}

/* ---- scratch ---- */

static unsigned scratch_of(const ulp_operand_cast *c) {
    if (is_nothing(c)) return 0;
    return c->kind == ULP_OPERAND_LOW_BIT ? ULP_SCRATCH_OPERANDS | ULP_SCRATCH_SCALES : ULP_SCRATCH_OPERANDS;
}

static unsigned scratch_of_path(const ulp_datapath *d) {
    if (!d->has_inputs) return 0;
    return ULP_SCRATCH_SCALES | ULP_SCRATCH_SUMS | (ulp_datapath_is_integer(d) ? ULP_SCRATCH_WIDE : 0);
}

unsigned ulp_policy_scratch(const ulp_policy *p) {
    unsigned operands = 0, paths = scratch_of_path(&p->forward) | scratch_of_path(&p->backward);
    if (!p->has_operands) return 0;
    for (size_t i = 0; i < ULP_OPERANDS; i++) operands |= scratch_of(&p->operand[i]);
    for (size_t i = 0; i < p->casts; i++) operands |= scratch_of(&p->cast[i]);
    for (size_t i = 0; i < p->paths; i++) paths |= scratch_of_path(&p->path[i]);
    return operands ? operands | paths : 0;
}
