/* expression.c - evaluation of a parsed expression in the 32 lanes of a warp. */
#include "common/debugger/expression.h"

#include <stdio.h>
#include <string.h>

#include "common/debugger/expression_tree.h"

static void evaluate(Node *node, Scene *scene, Value *value);

static void logical(Node *node, Scene *scene, Value *value)
{
    Value b;
    int is_and = *node->operator== '&';
    evaluate(node->a, scene, value);
    if (!value->valid) return;
    if (!is_number(value)) {
        value_no(value, "a number or a pointer is expected next to %s", node->operator);
        return;
    }
    uint32_t left = 0, right = 0, wanted, mask = scene->mask;
    for (uint32_t lane = 0; lane < LANES; lane++)
        left |=
            (uint32_t)(type_is_floating(value->type) ? value->f[lane] != 0 : value->i[lane] != 0)
            << lane;
    /* The second operand is only evaluated in the lanes that need it. */
    wanted = value->valid & (is_and ? left : ~left);
    uint32_t valid = value->valid & ~wanted;
    if (wanted) {
        scene->mask = wanted;
        evaluate(node->b, scene, &b);
        scene->mask = mask;
        if (!b.valid || !is_number(&b)) {
            if (!valid) {
                *value = b;
                if (b.valid) value_no(value, "a number is expected next to %s", node->operator);
                return;
            }
        } else {
            for (uint32_t lane = 0; lane < LANES; lane++)
                right |= (uint32_t)(type_is_floating(b.type) ? b.f[lane] != 0 : b.i[lane] != 0)
                         << lane;
            valid |= b.valid & wanted;
        }
    }
    uint32_t result = is_and ? left & right : left | right;
    value_of_type(value, &TYPE_OF_BOOL, valid);
    for (uint32_t lane = 0; lane < LANES; lane++)
        value->i[lane] = result >> lane & 1;
}

static void binary(Node *node, Scene *scene, Value *value)
{
    Value a, b;
    if (!strcmp(node->operator, "&&") || !strcmp(node->operator, "||")) {
        logical(node, scene, value);
        return;
    }
    evaluate(node->a, scene, &a);
    if (!a.valid) {
        *value = a;
        return;
    }
    evaluate(node->b, scene, &b);
    if (!b.valid) {
        *value = b;
        return;
    }
    array_decay(&a, scene), array_decay(&b, scene);
    if (!is_number(&a) || !is_number(&b)) {
        value_no(value, "a number or a pointer is expected next to %s", node->operator);
        return;
    }
    value_combine(node->operator, & a, &b, value);
}

static void dereference(Value *value, const Scene *scene)
{
    if (array_decay(value, scene)) {
    } else if (value->type->kind == TYPE_INTEGER || value->type->kind == TYPE_UNSIGNED) {
        value->type = symbols_pointer_to(&scene->map->module->symbols, value->type);
    }
    if (value->type->kind != TYPE_POINTER || value->type->target->kind == TYPE_VOID) {
        value_no(value, "Attempt to take contents of a non-pointer value.");
        return;
    }
    for (uint32_t lane = 0; lane < LANES; lane++)
        value->address[lane] = (uint64_t)value->i[lane];
    value->type = value->type->target, value->home = HOME_MEMORY;
    value_load(scene->warp, value, scene->mask);
}

static void unary(Node *node, Scene *scene, Value *value)
{
    evaluate(node->a, scene, value);
    if (!value->valid) return;
    if (*node->operator== '&') {
        if (value->home != HOME_MEMORY) {
            value_no(value, "Attempt to take address of value not located in memory.");
            return;
        }
        const Type *type = symbols_pointer_to(&scene->map->module->symbols, value->type);
        for (uint32_t lane = 0; lane < LANES; lane++)
            value->i[lane] = (int64_t)value->address[lane];
        value->type = type, value->home = HOME_NONE;
        return;
    }
    if (*node->operator== '*') {
        dereference(value, scene);
        return;
    }
    array_decay(value, scene);
    if (!is_number(value) || (*node->operator== '~' && type_is_floating(value->type))) {
        value_no(value, "Argument to arithmetic operation not a number or boolean.");
        return;
    }
    const Type *type =
        *node->operator== '!' ? &TYPE_OF_BOOL : common_type(value->type, &TYPE_OF_INT);
    int from_float = type_is_floating(value->type);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (*node->operator== '!')
            value->i[lane] = from_float ? value->f[lane] == 0 : value->i[lane] == 0;
        else if (*node->operator== '-' && from_float)
            value->f[lane] = -value->f[lane];
        else if (*node->operator== '-')
            value->i[lane] = integer_wrap(type, (int64_t)(0 - (uint64_t)value->i[lane]));
        else if (*node->operator== '~')
            value->i[lane] = integer_wrap(type, ~value->i[lane]);
    }
    value->type = type, value->home = HOME_NONE;
}

