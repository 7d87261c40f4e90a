#include "autograder/tests/predictions/derive.h"

const LabDerivations derive_13 = {"13-sparse", {{0}}};
