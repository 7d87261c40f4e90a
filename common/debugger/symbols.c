/* symbols.c - reads DWARF by libdw: nvcc writes version 2, with NVIDIA's address classes. */
#include "common/debugger/symbols.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TYPE_DEPTH = 24, TYPES_MOST = 20000, MEMBERS_MOST = 4096, TREE_DEPTH = 64 };
enum { LINKAGE_NAME = 0x2007, ADDRESS_CLASS = DW_AT_address_class };

#define BUILT_IN(k, b, n)                                                                          \
    {                                                                                              \
        .kind = k, .bytes = b, .name = n                                                           \
    }
const Type TYPE_OF_VOID = BUILT_IN(TYPE_VOID, 1, "void"),
           TYPE_OF_BOOL = BUILT_IN(TYPE_BOOL, 1, "bool"),
           TYPE_OF_CHAR = BUILT_IN(TYPE_CHAR, 1, "char"),
           TYPE_OF_INT = BUILT_IN(TYPE_INTEGER, 4, "int"),
           TYPE_OF_UNSIGNED = BUILT_IN(TYPE_UNSIGNED, 4, "unsigned int"),
           TYPE_OF_LONG = BUILT_IN(TYPE_INTEGER, 8, "long"),
           TYPE_OF_UNSIGNED_LONG = BUILT_IN(TYPE_UNSIGNED, 8, "unsigned long"),
           TYPE_OF_FLOAT = BUILT_IN(TYPE_FLOAT, 4, "float"),
           TYPE_OF_DOUBLE = BUILT_IN(TYPE_FLOAT, 8, "double"),
           TYPE_OF_DIM3 = BUILT_IN(TYPE_STRUCT, 12, "dim3");

static int is_type_tag(int tag)
{
    return tag == DW_TAG_base_type || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
           tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type || tag == DW_TAG_typedef;
}

static void text_copy(char *to, size_t bytes, const char *from)
{
    snprintf(to, bytes, "%s", from ? from : "");
    for (char *c = to; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) *c = '?';
}

static void die_name(Dwarf_Die *die, char *text, size_t bytes)
{
    text_copy(text, bytes, dwarf_diename(die));
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned attribute, Dwarf_Word otherwise)
{
    Dwarf_Attribute attr;
    Dwarf_Word value;
    return dwarf_attr(die, attribute, &attr) && dwarf_formudata(&attr, &value) == 0 ? value
                                                                                    : otherwise;
}

static Dwarf_Die *reference_of(Dwarf_Die *die, unsigned attribute, Dwarf_Die *target)
{
    Dwarf_Attribute attr;
    return dwarf_attr(die, attribute, &attr) ? dwarf_formref_die(&attr, target) : NULL;
}

/* ---- types ---- */

static const Type *type_read(Symbols *symbols, Dwarf_Die *die, int depth);

static const Type *type_of(Symbols *symbols, Dwarf_Die *die, int depth)
{
    Dwarf_Die target;
    if (!reference_of(die, DW_AT_type, &target)) return &TYPE_OF_VOID;
    return type_read(symbols, &target, depth + 1);
}

static Type *type_new(Symbols *symbols, Dwarf_Off die)
{
    Type *type = calloc(1, sizeof *type);
    if (!type) return NULL;
    type->die = die;
    type->next = symbols->types;
    symbols->types = type;
    return type;
}

static TypeKind base_kind(Dwarf_Word encoding)
{
    switch (encoding) {
    case DW_ATE_boolean:
        return TYPE_BOOL;
    case DW_ATE_float:
        return TYPE_FLOAT;
    case DW_ATE_signed_char:
    case DW_ATE_unsigned_char:
        return TYPE_CHAR;
    case DW_ATE_signed:
        return TYPE_INTEGER;
    default:
        return TYPE_UNSIGNED;
    }
}

/* DW_OP_plus_uconst n, or a number. */
static uint64_t member_offset(Dwarf_Die *die)
{
    Dwarf_Attribute attr;
    Dwarf_Op *op;
    size_t count;
    Dwarf_Word value;
    if (!dwarf_attr(die, DW_AT_data_member_location, &attr)) return 0;
    if (dwarf_getlocation(&attr, &op, &count) == 0 && count == 1 && op->atom == DW_OP_plus_uconst)
        return op->number;
    return dwarf_formudata(&attr, &value) == 0 ? value : 0;
}