static void subscript(Node *node, Scene *scene, Value *value)
{
    Value index;
    evaluate(node->a, scene, value);
    if (!value->valid) return;
    evaluate(node->b, scene, &index);
    if (!index.valid) {
        *value = index;
        return;
    }
    array_decay(value, scene);
    if (value->type->kind != TYPE_POINTER || !is_number(&index)) {
        value_no(value, "cannot subscript something of type `%.100s'", value->type->name);
        return;
    }
    uint64_t bytes = value->type->target->bytes;
    for (uint32_t lane = 0; lane < LANES; lane++)
        value->address[lane] =
            (uint64_t)value->i[lane] + (uint64_t)lane_integer(&index, lane) * bytes;
    value->type = value->type->target, value->home = HOME_MEMORY;
    value->valid &= index.valid;
    value_load(scene->warp, value, scene->mask);
}

static void member(Node *node, Scene *scene, Value *value)
{
    evaluate(node->a, scene, value);
    if (!value->valid) return;
    if (value->home == HOME_DIM3) {
        const char *at = strchr("xyz", *node->name);
        if (!at || node->name[1] || !*node->name) {
            value_no(value, "There is no member named %.60s.", node->name);
            return;
        }
        special_load(scene->warp, (Special)(value->address[0] + (uint64_t)(*at - 'x')), value,
                     scene->mask);
        return;
    }
    if (value->type->kind == TYPE_POINTER) dereference(value, scene);
    if (!value->valid) return;
    const Type *type = value->type;
    for (uint32_t i = 0; i < type->members; i++) {
        const Member *m = &type->member[i];
        if (type->kind == TYPE_ENUM || strcmp(m->name, node->name) != 0) continue;
        if (value->home != HOME_MEMORY) break;
        for (uint32_t lane = 0; lane < LANES; lane++)
            value->address[lane] += m->offset;
        value->type = m->type;
        value_load(scene->warp, value, scene->mask);
        return;
    }
    value_no(value, "There is no member named %.60s.", node->name);
}

static const Type *cast_type(const Node *node, const Scene *scene)
{
    Symbols *symbols = &scene->map->module->symbols;
    const Type *type = node->type ? node->type : symbols_type(symbols, node->name);
    for (uint32_t i = 0; type && i < node->stars && i < DEPTH_MOST; i++)
        type = symbols_pointer_to(symbols, type);
    return type;
}

static void cast(Node *node, Scene *scene, Value *value)
{
    const Type *type = cast_type(node, scene);
    evaluate(node->a, scene, value);
    if (!value->valid) return;
    array_decay(value, scene);
    if (!type)
        value_no(value, "No type named %.60s.", node->name);
    else if (!is_number(value) || !type_is_scalar(type) || type->kind == TYPE_HALF ||
             type->kind == TYPE_BFLOAT16)
        value_no(value, "Invalid cast.");
    else
        value_convert(value, type);
}

static void size_of(Node *node, Scene *scene, Value *value)
{
    const Type *type = NULL;
    if (node->a) {
        evaluate(node->a, scene, value);
        if (!value->valid) return;
        type = value->type;
    } else if (!(type = cast_type(node, scene))) {
        value_no(value, "No type named %.60s.", node->name);
        return;
    }
    uint64_t bytes = type->bytes;
    value_of_type(value, &TYPE_OF_UNSIGNED_LONG, scene->mask);
    for (uint32_t lane = 0; lane < LANES; lane++)
        value->i[lane] = (int64_t)bytes;
}

static void row(Node *node, Scene *scene, Value *value)
{
    enum { ROW_MOST = 100000 };
    Value count;
    evaluate(node->a, scene, value);
    if (!value->valid) return;
    evaluate(node->b, scene, &count);
    if (!count.valid) {
        *value = count;
        return;
    }
    int64_t n = count.i[__builtin_ctz(count.valid)];
    if (value->home != HOME_MEMORY || !is_number(&count) || type_is_floating(count.type) || n < 1 ||
        n > ROW_MOST) {
        value_no(value,
                 "@ needs something in memory on its left and a number from 1 to %d on its right",
                 ROW_MOST);
        return;
    }
    value->type = symbols_array_of(&scene->map->module->symbols, value->type, (uint64_t)n);
}

