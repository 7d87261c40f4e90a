#include "autograder/tests/predictions/derive.h"

const LabDerivations derive_01 = {"01-sequential", {{0}}};
