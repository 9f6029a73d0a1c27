// SPDX-License-Identifier: Apache-2.0
// select.hpp  The only place that chooses a backend: the same names, run by the GPU or emulated.
#pragma once

#if !defined(__CUDACC__)
#include "tilewright/arch/emu/all.hpp"
#else
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !defined(__CUDA_ARCH_FEAT_SM90_ALL) && \
    !defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
#error "[TW0301] build this file for sm_90a: -gencode arch=compute_90a,code=sm_90a (or sm_100f)"
#endif
#include "tilewright/arch/cuda/all.hpp"
#endif
