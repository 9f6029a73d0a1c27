// SPDX-License-Identifier: Apache-2.0
// gemm_mutants.cpp  The mutants of the reference GEMM.
#include <algorithm>

#include "tools/check/mutants/gemm_product.hpp"
#include "tools/check/mutants/mutants.hpp"
#include "tools/check/mutants/reported_run.hpp"

namespace tw::mutants {

namespace {

outcome run(int which, emu::options const& given) {
  static gemm_product p;
  std::fill(p.d.begin(), p.d.end(), std::uint16_t{0xFFFF});
  gemm_params const params =
      p.params(p.a.data(), p.b.data(), p.d.data(), static_cast<mutation>(which), target::emu);
  emu::options o = given;
  o.live_clusters = 1;
  outcome out;
  out.diagnoses = reported_run(reference_gemm<>{}, 2, params, o).diagnoses;
  if (!out.diagnoses.empty()) return out;
  out.wrong_elements = p.wrong_elements();
  return out;
}

struct row {
  mutation what;
  std::string_view name, change;
  std::vector<std::string_view> codes;
};

std::vector<mutant> made() {
  using enum mutation;
  std::vector<row> const rows{
      {none, "", "", {}},
      {expect_tx_too_small,
       "expect-tx-too-small",
       "arrive_expect_tx counts 8192 bytes too few",
       {"E0015"}},
      {expect_tx_too_large,
       "expect-tx-too-large",
       "arrive_expect_tx counts 8192 bytes too many",
       {"E0001"}},
      {phase_never_flips, "phase-never-flips", "the ring never flips its parity", {"E0034"}},
      {last_stage_never_released,
       "last-stage-never-released",
       "the last stage of a tile is not released",
       {"E0001"}},
      {no_proxy_fence, "no-proxy-fence", "no fence_proxy_async before the TMA store", {"E0025"}},
      {accumulators_read_early,
       "accumulators-read-early",
       "no wgmma_wait<0> before the epilogue",
       {"E0030"}},
      {stage_released_early,
       "stage-released-early",
       "a stage is released right after the commit",
       {"E0027"}},
      {coordinates_swapped,
       "coordinates-swapped",
       "the TMA load of A has (m, k) for (k, m)",
       {"E0039"}},
      {wrong_descriptor_swizzle,
       "wrong-descriptor-swizzle",
       "descriptors say 64 bytes, the maps 128",
       {"E0037"}},
      {no_barrier_at_exit, "no-barrier-at-exit", "no cluster_sync at the end", {"E0036"}},
      {staging_buffer_reused,
       "staging-buffer-reused",
       "no wait before a staging box is refilled",
       {"E0028"}},
      {stmatrix_not_swizzled, "stmatrix-not-swizzled", "stmatrix ignores the swizzle", {"E0041"}},
      {no_barrier_before_store,
       "no-barrier-before-store",
       "no barrier between stmatrix and the TMA store",
       {"E0024", "E0029"}},
      {exit_without_bulk_wait,
       "exit-without-bulk-wait",
       "no wait for TMA stores at the end",
       {"E0011"}},
      {no_init_fence, "no-init-fence", "no fence_mbarrier_init", {"E0033"}},
      {no_wgmma_fence, "no-wgmma-fence", "no wgmma_fence", {"E0031"}},
      {cta_barrier_after_init,
       "cta-barrier-after-init",
       "cta_sync for cluster_sync after the inits",
       {"E0033", "E0002"}},
      {free_count_forgets_peer,
       "free-count-forgets-peer",
       "slot_free counts 2 arrivals, not 4",
       {"E0024", "E0027", "E0003"}},
      {multicast_only_to_itself,
       "multicast-only-to-itself",
       "the multicast mask leaves out the peer",
       {"E0001"}},
      {release_own_cta_twice,
       "release-own-cta-twice",
       "both releases go to the own CTA",
       {"E0024", "E0027"}},
      {no_barrier_after_read_wait,
       "no-barrier-after-read-wait",
       "no barrier after tma_store_wait_read",
       {"E0028"}},
      {no_landed_wait,
       "no-landed-wait",
       "the consumer does not wait for its operands",
       {"E0026", "E0027", "E0029"}},
      {no_free_wait, "no-free-wait", "the producer does not wait for a free stage", {"E0003"}},
      {landed_parity_inverted,
       "landed-parity-inverted",
       "the consumer waits for the other parity",
       {"E0026", "E0027", "E0029"}},
  };
  std::vector<mutant> list;
  for (row const& r : rows)
    list.push_back({"reference_gemm", r.name, r.change, r.codes, run, static_cast<int>(r.what)});
  return list;
}

}  // namespace

void run_reference_gemm(void* a, void* b, void* d, int size, emu::options const& o) {
  gemm_params const params =
      gemm_product::params_of(a, b, d, {size, size, size}, mutation::none, target::emu);
  launch<reference_gemm<mutation::none>>(2, params, o);
}

std::span<mutant const> gemm_mutants() {
  static std::vector<mutant> const list = made();
  return list;
}

}  // namespace tw::mutants
