/* ptx_name.c - interned names, and what they mean in the scopes that are open.
 *
 * A register of a range %r<N> is created at its first use, so that the size of a range costs
 * nothing and a function has only the registers that its text names. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/simulator/ptx/ptx_parser.h"

typedef struct Word {
    const char *text;
    Keyword keyword;
    PtxType type;
} Word;

static const Word WORDS[] = {
    {"version", KEY_VERSION, PTX_NONE},
    {"target", KEY_TARGET, PTX_NONE},
    {"address_size", KEY_ADDRESS_SIZE, PTX_NONE},
    {"file", KEY_FILE, PTX_NONE},
    {"loc", KEY_LOC, PTX_NONE},
    {"section", KEY_SECTION, PTX_NONE},
    {"pragma", KEY_PRAGMA, PTX_NONE},
    {"alias", KEY_ALIAS, PTX_NONE},
    {"visible", KEY_VISIBLE, PTX_NONE},
    {"extern", KEY_EXTERN, PTX_NONE},
    {"weak", KEY_WEAK, PTX_NONE},
    {"common", KEY_COMMON, PTX_NONE},
    {"entry", KEY_ENTRY, PTX_NONE},
    {"func", KEY_FUNC, PTX_NONE},
    {"reg", KEY_REG, PTX_NONE},
    {"param", KEY_PARAM, PTX_NONE},
    {"const", KEY_CONST, PTX_NONE},
    {"global", KEY_GLOBAL, PTX_NONE},
    {"shared", KEY_SHARED, PTX_NONE},
    {"local", KEY_LOCAL, PTX_NONE},
    {"align", KEY_ALIGN, PTX_NONE},
    {"ptr", KEY_PTR, PTX_NONE},
    {"attribute", KEY_ATTRIBUTE, PTX_NONE},
    {"managed", KEY_MANAGED, PTX_NONE},
    {"maxntid", KEY_MAXNTID, PTX_NONE},
    {"reqntid", KEY_REQNTID, PTX_NONE},
    {"minnctapersm", KEY_MINNCTAPERSM, PTX_NONE},
    {"maxnreg", KEY_MAXNREG, PTX_NONE},
    {"reqnctapercluster", KEY_REQNCTAPERCLUSTER, PTX_NONE},
    {"maxnctapersm", KEY_HEADER_OTHER, PTX_NONE},
    {"noreturn", KEY_HEADER_OTHER, PTX_NONE},
    {"explicitcluster", KEY_HEADER_OTHER, PTX_NONE},
    {"maxclusterrank", KEY_HEADER_OTHER, PTX_NONE},
    {"blocksareclusters", KEY_HEADER_OTHER, PTX_NONE},
    {"abi_preserve", KEY_HEADER_OTHER, PTX_NONE},
    {"abi_preserve_control", KEY_HEADER_OTHER, PTX_NONE},
    {"branchtargets", KEY_BRANCHTARGETS, PTX_NONE},
    {"calltargets", KEY_CALLTARGETS, PTX_NONE},
    {"callprototype", KEY_CALLPROTOTYPE, PTX_NONE},
    {"v2", KEY_V2, PTX_NONE},
    {"v4", KEY_V4, PTX_NONE},
    {"v8", KEY_V8, PTX_NONE},
    {"bra", KEY_BRA, PTX_NONE},
    {"brx", KEY_BRX, PTX_NONE},
    {"call", KEY_CALL, PTX_NONE},
    {"generic", KEY_GENERIC, PTX_NONE},
    {"function_name", KEY_FUNCTION_NAME, PTX_NONE},
    {"inlined_at", KEY_INLINED_AT, PTX_NONE},
    {"WARP_SZ", KEY_WARP_SIZE, PTX_NONE},
    {"_", KEY_SINK, PTX_NONE},
    {"texref", KEY_TEXREF, PTX_B64},
    {"samplerref", KEY_TEXREF, PTX_B64},
    {"surfref", KEY_TEXREF, PTX_B64},
    {"pred", KEY_NONE, PTX_PRED},
    {"b8", KEY_NONE, PTX_B8},
    {"b16", KEY_NONE, PTX_B16},
    {"b32", KEY_NONE, PTX_B32},
    {"b64", KEY_NONE, PTX_B64},
    {"b128", KEY_NONE, PTX_B128},
    {"u8", KEY_NONE, PTX_U8},
    {"u16", KEY_NONE, PTX_U16},
    {"u32", KEY_NONE, PTX_U32},
    {"u64", KEY_NONE, PTX_U64},
    {"s8", KEY_NONE, PTX_S8},
    {"s16", KEY_NONE, PTX_S16},
    {"s32", KEY_NONE, PTX_S32},
    {"s64", KEY_NONE, PTX_S64},
    {"f16", KEY_NONE, PTX_F16},
    {"f16x2", KEY_NONE, PTX_F16X2},
    {"bf16", KEY_NONE, PTX_BF16},
    {"bf16x2", KEY_NONE, PTX_BF16X2},
    {"tf32", KEY_NONE, PTX_TF32},
    {"f32", KEY_NONE, PTX_F32},
    {"f64", KEY_NONE, PTX_F64},
};

/* ---- interning ---- */

