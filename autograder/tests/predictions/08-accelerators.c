#include "autograder/tests/predictions/derive.h"

const LabDerivations derive_08 = {"08-accelerators", {{0}}};
