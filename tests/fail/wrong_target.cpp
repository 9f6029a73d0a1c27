// SPDX-License-Identifier: Apache-2.0
// wrong_target.cpp  A kernel built for sm_90, where wgmma does not exist, instead of sm_90a.
// compilers: nvcc
// bad target: 90
// expect-error: [TW0301]
#include "tilewright/arch/select.hpp"