/* Multiplies eight bytes at a time by a random odd seed, so that a text cannot contain names that
 * all collide. */
static uint32_t name_hash(uint64_t seed, const char *text, size_t length)
{
    uint64_t hash = seed ^ length;
    while (length) {
        uint64_t block = 0;
        size_t bytes = length < 8 ? length : 8;
        memcpy(&block, text, bytes);
        hash = (hash ^ block) * (seed | 1);
        hash ^= hash >> 29;
        text += bytes;
        length -= bytes;
    }
    hash *= 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash >> 32);
}

static Name **name_slot(Parser *p, const char *text, size_t length, uint32_t hash)
{
    uint32_t mask = p->table_size - 1;
    uint32_t index = hash & mask;
    for (;; index = (index + 1) & mask) {
        Name *name = p->table[index];
        if (!name ||
            (name->hash == hash && name->length == length && memcmp(name->text, text, length) == 0))
            return &p->table[index];
    }
}

static int names_grow(Parser *p)
{
    uint32_t old_size = p->table_size;
    Name **old = p->table;
    Name **table = calloc((size_t)2 * old_size, sizeof *table);
    if (!table) return parser_out_of_memory(p);
    p->table = table;
    p->table_size = 2 * old_size;
    for (uint32_t i = 0; i < old_size; i++) {
        if (!old[i]) continue;
        uint32_t index = old[i]->hash & (p->table_size - 1);
        while (table[index])
            index = (index + 1) & (p->table_size - 1);
        table[index] = old[i];
    }
    free(old);
    return 0;
}

/* The name if it exists; does not create it. */
static Name *name_find(Parser *p, const char *text, size_t length)
{
    return *name_slot(p, text, length, name_hash(p->seed, text, length));
}

Name *name_intern(Parser *p, const char *text, size_t length)
{
    uint32_t hash = name_hash(p->seed, text, length);
    Name **slot = name_slot(p, text, length, hash);
    if (*slot) return *slot;
    if (p->names >= p->table_size / 2) {
        if (names_grow(p)) return NULL;
        slot = name_slot(p, text, length, hash);
    }
    Name *name = parser_alloc(p, sizeof *name + length + 1);
    if (!name) return NULL;
    char *copy = (char *)(name + 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    *name = (Name){.text = copy, .length = (uint32_t)length, .hash = hash};
    *slot = name;
    p->names++;
    return name;
}

int names_open(Parser *p)
{
    p->table_size = 1024;
    p->table = calloc(p->table_size, sizeof *p->table);
    if (!p->table) return parser_out_of_memory(p);
    if (getrandom(&p->seed, sizeof p->seed, GRND_NONBLOCK) != (ssize_t)sizeof p->seed)
        p->seed = 0x51ed270b9a2c4f65u;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        Name *name = name_intern(p, WORDS[i].text, strlen(WORDS[i].text));
        if (!name) return -1;
        name->keyword = WORDS[i].keyword;
        name->type = WORDS[i].type;
    }
    return 0;
}

/* ---- scopes ---- */

int scope_open(Parser *p)
{
    if (p->depth >= PTX_MAX_SCOPES)
        return parser_fail(p, p->token.line, "blocks nested deeper than %d", PTX_MAX_SCOPES);
    p->depth++;
    p->scope[p->depth] = (Scope){.first_fixup = p->fixups.count};
    return 0;
}

int fixup_settle(Parser *p, const Fixup *fixup, const Binding *binding)
{
    PtxInstruction *instruction = p->instructions.item;
    switch (fixup->kind) {
    case FIX_BRANCH:
        if (binding->kind != BOUND_LABEL) return 0;
        instruction[fixup->instruction].target = binding->index;
        return 1;
    case FIX_SLOT:
        if (binding->kind != BOUND_LABEL) return 0;
        *fixup->slot = binding->index;
        return 1;
    case FIX_TARGETS:
        if (binding->kind != BOUND_TARGETS) return 0;
        instruction[fixup->instruction].targets = binding->list->target;
        instruction[fixup->instruction].target_count = binding->list->count;
        return 1;
    case FIX_SYMBOL:
        if (!fixup->operand) return 1;
        if (binding->kind == BOUND_PARAMETER) {
            fixup->operand->variable = binding->variable;
        } else if (binding->kind == BOUND_VARIABLE) {
            Stack *uses = binding->depth ? &p->variable_uses : &p->module_uses;
            VariableUse *use = stack_push(p, uses);
            if (!use) return -1;
            *use = (VariableUse){fixup->operand, binding->index};
        } else if (binding->kind == BOUND_REGISTER || binding->kind == BOUND_RANGE) {
            return 0;
        }
        return 1;
    }
    return 0;
}

static int fixup_refuse(Parser *p, const Fixup *fixup)
{
    static const char *const what[] = {"label", "list of branch targets", "label", "name"};
    int length = fixup->name->length < 80 ? (int)fixup->name->length : 80;
    return parser_fail(p, fixup->line, "%s '%.*s' is not declared", what[fixup->kind], length,
                       fixup->name->text);
}

