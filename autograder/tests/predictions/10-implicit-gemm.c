#include "autograder/tests/predictions/derive.h"

const LabDerivations derive_10 = {"10-implicit-gemm", {{0}}};