static void members_read(Symbols *symbols, Dwarf_Die *die, Type *type, int depth)
{
    Dwarf_Die child;
    uint32_t room = 0;
    if (dwarf_child(die, &child) != 0) return;
    do {
        int tag = dwarf_tag(&child), enumerator = tag == DW_TAG_enumerator;
        if (tag != DW_TAG_member && tag != DW_TAG_inheritance && !enumerator) continue;
        if (type->members == MEMBERS_MOST) return;
        if (type->members == room) {
            Member *more = realloc(type->member, (room = room ? room * 2 : 8) * sizeof *more);
            if (!more) return;
            type->member = more;
        }
        Member *member = &type->member[type->members];
        memset(member, 0, sizeof *member);
        die_name(&child, member->name, sizeof member->name);
        member->type = enumerator ? &TYPE_OF_INT : type_of(symbols, &child, depth);
        if (!enumerator) member->offset = member_offset(&child);
        Dwarf_Attribute attr;
        Dwarf_Sword value;
        if (enumerator && dwarf_attr(&child, DW_AT_const_value, &attr) &&
            dwarf_formsdata(&attr, &value) == 0)
            member->value = value;
        if (!member->type) member->type = &TYPE_OF_VOID;
        type->members++;
    } while (dwarf_siblingof(&child, &child) == 0);
}

/* The array type with the dimensions from this child on; the outermost comes first. */
static const Type *array_read(Symbols *symbols, Dwarf_Die *die, Dwarf_Off off, const Type *element)
{
    enum { DIMS = 8 };
    uint64_t dim[DIMS];
    uint32_t dims = 0;
    Dwarf_Die child;
    if (dwarf_child(die, &child) == 0) do {
            if (dwarf_tag(&child) != DW_TAG_subrange_type || dims == DIMS) continue;
            dim[dims] = number_of(&child, DW_AT_count, UINT64_MAX);
            if (dim[dims] == UINT64_MAX)
                dim[dims] = number_of(&child, DW_AT_upper_bound, UINT64_MAX) + 1;
            dims++;
        } while (dwarf_siblingof(&child, &child) == 0);
    if (!dims) dim[dims++] = 0;
    const Type *type = element;
    while (dims--) {
        Type *array = type_new(symbols, dims ? 0 : off);
        if (!array) return NULL;
        array->kind = TYPE_ARRAY, array->target = type, array->count = dim[dims];
        if (array->count > 1ull << 40 || type->bytes > 1ull << 40) array->count = 0;
        array->bytes = array->count * type->bytes;
        type = array;
    }
    return type;
}

static int is_half(const Type *type)
{
    return !strcmp(type->name, "__half") || !strcmp(type->name, "half");
}

static const Type *type_make(Symbols *symbols, Dwarf_Die *die, int depth)
{
    int tag = dwarf_tag(die);
    Dwarf_Off off = dwarf_dieoffset(die);
    if (tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
        tag == DW_TAG_restrict_type)
        return type_of(symbols, die, depth);
    if (tag == DW_TAG_array_type) {
        const Type *element = type_of(symbols, die, depth);
        return element ? array_read(symbols, die, off, element) : NULL;
    }
    Type *type = type_new(symbols, off);
    if (!type) return NULL;
    die_name(die, type->name, sizeof type->name);
    type->bytes = number_of(die, DW_AT_byte_size, 0);
    if (type->bytes > 1ull << 32) type->bytes = 0;
    switch (tag) {
    case DW_TAG_base_type:
        type->kind = base_kind(number_of(die, DW_AT_encoding, DW_ATE_unsigned));
        if (type->bytes > 8) type->kind = TYPE_STRUCT;
        break;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        type->kind = tag == DW_TAG_pointer_type ? TYPE_POINTER : TYPE_REFERENCE;
        type->bytes = 8;
        type->target = type_of(symbols, die, depth);
        break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        type->kind = TYPE_STRUCT, type->is_union = tag == DW_TAG_union_type;
        members_read(symbols, die, type, depth);
        if (is_half(type) && type->bytes == 2) type->kind = TYPE_HALF;
        if (!strcmp(type->name, "__nv_bfloat16") && type->bytes == 2) type->kind = TYPE_BFLOAT16;
        break;
    case DW_TAG_enumeration_type:
        type->kind = TYPE_ENUM;
        members_read(symbols, die, type, depth);
        break;
    case DW_TAG_subroutine_type:
        type->kind = TYPE_FUNCTION, type->bytes = 1;
        break;
    default:
        type->kind = TYPE_VOID, type->bytes = 1;
    }
    return type;
}

