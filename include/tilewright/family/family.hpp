// SPDX-License-Identifier: Apache-2.0
// family.hpp  A kernel family: which GEMMs its kernels compute, how long that should take, and how
//             a launch is made. One folder of src/family and one value.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/arch/types.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/device/occupancy.hpp"
#include "tilewright/family/kernel_memory.hpp"
#include "tilewright/family/plan.hpp"
#include "tilewright/problem/block_format.hpp"
#include "tilewright/problem/epilogue_kind.hpp"

typedef struct CUstream_st* cudaStream_t;

namespace tw {

struct stage_log;  // pipeline/stage_profile.hpp
struct gate_form;  // src/family/gate_form.hpp
namespace emu {
struct options;  // arch/emu/options.hpp
}

/// Values that a random problem takes: lo, lo + step, ..., up to hi.
struct value_range {
  int lo = 1, hi = 1, step = 1;
};

/// Problems that one kernel computes, for lists of kernels and random problems. Orders and
/// majors are those of the problem as run (gemm_plan::normal).
struct kernel_facts {
  elem ab = elem::bf16, d = elem::bf16;
  std::optional<elem> b_type;  // nothing: ab
  gemm_precision precision;    // of its problems
  operand_major a = operand_major::k, b = operand_major::k;
  std::optional<order> d_order;              // nothing: either
  bool scaled = false;                       // scales of A and B in the main loop, and no others
  std::optional<block_format> block_scaled;  // scales of this format, and no others
  epilogue_operands epilogue;                // that it has, and no others
  group_axis groups = group_axis::none;      // that its problems have, and no others
  weight_format weights;                     // of A, and no others
  // Small problems that exercise it.
  value_range m, n, k;
  int ld_step = 1;                   // elements of which leading dimensions are multiples
  int device_sms = 0;                // SMs of the device that it is planned for; 0: any
  std::string_view device = "h200";  // a described device that it is planned for
};

/// A launch as run: problem, operands and copies (src/family/bind.hpp).
struct launch_form;

/// The tiles that a CTA computes, for reports: extents, and how many run one after another.
struct tile_facts {
  int m = 0, n = 0, k = 0;  // of a CTA's tile and of a step along K, elements
  int ctas = 0;             // that run
};

/// A kernel that is also compiled with a record of its stages (pipeline/stage_profile.hpp).
struct profiled_kernel {
  int kernel = -1;                 // its number
  tile_facts tile;                 // without `ctas`
  std::vector<std::string> roles;  // of a CTA: "math warpgroup 0"; each has a record
  bool on_gpu = false;             // for the GPU too; else for the emulator alone
};

/// Resources that a CTA of a kernel takes of an SM, without the registers, which ptxas chooses.
struct kernel_resources {
  cta_resources cta;
  int stages = 0;  // of operands in shared memory; 0: none
  std::int64_t stage_bytes = 0;
  int sums = 0;  // registers of a thread that hold accumulators
};

/// How a launch adds the K terms of an element of D. Plans with `fixed` and equal texts give equal
/// bits to equal rows; `text` does not depend on M, N, tiles or the number of SMs.
struct sum_order {
  std::string text;     // "wgmma of 16 elements of K, one after another, in float32"
  std::string why_not;  // empty: such a plan serves gemm_problem::reproducible

  bool fixed() const { return why_not.empty(); }
};

/// Kernels are numbered from 0 to kernel_count() - 1; numbers hold for a process, names for good.
class gemm_family {
 public:
  /// The name of the folder: "sm90_gemm".
  virtual std::string_view id() const = 0;

  virtual int kernel_count() const = 0;
  virtual kernel_facts facts(int kernel) const = 0;
  /// Does this build have it (TW_KERNELS)?
  virtual bool built(int kernel) const = 0;
  /// Its name, with the schedule's tiles where a launch chooses them.
  virtual std::string name(int kernel, plan_schedule const& s = {}) const = 0;
  /// All of a kernel that measured times depend on: part of tuning_version().
  virtual std::string tuning_text(int kernel) const = 0;

