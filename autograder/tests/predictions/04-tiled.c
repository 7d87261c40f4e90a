#include "autograder/tests/predictions/derive.h"

const LabDerivations derive_04 = {"04-tiled", {{0}}};
