// SPDX-License-Identifier: Apache-2.0
// built_kernels.hpp  The kernels of this build by tile shape, for tests over all of them.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "family/gemv/config_of.hpp"
#include "family/gemv/launchers.hpp"
#include "family/sm90_gemm/config_of.hpp"
#include "family/sm90_gemm/launchers.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw::test {

inline bool is_built(gemm_config const& c) {
  int const index = sm90_gemm_family::index_of(c);
  return index >= 0 && sm90_gemm_family::emu_launchers()[static_cast<std::size_t>(index)];
}
inline bool is_built(gemv_config const& c) {
  int const index = gemv_family::index_of(c);
  return index >= 0 && gemv_family::emu_launchers()[static_cast<std::size_t>(index)];
}

/// The configuration of a plan's kernel, if it is of the family sm90_gemm, or gemv.
inline std::optional<gemm_config> sm90_config(gemm_plan const& p) {
  return is_sm90_gemm(p) ? std::optional(config_of(p)) : std::nullopt;
}
inline std::optional<gemv_config> gemv_config_of(gemm_plan const& p) {
  return gemv_family::is_gemv(p) ? std::optional(gemv_family::config_of(p)) : std::nullopt;
}

/// The plans by kernels of this build, for an H200 (or another device) with so many SMs; none where
/// it lacks all.
inline std::vector<gemm_plan> built_plans(gemm_problem const& p, gemm_operands const& o, int sms,
                                          char const* of = "h200") {
  device const dev = with_sm_count(known_device(of), sms);
  std::vector<gemm_plan> plans = plan_candidates(p, o, dev, kernel_set::all);
  std::erase_if(plans, [](gemm_plan const& x) { return !x.built; });
  return plans;
}

inline std::size_t built_gemvs() {
  auto const all = gemv_family::emu_launchers();
  return all.size() - static_cast<std::size_t>(std::ranges::count(all, nullptr));
}

/// The kernels of this build for K-major bf16 operands with bf16 results: one per tile shape.
inline std::vector<gemm_config> const& tile_shapes() {
  static std::vector<gemm_config> const all = [] {
    std::vector<gemm_config> shapes;
    for (sm90_gemm_family::instance const& i : sm90_gemm_family::instances())
      if (gemm_config const& c = i.config;
          c.a == operand_spec{} && c.b == operand_spec{} && c.d == elem::bf16 && is_built(c))
        shapes.push_back(c);
    return shapes;
  }();
  return all;
}
inline gemm_config const& tile_shape(int index) {
  return tile_shapes()[static_cast<std::size_t>(index)];
}

/// The configuration of this tile shape for other operands, whether or not it is compiled.
inline gemm_config config_of(gemm_config shape, operand_spec a, operand_spec b, elem d) {
  shape.a = a, shape.b = b, shape.d = d;
  if (b.is_mn_major()) shape.min_tile_n = 0;
  return shape;
}

}  // namespace tw::test