  /// Appends the plans for base.normal, whose operands are loaded as `base` says, on `dev`: kernel,
  /// schedule, name, predicted_us and built are set; the planner sets workspace_bytes, from
  /// partials_bytes() and the copies of every plan. Plans whose schedule is a choice that needs
  /// more than `workspace_bytes` are left out. None if no kernel computes it.
  virtual void add_plans(gemm_plan const& base, device const& dev, std::int64_t workspace_bytes,
                         std::vector<gemm_plan>& plans) const = 0;
  /// Does it have kernels for gemm_problem::groups? The planner leaves out other families for them.
  virtual bool takes_groups() const { return false; }
  /// Does it have kernels for prepared 4-bit weights?
  virtual bool takes_weights() const { return false; }
  /// Does any kernel compute `q`, as run, with operands that it can load?
  virtual bool computes(gemm_problem const& q) const = 0;
  /// The time that the model of `dev` predicts for a plan of this family, microseconds.
  virtual double predicted_us(gemm_plan const& plan, device const& dev) const = 0;
  /// Sets what only a chosen plan needs: order of tiles, cache hints, terms, early start, why.
  virtual void finish(gemm_plan& plan, device const& dev) const = 0;
  /// Bytes of workspace that the schedule needs beyond counters and copies.
  virtual std::int64_t partials_bytes(gemm_plan const& plan) const = 0;
  /// The largest partials_bytes() of any schedule on a device with this number of SMs.
  virtual std::int64_t max_partials_bytes(int sm_count) const = 0;

  /// Launches the plan on operands that dispatch has checked and copied. `early`: programmatic
  /// dependent launch. Throws `rejected` TW0505 where this build lacks the kernel, and TW0409,
  /// TW0424, TW0426, TW0427 or TW0436 for a plan that was edited to what the kernel cannot run.
  /// launch_gpu returns a cudaError_t as int.
  virtual void launch_emulated(gemm_plan const& plan, launch_form const& form,
                               emu::options const& options) const = 0;
  virtual int launch_gpu(gemm_plan const& plan, launch_form const& form, cudaStream_t stream,
                         bool early) const = 0;

  /// Kernels with a record of their stages; the first is the default of `tilewright stages`.
  virtual std::vector<profiled_kernel> profiled() const = 0;
  /// Launches the plan's kernel with a record: `log` has room for each role of each CTA, in this
  /// order. Throws `rejected` TW0505 if this build lacks that kernel, and else as the launches
  /// above. launch_gpu_profiled returns a cudaError_t as int.
  virtual void launch_emulated_profiled(gemm_plan const& plan, launch_form const& form,
                                        stage_log const& log,
                                        emu::options const& options) const = 0;
  virtual int launch_gpu_profiled(gemm_plan const& plan, launch_form const& form,
                                  stage_log const& log, cudaStream_t stream) const = 0;

  /// Can the plan wait for rows of A that arrive from other ranks while its kernel runs? Its kernel
  /// is compiled with a gate before the loads too, and the plan is one launch: a copy of A and a
  /// quantisation of D need all rows.
  virtual bool has_gate(gemm_plan const&) const { return false; }
  /// Launch a plan that has_gate() accepts. Throw as the launches above. launch_gpu_gated returns a
  /// cudaError_t as int.
  virtual void launch_emulated_gated(gemm_plan const& plan, launch_form const& form,
                                     gate_form const& gate, emu::options const& options) const;
  virtual int launch_gpu_gated(gemm_plan const& plan, launch_form const& form,
                               gate_form const& gate, cudaStream_t stream, bool early) const;

  /// For reports: "66 clusters, 16 tiles split along K among 66"; what loads are, where they limit
  /// a plan; and the tiles of a launch.
  virtual std::string schedule_text(gemm_plan const& plan) const = 0;
  virtual std::string loads_text(gemm_plan const& plan) const = 0;
  virtual tile_facts tiles(gemm_plan const& plan) const = 0;
  /// The order of the plan's sums, on `dev`. Of the families that compute a GEMM on a device, one
  /// at most serves reproducible ones. A family that does not state an order serves none.
  virtual sum_order order_of_sums(gemm_plan const&, device const&) const {
    return {"not stated", "the family does not state the order of its sums"};
  }
  /// For `tilewright occupancy`; nothing where the family does not state them.
  virtual std::optional<kernel_resources> resources(int) const { return std::nullopt; }
  /// For `tilewright explain`; empty where a kernel has nothing in tensor memory.
  virtual kernel_memory memory(int) const { return {}; }

 protected:
  ~gemm_family() = default;
};

/// All families, in the order in which plans of equal predicted times are taken.
std::span<gemm_family const* const> families();

/// The family with this id, or nullptr.
gemm_family const* find_family(std::string_view id);

}  // namespace tw
