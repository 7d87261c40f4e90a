/* helper_functions.h - the helpers of programs derived from NVIDIA's samples. */
#ifndef SIMULATE_HELPER_FUNCTIONS_H
#define SIMULATE_HELPER_FUNCTIONS_H

#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "helper_image.h"
#include "helper_string.h"
#include "helper_timer.h"

#endif
