#pragma once

// Every element type that C++ has no name for.
#include "base/numeric/float8.h"
#include "base/numeric/half.h"
#include "base/numeric/packed.h"
