// SPDX-License-Identifier: Apache-2.0
// gemm_rows.cu  The mutants of the reference GEMM, each compiled for itself.
#include "tests/gpu/mutants/card.hpp"
#include "tools/check/mutants/gemm_product.hpp"

namespace tw::mutants {
namespace {

template <mutation What>
tally run(int launches, bool poison) {
  static gemm_product p;
  on_card<std::uint16_t> a(p.a), b(p.b), d(p.d.size());
  gemm_params const params = p.params(a.at(), b.at(), d.at(), What, target::gpu);
  return repeat(
      launches, poison, gemm_product::m * gemm_product::n, [&] { d.fill(0xFF); },
      [&] { host::must(launch<reference_gemm<What>>(4, params, nullptr), "launch"); },
      [&] {
        p.d = d.get();
        return p.wrong_elements();
      });
}

template <mutation What>
card_row row(std::string_view name, bool may_not_end = false) {
  return {"reference_gemm", name, may_not_end, run<What>};
}

}  // namespace

std::vector<card_row> gemm_rows() {
  using enum mutation;
  constexpr bool may_not_end = true;
  return {row<none>(""),
          row<expect_tx_too_small>("expect-tx-too-small", may_not_end),
          row<expect_tx_too_large>("expect-tx-too-large", may_not_end),
          row<phase_never_flips>("phase-never-flips", may_not_end),
          row<last_stage_never_released>("last-stage-never-released", may_not_end),
          row<no_proxy_fence>("no-proxy-fence"),
          row<accumulators_read_early>("accumulators-read-early"),
          row<stage_released_early>("stage-released-early"),
          row<coordinates_swapped>("coordinates-swapped"),
          row<wrong_descriptor_swizzle>("wrong-descriptor-swizzle"),
          row<no_barrier_at_exit>("no-barrier-at-exit"),
          row<staging_buffer_reused>("staging-buffer-reused"),
          row<stmatrix_not_swizzled>("stmatrix-not-swizzled"),
          row<no_barrier_before_store>("no-barrier-before-store"),
          row<exit_without_bulk_wait>("exit-without-bulk-wait"),
          row<no_init_fence>("no-init-fence"),
          row<no_wgmma_fence>("no-wgmma-fence"),
          row<cta_barrier_after_init>("cta-barrier-after-init", may_not_end),
          row<free_count_forgets_peer>("free-count-forgets-peer", may_not_end),
          row<multicast_only_to_itself>("multicast-only-to-itself", may_not_end),
          row<release_own_cta_twice>("release-own-cta-twice", may_not_end),
          row<no_barrier_after_read_wait>("no-barrier-after-read-wait"),
          row<no_landed_wait>("no-landed-wait", may_not_end),
          row<no_free_wait>("no-free-wait", may_not_end),
          row<landed_parity_inverted>("landed-parity-inverted", may_not_end)};
}

}  // namespace tw::mutants