static const Type *type_read(Symbols *symbols, Dwarf_Die *die, int depth)
{
    Dwarf_Off off = dwarf_dieoffset(die);
    uint32_t count = 0;
    if (depth > TYPE_DEPTH) return &TYPE_OF_VOID;
    for (const Type *type = symbols->types; type; type = type->next, count++)
        if (type->die == off && off) return type;
    return count > TYPES_MOST ? &TYPE_OF_VOID : type_make(symbols, die, depth);
}

const Type *symbols_pointer_to(Symbols *symbols, const Type *target)
{
    for (const Type *type = symbols->types; type; type = type->next)
        if (type->kind == TYPE_POINTER && type->target == target) return type;
    Type *type = type_new(symbols, 0);
    if (!type) return &TYPE_OF_UNSIGNED_LONG;
    type->kind = TYPE_POINTER, type->bytes = 8, type->target = target;
    return type;
}

const Type *symbols_array_of(Symbols *symbols, const Type *target, uint64_t count)
{
    for (const Type *type = symbols->types; type; type = type->next)
        if (type->kind == TYPE_ARRAY && type->target == target && type->count == count &&
            !type->die)
            return type;
    Type *type = type_new(symbols, 0);
    if (!type) return target;
    type->kind = TYPE_ARRAY, type->target = target, type->count = count;
    type->bytes = count * target->bytes;
    return type;
}

/* ---- a module ---- */

static void functions_find(Symbols *symbols, Dwarf_Die *unit)
{
    Dwarf_Die child;
    uint32_t room = 0;
    if (dwarf_child(unit, &child) != 0) return;
    do {
        Dwarf_Attribute attr;
        Dwarf_Addr low;
        if (dwarf_tag(&child) != DW_TAG_subprogram || dwarf_lowpc(&child, &low) != 0) continue;
        const char *name =
            dwarf_attr(&child, LINKAGE_NAME, &attr) || dwarf_attr(&child, DW_AT_linkage_name, &attr)
                ? dwarf_formstring(&attr)
                : dwarf_diename(&child);
        if (!name) continue;
        if (symbols->functions == room) {
            room = room ? room * 2 : 16;
            Dwarf_Off *dies = realloc(symbols->function, room * sizeof *dies);
            if (dies) symbols->function = dies;
            char **names = realloc(symbols->function_name, room * sizeof *names);
            if (names) symbols->function_name = names;
            if (!dies || !names) return;
        }
        symbols->function[symbols->functions] = dwarf_dieoffset(&child);
        symbols->function_name[symbols->functions] = strdup(name);
        symbols->functions += symbols->function_name[symbols->functions] != NULL;
    } while (dwarf_siblingof(&child, &child) == 0);
}

void symbols_open(const char *ptx, size_t bytes, Symbols *symbols)
{
    Error error = {""};
    *symbols = (Symbols){0};
    if (dwarf_image_open(ptx, bytes, &symbols->image, &error) != 0) {
        snprintf(symbols->problem, sizeof symbols->problem, "%.190s", error.text);
        return;
    }
    if (!symbols->image.dwarf) {
        snprintf(symbols->problem, sizeof symbols->problem,
                 "the program was compiled without -G, so its PTX describes no variables");
        return;
    }
    Dwarf_Off at = 0, next;
    size_t head;
    while (dwarf_nextcu(symbols->image.dwarf, at, &next, &head, NULL, NULL, NULL) == 0) {
        Dwarf_Die unit;
        if (dwarf_offdie(symbols->image.dwarf, at + head, &unit)) {
            if (!symbols->unit) symbols->unit = at + head;
            functions_find(symbols, &unit);
        }
        if (next <= at) break;
        at = next;
    }
    if (!symbols->functions)
        snprintf(symbols->problem, sizeof symbols->problem,
                 "the debug information of the program names no function");
}

void symbols_close(Symbols *symbols)
{
    for (Type *type = symbols->types, *next; type; type = next) {
        next = type->next;
        free(type->member);
        free(type);
    }
    for (uint32_t i = 0; i < symbols->functions; i++)
        free(symbols->function_name[i]);
    free(symbols->function), free(symbols->function_name);
    dwarf_image_close(&symbols->image);
    *symbols = (Symbols){0};
}

