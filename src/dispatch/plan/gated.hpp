// SPDX-License-Identifier: Apache-2.0
// gated.hpp  GEMMs whose rows of A arrive from other ranks while they run (kernel/sm90/gate.hpp).
#pragma once

#include <memory>

#include "family/gate_form.hpp"
#include "tilewright/dispatch/gemm.hpp"

namespace tw {

/// The first plan for `p` on `dev` whose kernel has a gate (gemm_family::has_gate). The plan leaves
/// one SM to launches of other calls, for which the peers may wait. plan.why names the first plan
/// of all kernels, if that is another. Throws as plan_gemm(), and TW0904 if no kernel for `p` has
/// a gate.
gemm_plan plan_gated(gemm_problem const& p, gemm_operands const& o, device const& dev);

/// As cached_plan(), of plan_gated().
std::shared_ptr<gemm_plan const> cached_gated_plan(gemm_problem const& p, gemm_operands const& o,
                                                   device const& dev, int ordinal);

/// Run a plan of plan_gated(). As gemm_emulated() and gemm().
void gemm_emulated(gemm_plan const& plan, gemm_operands const& o, gate_form const& gate,
                   emu_options const& opt);
void gemm(gemm_plan const& plan, gemm_operands const& o, gate_form const& gate,
          cudaStream_t stream);

}  // namespace tw
