#include "autograder/tests/predictions/derive.h"

const LabDerivations derive_06 = {"06-unrolled", {{0}}};