static int has_pc(Dwarf_Die *die, uint64_t pc)
{
    Dwarf_Addr low, high;
    if (dwarf_lowpc(die, &low) != 0 || dwarf_highpc(die, &high) != 0)
        return dwarf_haspc(die, pc) > 0;
    return pc >= low && pc < high;
}

/* The names of an inlined function and its variables are in its abstract origin. */
static void name_of(Dwarf_Die *die, char *text, size_t bytes)
{
    Dwarf_Die origin = *die, next;
    for (int i = 0; i < 4 && !dwarf_diename(&origin); i++) {
        if (!reference_of(&origin, DW_AT_abstract_origin, &next) &&
            !reference_of(&origin, DW_AT_specification, &next))
            break;
        origin = next;
    }
    die_name(&origin, text, bytes);
}

static void inlines_find(Dwarf_Die *die, uint64_t pc, SourceFrame *frame, uint32_t *count,
                         int depth)
{
    Dwarf_Die child;
    if (depth > TREE_DEPTH || dwarf_child(die, &child) != 0) return;
    do {
        int tag = dwarf_tag(&child);
        if (tag != DW_TAG_lexical_block && tag != DW_TAG_inlined_subroutine) continue;
        if (!has_pc(&child, pc)) continue;
        if (tag == DW_TAG_inlined_subroutine && *count < INLINE_DEPTH) {
            SourceFrame *inner = &frame[(*count)++];
            *inner = (SourceFrame){.die = dwarf_dieoffset(&child), .is_inlined = 1};
            inner->call_line = (uint32_t)number_of(&child, DW_AT_call_line, 0);
            name_of(&child, inner->name, sizeof inner->name);
        }
        inlines_find(&child, pc, frame, count, depth + 1);
        return;
    } while (dwarf_siblingof(&child, &child) == 0);
}

static int function_find(const Symbols *symbols, const char *name, Dwarf_Die *die)
{
    for (uint32_t i = 0; i < symbols->functions; i++)
        if (!strcmp(symbols->function_name[i], name))
            return dwarf_offdie(symbols->image.dwarf, symbols->function[i], die) != NULL;
    return 0;
}

uint32_t symbols_frames(const Symbols *symbols, const char *function, uint64_t pc,
                        SourceFrame frame[INLINE_DEPTH])
{
    Dwarf_Die die;
    uint32_t count = 0;
    if (!function_find(symbols, function, &die)) return 0;
    frame[count] = (SourceFrame){.die = dwarf_dieoffset(&die)};
    name_of(&die, frame[count++].name, sizeof frame->name);
    inlines_find(&die, pc, frame, &count, 0);
    for (uint32_t i = 0; i < count / 2; i++) {
        SourceFrame other = frame[i];
        frame[i] = frame[count - 1 - i], frame[count - 1 - i] = other;
    }
    return count;
}

/* ---- variables ---- */

/* NVIDIA packs the letters of a register's name into its number, the last one lowest. */
static void register_name(Dwarf_Word number, char *text)
{
    char letters[9] = "";
    int at = 8;
    while (number && at > 0)
        letters[--at] = (char)(number & 0xff), number >>= 8;
    strcpy(text, letters + at);
}

static void place_read(const Symbols *symbols, const Dwarf_Op *op, size_t count, Variable *variable)
{
    int64_t offset = 0;
    if (count == 0) {
        text_copy(variable->why, sizeof variable->why, "it is optimised out here");
        return;
    }
    for (size_t i = 1; i < count; i++) {
        if (op[i].atom == DW_OP_plus_uconst)
            offset += (int64_t)op[i].number;
        else if (op[i].atom != DW_OP_stack_value && op[i].atom != DW_OP_nop) {
            text_copy(variable->why, sizeof variable->why,
                      "its location is of a kind that this debugger does not read");
            return;
        }
    }
    if (op->atom == DW_OP_addr) {
        int64_t within;
        const char *symbol = dwarf_image_symbol(&symbols->image, op->number, &within);
        if (!symbol) {
            text_copy(variable->why, sizeof variable->why, "its address names no variable");
            return;
        }
        variable->place = PLACE_SYMBOL, variable->offset = within + offset;
        text_copy(variable->symbol, sizeof variable->symbol, symbol);
    } else if (op->atom == DW_OP_regx) {
        variable->place = PLACE_REGISTER;
        register_name(op->number, variable->symbol);
    } else if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
        variable->place = PLACE_CONSTANT, variable->offset = op->atom - DW_OP_lit0 + offset;
    } else if (op->atom == DW_OP_constu || op->atom == DW_OP_consts) {
        variable->place = PLACE_CONSTANT, variable->offset = (int64_t)op->number + offset;
    } else {
        text_copy(variable->why, sizeof variable->why,
                  "its location is of a kind that this debugger does not read");
    }
}

