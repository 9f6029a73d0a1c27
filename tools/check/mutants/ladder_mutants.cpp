// SPDX-License-Identifier: Apache-2.0
// ladder_mutants.cpp  The mutants of kernels without specialised warps.
#include <cmath>
#include <functional>

#include "tools/check/mutants/ladder_kernels.hpp"
#include "tools/check/mutants/ladder_product.hpp"
#include "tools/check/mutants/mutants.hpp"
#include "tools/check/mutants/reported_run.hpp"

namespace tw::mutants {

namespace {

struct operands : ladder_product {
  std::vector<float> out;
  ladder_params p;

  operands(int which, int elems) : out(elems, NAN) {
    p = {map_of(a.data(), target::emu), map_of(b.data(), target::emu), a.data(), out.data(),
         static_cast<ladder_mutation>(which)};
  }
};

template <class Kernel, int Elems, float (*Right)(ladder_product const&, std::size_t)>
outcome run_kernel(int which, emu::options const& o) {
  operands x(which, Elems);
  outcome out;
  out.diagnoses = reported_run(Kernel{}, 1, x.p, o).diagnoses;
  if (!out.diagnoses.empty()) return out;
  for (std::size_t i = 0; i < Elems; ++i) out.wrong_elements += x.out[i] != Right(x, i);
  return out;
}

std::vector<mutant> made() {
  using enum ladder_mutation;
  std::vector<mutant> list;
  auto const add = [&](std::string_view kernel, auto* run, ladder_mutation what,
                       std::string_view name, std::string_view change,
                       std::vector<std::string_view> codes) {
    list.push_back({kernel, name, change, std::move(codes), run, static_cast<int>(what)});
  };
  auto* const copies = run_kernel<copy_pipeline<>, 1024, sum_of_tiles>;
  add("copy_pipeline", copies, none, "", "", {});
  add("copy_pipeline", copies, wait_too_shallow, "wait-too-shallow",
      "cp_async_wait leaves one group more in flight", {"E0045"});
  add("copy_pipeline", copies, no_sync, "no-sync", "no cta_sync after cp_async_wait",
      {"E0024", "E0029", "E0045"});
  add("copy_pipeline", copies, stage_reused_early, "stage-reused-early",
      "the next copy is issued before the barrier, not after it", {"E0024", "E0045"});
  add("copy_pipeline", copies, no_empty_commit, "no-empty-commit",
      "no empty groups are committed when the tiles run out", {"E0045"});
  auto* const both = run_kernel<double_buffer<false>, 64 * 64, product>;
  add("double_buffer", both, none, "", "", {});
  add("double_buffer", both, refilled_before_wait, "refilled-before-wait",
      "a stage is filled again before wgmma_wait", {"E0027"});
  add("double_buffer", both, phase_never_flips, "phase-never-flips",
      "the wait never flips its parity", {"E0001", "E0034"});
  add("double_buffer", both, read_before_wait, "read-before-wait",
      "the sums are stored before the last wgmma_wait", {"E0030"});
  add("double_buffer", both, no_wgmma_fence, "no-wgmma-fence", "no wgmma_fence", {"E0031"});
  add("double_buffer", both, never_initialised, "never-initialised",
      "the first wgmma adds to sums that nothing has set", {"E0054"});
  add("double_buffer", both, initialised_in_second_tile, "initialised-in-second-tile",
      "the second tile sets the sums, the first adds to them", {"E0054"});
  add("double_buffer", both, initialised_in_last_step, "initialised-in-last-step",
      "the last step sets the sums, those before it add to them", {"E0054"});
  add("double_buffer", both, no_wgmma_commit, "no-wgmma-commit", "no wgmma_commit",
      {"E0027", "E0030"});
  auto* const registers = run_kernel<double_buffer<true>, 64 * 64, product>;
  add("a_from_registers", registers, none, "", "", {});
  add("a_from_registers", registers, no_proxy_fence, "no-proxy-fence",
      "no fence_proxy_async between ldmatrix and the next TMA load", {"E0025"});
  add("a_from_registers", registers, no_sync, "no-sync",
      "no cta_sync between ldmatrix and the next TMA load", {"E0024", "E0026", "E0035"});
  add("a_from_registers", registers, refilled_before_wait, "refilled-before-wait",
      "B is filled again before wgmma_wait", {"E0027"});
  add("a_from_registers", registers, no_landed_wait, "no-landed-wait",
      "nothing waits for the TMA loads", {"E0026", "E0029"});
  add("a_from_registers", registers, fragment_overwritten, "fragment-overwritten",
      "registers of A are loaded again before wgmma_wait", {"E0048"});
  add("a_from_registers", registers, other_pattern, "other-pattern",
      "ldmatrix takes rows with the pattern of 64 bytes, the map has 128", {"E0037"});
  auto* const turns = run_kernel<take_turns<>, 1024, turn>;
  add("take_turns", turns, none, "", "", {});
  add("take_turns", turns, no_order_barrier, "no-order-barrier", "no barrier orders the turns",
      {"E0024"});
  add("take_turns", turns, wrong_barrier_id, "wrong-barrier-id",
      "a warpgroup hands the turn to itself", {"E0001", "E0010", "E0024"});
  add("take_turns", turns, wrong_barrier_count, "wrong-barrier-count",
      "the order barriers count 128 threads, not 256", {"E0010", "E0024"});
  return list;
}

}  // namespace

std::span<mutant const> ladder_mutants() {
  static std::vector<mutant> const list = made();
  return list;
}

}  // namespace tw::mutants
