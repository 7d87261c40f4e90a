#include "autograder/tests/predictions/derive.h"

const LabDerivations derive_05 = {"05-register-tiled", {{0}}};
