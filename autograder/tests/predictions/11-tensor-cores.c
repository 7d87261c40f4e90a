#include "autograder/tests/predictions/derive.h"

const LabDerivations derive_11 = {"11-tensor-cores", {{0}}};
