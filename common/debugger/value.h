/* value.h - values of an expression in the 32 lanes of a warp, and the memory that holds them. */
#ifndef CONVLAB_DEBUGGER_VALUE_H
#define CONVLAB_DEBUGGER_VALUE_H

#include "common/debugger/kernel_map.h"

enum { VALUE_WHY = 240 };

typedef enum ValueHome { HOME_NONE, HOME_MEMORY, HOME_REGISTER, HOME_DIM3 } ValueHome;

typedef struct Value {
    const Type *type;
    ValueHome home;          /* storage, if the value can be assigned; HOME_DIM3: threadIdx and
                              * similar */
    uint32_t slot, width;    /* place of a register */
    uint64_t address[LANES]; /* generic, of memory; of HOME_DIM3 the special register's number */
    union {                  /* value of a scalar */
        int64_t i[LANES];
        double f[LANES];
    };
    uint32_t valid;      /* lanes that have a value */
    char why[VALUE_WHY]; /* the first lane that has none */
} Value;

int type_is_scalar(const Type *type);
int type_is_floating(const Type *type); /* its values are Value.f */

/* f as an integer, as C converts it; the nearest one if int64_t cannot hold it, and for NaN the
 * least. */
int64_t value_integer(double f);

/* Host address of the bytes at a generic address in a lane; NULL with why: they are in no
 * memory. */
unsigned char *lane_memory(const Warp *warp, uint32_t lane, uint64_t address, uint64_t bytes,
                           char *why, size_t room);
/* Fills in i or f of a scalar from its home, in the lanes of `mask`. */
void value_load(const Warp *warp, Value *value, uint32_t mask);
/* Writes i or f to its home.  -1 with why. */
int value_store(Warp *warp, Value *value, uint32_t mask, char *why, size_t room);
void value_no(Value *value, const char *format, ...) __attribute__((format(printf, 2, 3)));
double half_value(uint32_t bits);
double bfloat_value(uint32_t bits);

/* "{1, 2 <repeats 3 times>}": one lane's value.  `format`: 0, or one of d u x o t c f a. */
void value_print(const Warp *warp, const Value *value, uint32_t lane, char format, char *text,
                 size_t bytes);
void scalar_print(const Type *type, int64_t i, double f, char format, char *text, size_t bytes);

#endif