static void variable_read(Symbols *symbols, Dwarf_Die *die, uint64_t pc, Variable *variable)
{
    Dwarf_Attribute attr;
    Dwarf_Die origin = *die, next;
    Dwarf_Op *op[1];
    size_t count[1];
    Dwarf_Sword value;
    memset(variable, 0, sizeof *variable);
    name_of(die, variable->name, sizeof variable->name);
    if (reference_of(die, DW_AT_abstract_origin, &next)) origin = next;
    variable->type = type_of(symbols, &origin, 0);
    if (!variable->type) variable->type = &TYPE_OF_VOID;
    variable->is_argument = dwarf_tag(die) == DW_TAG_formal_parameter;
    variable->space = (uint32_t)number_of(die, ADDRESS_CLASS, 0);
    if (dwarf_attr(die, DW_AT_location, &attr)) {
        if (dwarf_getlocation(&attr, op, count) == 0)
            place_read(symbols, op[0], count[0], variable);
        else if (dwarf_getlocation_addr(&attr, pc, op, count, 1) == 1)
            place_read(symbols, op[0], count[0], variable);
        else
            text_copy(variable->why, sizeof variable->why,
                      "it has no value at this line: it is not assigned yet, or no longer used");
        return;
    }
    if ((dwarf_attr(die, DW_AT_const_value, &attr) ||
         dwarf_attr(&origin, DW_AT_const_value, &attr)) &&
        dwarf_formsdata(&attr, &value) == 0) {
        variable->place = PLACE_CONSTANT, variable->offset = value;
        return;
    }
    const char *linkage =
        dwarf_attr(die, LINKAGE_NAME, &attr) || dwarf_attr(&origin, LINKAGE_NAME, &attr)
            ? dwarf_formstring(&attr)
            : NULL;
    text_copy(variable->why, sizeof variable->why, "it is optimised out");
    if (!linkage) return;
    /* "extern __shared__": it has a name in the PTX, and no location. */
    variable->place = PLACE_SYMBOL;
    text_copy(variable->symbol, sizeof variable->symbol, linkage);
}

typedef struct Visit {
    Symbols *symbols;
    uint64_t pc;
    int (*visit)(void *context, const Variable *variable);
    void *context;
} Visit;

/* Inner blocks first. */
static int block_visit(Visit *v, Dwarf_Die *die, int depth)
{
    Dwarf_Die child;
    Variable variable;
    if (depth > TREE_DEPTH || dwarf_child(die, &child) != 0) return 0;
    Dwarf_Die first = child;
    do {
        if (dwarf_tag(&child) != DW_TAG_lexical_block || !has_pc(&child, v->pc)) continue;
        int found = block_visit(v, &child, depth + 1);
        if (found) return found;
    } while (dwarf_siblingof(&child, &child) == 0);
    child = first;
    do {
        int tag = dwarf_tag(&child);
        if (tag != DW_TAG_variable && tag != DW_TAG_formal_parameter) continue;
        variable_read(v->symbols, &child, v->pc, &variable);
        int found = *variable.name ? v->visit(v->context, &variable) : 0;
        if (found) return found;
    } while (dwarf_siblingof(&child, &child) == 0);
    return 0;
}

static int globals_visit(Visit *v)
{
    Dwarf_Die unit, child;
    Variable variable;
    if (!v->symbols->unit || !dwarf_offdie(v->symbols->image.dwarf, v->symbols->unit, &unit) ||
        dwarf_child(&unit, &child) != 0)
        return 0;
    do {
        if (dwarf_tag(&child) != DW_TAG_variable) continue;
        variable_read(v->symbols, &child, v->pc, &variable);
        variable.is_global = 1;
        int found = *variable.name ? v->visit(v->context, &variable) : 0;
        if (found) return found;
    } while (dwarf_siblingof(&child, &child) == 0);
    return 0;
}