static void conditional(Node *node, Scene *scene, Value *value)
{
    Value yes, no;
    uint32_t mask = scene->mask, chosen = 0;
    evaluate(node->a, scene, value);
    if (!value->valid) return;
    if (!is_number(value)) {
        value_no(value, "a number is expected before ?");
        return;
    }
    uint32_t valid = value->valid;
    for (uint32_t lane = 0; lane < LANES; lane++)
        chosen |= (uint32_t)(lane_double(value, lane) != 0) << lane;
    scene->mask = valid & chosen;
    if (scene->mask) evaluate(node->b, scene, &yes);
    uint32_t first = scene->mask;
    scene->mask = valid & ~chosen;
    if (scene->mask) evaluate(node->c, scene, &no);
    uint32_t second = scene->mask;
    scene->mask = mask;
    if (!first || !second) {
        *value = first ? yes : no;
        return;
    }
    if (!yes.valid || !no.valid) {
        *value = yes.valid ? no : yes;
        return;
    }
    if (!is_number(&yes) || !is_number(&no)) {
        value_no(value, "numbers are expected on both sides of :");
        return;
    }
    const Type *type = common_type(yes.type, no.type);
    value_convert(&yes, type), value_convert(&no, type);
    value_of_type(value, type, (yes.valid & first) | (no.valid & second));
    for (uint32_t lane = 0; lane < LANES; lane++)
        value->i[lane] = chosen >> lane & 1 ? yes.i[lane] : no.i[lane];
}

static void assign(Node *node, Scene *scene, Value *value)
{
    Value right;
    char why[VALUE_WHY];
    if (!scene->may_assign) {
        value_no(value, "assignments are not possible here");
        return;
    }
    evaluate(node->a, scene, value);
    if (!value->valid) return;
    evaluate(node->b, scene, &right);
    if (!right.valid) {
        *value = right;
        return;
    }
    array_decay(&right, scene);
    if (!is_number(&right) || !is_number(value)) {
        value_no(value, "only numbers and pointers can be assigned");
        return;
    }
    ValueHome home = value->home;
    const Type *type = value->type;
    value_convert(&right, type);
    memcpy(value->i, right.i, sizeof value->i);
    value->home = home;
    if (value_store(scene->warp, value, scene->mask & value->valid & right.valid, why, sizeof why))
        value_no(value, "%.220s", why);
    else
        scene->assigned = 1;
}

static void evaluate(Node *node, Scene *scene, Value *value)
{
    switch (node->kind) {
    case NODE_NUMBER:
        value_of_type(value, node->type, scene->mask);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            if (type_is_floating(node->type))
                value->f[lane] = node->f;
            else
                value->i[lane] = node->i;
        }
        return;
    case NODE_NAME:
        name_load(node, scene, value);
        return;
    case NODE_REGISTER:
        register_load(node, scene, value);
        return;
    case NODE_HISTORY:
        history_load(node, scene, value);
        return;
    case NODE_UNARY:
        unary(node, scene, value);
        return;
    case NODE_BINARY:
        binary(node, scene, value);
        return;
    case NODE_CONDITIONAL:
        conditional(node, scene, value);
        return;
    case NODE_ASSIGN:
        assign(node, scene, value);
        return;
    case NODE_INDEX:
        subscript(node, scene, value);
        return;
    case NODE_MEMBER:
        member(node, scene, value);
        return;
    case NODE_CAST:
        cast(node, scene, value);
        return;
    case NODE_SIZEOF:
        size_of(node, scene, value);
        return;
    case NODE_ROW:
        row(node, scene, value);
        return;
    }
}

void expression_evaluate(Expression *expression, Scene *scene, Value *value)
{
    evaluate(expression->root, scene, value);
}

int expression_true(Expression *expression, Scene *scene, uint32_t *lanes, char *why, size_t room)
{
    Value value;
    *lanes = 0;
    evaluate(expression->root, scene, &value);
    if (value.valid && !is_number(&value)) value_no(&value, "it is no number");
    if (!value.valid) {
        snprintf(why, room, "%s", value.why);
        return -1;
    }
    int is_float = type_is_floating(value.type);
    for (uint32_t m = value.valid & scene->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        *lanes |= (uint32_t)(is_float ? value.f[lane] != 0 : value.i[lane] != 0) << lane;
    }
    return 0;
}
