#include "autograder/tests/predictions/derive.h"

const LabDerivations derive_07 = {"07-strength-reduced", {{0}}};
