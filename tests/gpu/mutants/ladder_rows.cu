// SPDX-License-Identifier: Apache-2.0
// ladder_rows.cu  The mutants of the kernels without specialised warps, each compiled for itself.
#include "tests/gpu/mutants/card.hpp"
#include "tools/check/mutants/ladder_kernels.hpp"
#include "tools/check/mutants/ladder_product.hpp"

namespace tw::mutants {
namespace {

template <class Kernel, int Elems, float (*Right)(ladder_product const&, std::size_t)>
tally run(int launches, bool poison) {
  ladder_product const x;
  std::vector<float> right(Elems);
  for (std::size_t i = 0; i < Elems; ++i) right[i] = Right(x, i);
  on_card<std::uint16_t> a(x.a), b(x.b);
  on_card<float> out(Elems);
  ladder_params const p{ladder_product::map_of(a.at(), target::gpu),
                        ladder_product::map_of(b.at(), target::gpu), a.at(), out.at(),
                        ladder_mutation::none};
  return repeat(
      launches, poison, Elems, [&] { out.fill(0xFF); },
      [&] { host::must(launch<Kernel>(1, p, nullptr), "launch"); },
      [&] {
        return count_wrong(out.get(), Elems,
                           [&](int i) { return right[static_cast<std::size_t>(i)]; });
      });
}

using enum ladder_mutation;
constexpr bool may_not_end = true;

template <ladder_mutation What>
card_row copies(std::string_view name) {
  return {"copy_pipeline", name, false, run<copy_pipeline<What>, 1024, sum_of_tiles>};
}
template <ladder_mutation What>
card_row both(std::string_view name, bool waits = false) {
  return {"double_buffer", name, waits, run<double_buffer<false, What>, 64 * 64, product>};
}
template <ladder_mutation What>
card_row registers(std::string_view name, bool waits = false) {
  return {"a_from_registers", name, waits, run<double_buffer<true, What>, 64 * 64, product>};
}
template <ladder_mutation What>
card_row turns(std::string_view name, bool waits = false) {
  return {"take_turns", name, waits, run<take_turns<What>, 1024, turn>};
}

}  // namespace

std::vector<card_row> ladder_rows() {
  return {copies<none>(""),
          copies<wait_too_shallow>("wait-too-shallow"),
          copies<no_sync>("no-sync"),
          copies<stage_reused_early>("stage-reused-early"),
          copies<no_empty_commit>("no-empty-commit"),
          both<none>(""),
          both<refilled_before_wait>("refilled-before-wait"),
          both<phase_never_flips>("phase-never-flips", may_not_end),
          both<read_before_wait>("read-before-wait"),
          both<no_wgmma_fence>("no-wgmma-fence"),
          registers<none>(""),
          registers<no_proxy_fence>("no-proxy-fence"),
          registers<no_sync>("no-sync", may_not_end),
          registers<refilled_before_wait>("refilled-before-wait"),
          registers<no_landed_wait>("no-landed-wait", may_not_end),
          turns<none>(""),
          turns<no_order_barrier>("no-order-barrier"),
          turns<wrong_barrier_id>("wrong-barrier-id", may_not_end),
          turns<wrong_barrier_count>("wrong-barrier-count", may_not_end)};
}

}  // namespace tw::mutants
