// SPDX-License-Identifier: Apache-2.0
// global_mutants.cpp  The mutants of kernels whose CTAs work together through global memory.
#include <cmath>

#include "tools/check/mutants/global_kernels.hpp"
#include "tools/check/mutants/mutants.hpp"
#include "tools/check/mutants/reported_run.hpp"

namespace tw::mutants {

namespace {

constexpr int ctas = 4, elems = 32 * 32;

float expected(int i) {
  float sum = 0;
  for (int c = 0; c < ctas; ++c) sum += global_kernel<global_mutation::count>::part(c, i);
  return sum;
}

struct memory {
  std::vector<float> partials, result;
  unsigned flag[3] = {};
  global_params p;

  memory(int which, float first) : partials(ctas * elems, first), result(elems, NAN) {
    tensor_map_desc d;
    d.base = partials.data();
    d.type = elem::f32;
    d.dim[0] = 32;
    d.dim[1] = 32 * ctas;
    d.stride_bytes[0] = 128;
    d.box[0] = d.box[1] = 32;
    auto const broken = static_cast<global_mutation>(which);
    p = {broken == global_mutation::stale_map ? tensor_map{} : make_tensor_map(d, target::emu),
         partials.data(), result.data(), flag, broken};
  }
};

template <class Kernel>
outcome run_kernel(int which, emu::options const& o) {
  memory m(which, 0);
  outcome out;
  out.diagnoses = reported_run(Kernel{}, ctas, m.p, o).diagnoses;
  if (!out.diagnoses.empty()) return out;
  for (int i = 0; i < elems; ++i)
    out.wrong_elements += m.result[static_cast<std::size_t>(i)] != expected(i);
  return out;
}

/// split_k, then its successor, which may start early.
outcome run_three(int which, emu::options const& given) {
  memory m(which, 0);
  emu::stream s;
  emu::options o = given;
  o.in = &s;
  outcome out;
  out.diagnoses = reported_run(split_k<>{}, ctas, m.p, o).diagnoses;
  o.pdl = true;
  if (out.diagnoses.empty()) out.diagnoses = reported_run(bystander<>{}, 1, m.p, o).diagnoses;
  if (out.diagnoses.empty()) out.diagnoses = reported_run(successor<>{}, 1, m.p, o).diagnoses;
  if (!out.diagnoses.empty()) return out;
  for (int i = 0; i < elems; ++i)
    out.wrong_elements += m.partials[static_cast<std::size_t>(i)] != expected(i);
  return out;
}

std::vector<mutant> made() {
  using enum global_mutation;
  std::vector<mutant> list;
  auto const add = [&](std::string_view kernel, auto* run, global_mutation what,
                       std::string_view name, std::string_view change,
                       std::vector<std::string_view> codes) {
    list.push_back({kernel, name, change, std::move(codes), run, static_cast<int>(what)});
  };
  auto* const split = run_kernel<split_k<>>;
  add("split_k", split, none, "", "", {});
  add("split_k", split, no_release, "no-release", "the counter is raised without release",
      {"E0042"});
  add("split_k", split, no_acquire, "no-acquire", "the counter is read without acquire", {"E0042"});
  add("split_k", split, no_sync_before_flag, "no-sync-before-flag",
      "no cta_sync between the stores and the counter", {"E0042"});
  add("split_k", split, scope_of_cta, "scope-of-cta", "the counter orders within the CTA alone",
      {"E0042"});
  add("split_k", split, count_too_small, "count-too-small", "the last CTA but one adds the parts",
      {"E0042"});
  auto* const stream = run_kernel<stream_k<>>;
  add("stream_k", stream, none, "", "", {});
  add("stream_k", stream, read_wait_only, "read-wait-only",
      "tma_store_wait_read, not tma_store_wait, before the flag", {"E0043"});
  add("stream_k", stream, no_release, "no-release", "the flag is raised without release",
      {"E0042"});
  add("stream_k", stream, no_acquire, "no-acquire", "the flag is read without acquire", {"E0042"});
  add("stream_k", stream, no_sync_after_flag, "no-sync-after-flag",
      "no cta_sync after the poll of one thread", {"E0042", "E0043"});
  add("stream_k", stream, count_too_large, "count-too-large", "the flag is to count one CTA more",
      {"E0001"});
  add("stream_k", stream, no_proxy_fence, "no-proxy-fence", "no fence_proxy_async before the store",
      {"E0025"});
  auto* const collect = run_kernel<gather<>>;
  add("gather", collect, none, "", "", {});
  add("gather", collect, no_global_fence, "no-global-fence",
      "no proxy fence between ordinary stores and another CTA's TMA load", {"E0044"});
  add("gather", collect, shared_fence_only, "shared-fence-only",
      "the proxy fence is the one for shared memory", {"E0044"});
  add("gather", collect, no_acquire, "no-acquire", "the flag is read without acquire", {"E0042"});
  add("gather", collect, stale_map, "stale-map", "the tensor map was never made", {"E0013"});
  auto* const turns = run_kernel<semaphore<>>;
  add("semaphore", turns, none, "", "", {});
  add("semaphore", turns, no_release, "no-release", "the turn is handed on without release",
      {"E0042"});
  add("semaphore", turns, no_acquire, "no-acquire", "the turn is read without acquire", {"E0042"});
  add("semaphore", turns, scope_of_cta, "scope-of-cta", "the turn is released to its own CTA alone",
      {"E0042"});
  add("semaphore", turns, no_sync_before_flag, "no-sync-before-flag",
      "no cta_sync between the stores and the turn", {"E0042"});
  add("semaphore", turns, no_sync_after_flag, "no-sync-after-flag",
      "no cta_sync after the poll of one thread", {"E0042"});
  auto* const two = run_kernel<two_flags<>>;
  add("two_flags", two, none, "", "", {});
  add("two_flags", two, no_release, "no-release", "the second flag is raised without release",
      {"E0042"});
  add("two_flags", two, no_acquire, "no-acquire", "the second flag is read without acquire",
      {"E0042"});
  add("two_flags", two, no_sync_before_flag, "no-sync-before-flag",
      "no cta_sync between the stores and the flags", {"E0042"});
  add("two_flags", two, no_sync_after_flag, "no-sync-after-flag",
      "no cta_sync after the polls of one thread", {"E0042"});
  auto* const sum = run_kernel<reduce<>>;
  add("reduce", sum, none, "", "", {});
  add("reduce", sum, staging_reused, "staging-reused",
      "no tma_store_wait_read before the box is filled again", {"E0028"});
  add("reduce", sum, read_wait_only, "read-wait-only",
      "tma_store_wait_read, not tma_store_wait, before the flag", {"E0043"});
  add("reduce", sum, no_proxy_fence, "no-proxy-fence", "no fence_proxy_async before the reduction",
      {"E0025"});
  add("pdl", run_three, none, "", "", {});
  add("pdl", run_three, no_grid_wait, "no-grid-wait", "no grid_dependency_wait", {"E0046"});
  add("pdl", run_three, grid_wait_after_reads, "grid-wait-after-reads",
      "grid_dependency_wait after the first read", {"E0046"});
  add("pdl", run_three, chain_without_wait, "chain-without-wait",
      "a launch between the two has no grid_dependency_wait", {"E0046"});
  add("pdl", run_three, grid_wait_in_one_thread, "grid-wait-in-one-thread",
      "one thread waits, the others do not wait for it", {"E0046"});
  return list;
}

}  // namespace

std::span<mutant const> global_mutants() {
  static std::vector<mutant> const list = made();
  return list;
}

}  // namespace tw::mutants