/* Names that this scope does not declare are left to the enclosing scope; labels never come from
 * outside the function. */
static int scope_settle(Parser *p)
{
    Fixup *fixup = p->fixups.item;
    size_t kept = p->scope[p->depth].first_fixup;
    for (size_t i = kept; i < p->fixups.count; i++) {
        Binding *binding = fixup[i].name->binding;
        int settled =
            binding && binding->depth == p->depth ? fixup_settle(p, &fixup[i], binding) : 0;
        if (settled < 0) return -1;
        if (settled) continue;
        if (p->depth == 0 || (p->depth == 1 && fixup[i].kind != FIX_SYMBOL))
            return fixup_refuse(p, &fixup[i]);
        fixup[kept++] = fixup[i];
    }
    p->fixups.count = kept;
    return 0;
}

int scope_close(Parser *p)
{
    if (scope_settle(p)) return -1;
    for (Binding *binding = p->scope[p->depth].first; binding;) {
        Binding *next = binding->sibling;
        binding->name->binding = binding->outer;
        if (binding->kind == BOUND_RANGE && binding->depth > 1) p->inner_ranges--;
        binding->sibling = p->free_binding;
        p->free_binding = binding;
        binding = next;
    }
    p->scope[p->depth].first = NULL;
    if (p->depth) p->depth--;
    return 0;
}

Binding *scope_bind(Parser *p, Name *name, BindingKind kind, uint32_t depth, uint32_t line)
{
    if (name->binding && name->binding->depth == depth) {
        int length = name->length < 80 ? (int)name->length : 80;
        parser_fail(p, line, "'%.*s' is declared twice", length, name->text);
        return NULL;
    }
    Binding *binding = p->free_binding;
    if (binding)
        p->free_binding = binding->sibling;
    else if (!(binding = parser_alloc(p, sizeof *binding)))
        return NULL;
    *binding = (Binding){.kind = kind,
                         .depth = depth,
                         .name = name,
                         .outer = name->binding,
                         .sibling = p->scope[depth].first};
    name->binding = binding;
    p->scope[depth].first = binding;
    if (kind == BOUND_RANGE && depth > 1) p->inner_ranges++;
    return binding;
}

/* ---- registers ---- */

int32_t register_add(Parser *p, Name *name, PtxType type)
{
    if (p->registers.count >= PTX_MAX_REGISTERS)
        return parser_fail(p, p->token.line, "more than %d registers in a function",
                           PTX_MAX_REGISTERS) -
               1;
    PtxRegister *reg = stack_push(p, &p->registers);
    if (!reg) return -2;
    *reg = (PtxRegister){name->text, type};
    return (int32_t)(p->registers.count - 1);
}

/* The range that "%r12" is a member of: "%r<" is how a range is bound. */
static const Binding *range_find(Parser *p, const Name *name)
{
    char key[PTX_MAX_RANGE_NAME + 1];
    uint32_t digits = name->length;
    while (digits > 0 && name->text[digits - 1] >= '0' && name->text[digits - 1] <= '9')
        digits--;
    uint32_t count = name->length - digits;
    if (count == 0 || count > 7 || digits == 0 || digits > PTX_MAX_RANGE_NAME ||
        (count > 1 && name->text[digits] == '0'))
        return NULL;
    memcpy(key, name->text, digits);
    key[digits] = '<';
    const Name *range = name_find(p, key, digits + 1);
    unsigned long number = strtoul(name->text + digits, NULL, 10);
    const Binding *binding = range ? range->binding : NULL;
    while (binding && number >= binding->index)
        binding = binding->outer; /* a shorter range hides only the registers that it has */
    return binding;
}

int32_t scope_register(Parser *p, Name *name)
{
    const Binding *binding = name->binding;
    int is_register = binding && binding->kind == BOUND_REGISTER;
    if (is_register && (p->inner_ranges == 0 || binding->depth == p->depth))
        return (int32_t)binding->index;
    const Binding *range = range_find(p, name);
    if (!range || (binding && binding->depth >= range->depth))
        return is_register ? (int32_t)binding->index : PTX_NO_REGISTER;
    int32_t index = register_add(p, name, range->type);
    if (index < 0) return -2;
    Binding *bound = scope_bind(p, name, BOUND_REGISTER, range->depth, p->token.line);
    if (!bound) return -2;
    bound->index = (uint32_t)index;
    return index;
}

int fixup_add(Parser *p, FixupKind kind, Name *name, uint32_t line, void *target)
{
    Fixup *fixup = stack_push(p, &p->fixups);
    if (!fixup) return -1;
    *fixup = (Fixup){
        .kind = kind, .line = line, .instruction = (uint32_t)p->instructions.count, .name = name};
    if (kind == FIX_SLOT)
        fixup->slot = target;
    else if (kind == FIX_SYMBOL)
        fixup->operand = target;
    return 0;
}