int symbols_variables(Symbols *symbols, Dwarf_Off frame, uint64_t pc, int globals,
                      int (*visit)(void *context, const Variable *variable), void *context)
{
    Visit v = {symbols, pc, visit, context};
    Dwarf_Die die;
    if (!symbols->image.dwarf) return 0;
    if (frame && dwarf_offdie(symbols->image.dwarf, frame, &die)) {
        int found = block_visit(&v, &die, 0);
        if (found) return found;
    }
    return globals ? globals_visit(&v) : 0;
}

static const Type *type_search(Symbols *symbols, Dwarf_Die *die, const char *name, int depth)
{
    Dwarf_Die child;
    if (depth > 4 || dwarf_child(die, &child) != 0) return NULL;
    do {
        int tag = dwarf_tag(&child);
        const char *own = dwarf_diename(&child);
        if (is_type_tag(tag) && own && !strcmp(own, name)) return type_read(symbols, &child, 0);
        if (tag != DW_TAG_namespace && tag != DW_TAG_subprogram) continue;
        const Type *found = type_search(symbols, &child, name, depth + 1);
        if (found) return found;
    } while (dwarf_siblingof(&child, &child) == 0);
    return NULL;
}

const Type *symbols_type(Symbols *symbols, const char *name)
{
    Dwarf_Die unit;
    if (!symbols->unit || !dwarf_offdie(symbols->image.dwarf, symbols->unit, &unit)) return NULL;
    return type_search(symbols, &unit, name, 0);
}

/* ---- types in words ---- */

void type_name(const Type *type, char *text, size_t bytes)
{
    char inner[SYMBOL_NAME * 2] = "", dims[80] = "";
    size_t used = 0;
    int stars = 0, references = 0;
    while (type->kind == TYPE_ARRAY && used + 24 < sizeof dims) {
        used += (size_t)snprintf(dims + used, sizeof dims - used, "[%llu]",
                                 (unsigned long long)type->count);
        type = type->target;
    }
    while ((type->kind == TYPE_POINTER || type->kind == TYPE_REFERENCE) && stars < 8) {
        references += type->kind == TYPE_REFERENCE;
        stars += type->kind == TYPE_POINTER;
        type = type->target;
    }
    snprintf(inner, sizeof inner, "%s",
             *type->name                   ? type->name
             : type->kind == TYPE_FUNCTION ? "(function)"
             : type->kind == TYPE_STRUCT   ? "struct {...}"
             : type->kind == TYPE_ARRAY    ? "(array)"
                                           : "(unnamed)");
    snprintf(text, bytes, "%s%s%.*s%s%s%s", inner, stars || references ? " " : "", stars,
             "********", references ? "&" : "", *dims ? " " : "", dims);
}

/* "float w[2]" */
static void declaration(const Member *member, char *text, size_t bytes)
{
    char name[SYMBOL_NAME * 3];
    type_name(member->type, name, sizeof name);
    char *dims = member->type->kind == TYPE_ARRAY ? strchr(name, '[') : NULL;
    if (dims)
        snprintf(text, bytes, "%.*s%s%s", (int)(dims - name), name, member->name, dims);
    else
        snprintf(text, bytes, "%s %s", name, member->name);
}

void type_describe(const Type *type, char *text, size_t bytes)
{
    char name[SYMBOL_NAME * 5];
    if ((type->kind != TYPE_STRUCT && type->kind != TYPE_ENUM) || !type->members) {
        type_name(type, text, bytes);
        return;
    }
    int is_enum = type->kind == TYPE_ENUM;
    size_t used = (size_t)snprintf(text, bytes, "%s %s {%s",
                                   is_enum          ? "enum"
                                   : type->is_union ? "union"
                                                    : "struct",
                                   type->name, is_enum ? "" : "\n");
    for (uint32_t i = 0; i < type->members && used < bytes; i++) {
        const Member *member = &type->member[i];
        declaration(member, name, sizeof name);
        if (is_enum)
            used += (size_t)snprintf(text + used, bytes - used, "%s%s = %lld", i ? ", " : "",
                                     member->name, (long long)member->value);
        else
            used += (size_t)snprintf(text + used, bytes - used, "    %s;\n", name);
    }
    if (used < bytes) snprintf(text + used, bytes - used, "}");
}
