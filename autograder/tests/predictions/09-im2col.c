#include "autograder/tests/predictions/derive.h"

const LabDerivations derive_09 = {"09-im2col", {{0}}};
