// SPDX-License-Identifier: Apache-2.0
// kernels.hpp  The kernels that are compiled with a record of their stages, as values.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "family/bind.hpp"
#include "tilewright/arch/emu/options.hpp"
#include "tilewright/family/family.hpp"
#include "tilewright/pipeline/stage_profile.hpp"

namespace tw::stages {

/// A kernel with a record: bf16, A and B K-major.
struct recorded_kernel {
  std::string_view family, tile;   // the words of --family and --tile
  int index = -1;                  // the same kernel without a record, of the family
  std::vector<std::string> roles;  // of a CTA, that have a record each
  void (*launch_emulated)(gemm_plan const& plan, launch_form const& form, stage_log const& log,
                          emu::options const& options) = nullptr;
  /// Has run_on_gpu() the kernel? Others run in the emulator alone.
  bool on_gpu = false;
};

/// All recorded kernels. The first kernel of a family is its default, without --tile.
std::span<recorded_kernel const> recorded_kernels();

/// The kernel of a family with this tile, or with any where `tile` is empty; or nullptr.
recorded_kernel const* find_recorded(std::string_view family, std::string_view tile = {});

/// Of each family: one file has the configurations, the launches and the roles.
std::vector<recorded_kernel> recorded_sm90();
std::vector<recorded_kernel> recorded_sm80();
std::vector<recorded_kernel> recorded_sm100();

/// "math warpgroup 0", "math warpgroup 1", ...
std::vector<std::string> math_warpgroups(int count);

}  // namespace tw::stages
