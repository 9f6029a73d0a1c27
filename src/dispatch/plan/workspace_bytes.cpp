// SPDX-License-Identifier: Apache-2.0
// workspace_bytes.cpp  A workspace that serves every plan of a problem.
#include <algorithm>

#include "family/as_run.hpp"
#include "family/bind.hpp"
#include "family/no_inner.hpp"
#include "family/ordered_rows.hpp"
#include "family/workspace.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw {

std::int64_t gemm_workspace_bytes(gemm_problem const& given, gemm_operands const& operands,
                                  device const& dev) {
  gemm_problem const p = with_inner(given);
  gemm_operands const o = in_order(operands, operands_as_run(given, false));
  std::int64_t for_shared_tiles = std::int64_t{64} << 20;
  for (gemm_family const* f : families())
    for_shared_tiles =
        std::max(for_shared_tiles, gemm_workspace_zeros + f->max_partials_bytes(dev.sm_count));
  gemm_plan copies;
  copies.normal = p;
  choose_copies(copies, o);
  copies.problem = given;
  copies.stage_d = given.scale_d.has_value();
  std::int64_t bytes = workspace_of(copies).bytes;
  if (may_order_rows(p)) {
    order_rows(copies);
    bytes = std::max(bytes, workspace_of(copies).bytes);
  }
  return for_shared_tiles + bytes;
}

std::int64_t gemm_workspace_bytes(gemm_problem const& p, gemm_operands const& o) {
  auto const most_sms = std::ranges::max_element(known_devices(), {}, &device::sm_count);
  return gemm_workspace_bytes(p, o, *most_sms);
}

}  // namespace tw
