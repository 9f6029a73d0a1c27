// SPDX-License-Identifier: Apache-2.0
// kernels.hpp  The kernels of all families that are compiled with a record of their stages.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tilewright/family/family.hpp"

namespace tw::stages {

struct recorded_kernel : profiled_kernel {
  gemm_family const* of = nullptr;
  std::string family, word;  // the words of --family and --tile: "sm90_gemm", "128x256"
};

/// All recorded kernels; those that are compiled for the GPU too come first. The first kernel of a
/// family is its default, without --tile.
std::span<recorded_kernel const> recorded_kernels();

/// The kernel of a family with this tile, or with any where `tile` is empty; or nullptr.
recorded_kernel const* find_recorded(std::string_view family, std::string_view tile = {});

}  // namespace tw::stages
