// SPDX-License-Identifier: Apache-2.0
// global_rows.cu  The mutants of kernels whose CTAs work together through global memory, each
//                 compiled for itself.
#include "tests/gpu/mutants/card.hpp"
#include "tools/check/mutants/global_kernels.hpp"

namespace tw::mutants {
namespace {

constexpr int ctas = 4, elems = 32 * 32;

float right(int i) {
  float sum = 0;
  for (int c = 0; c < ctas; ++c) sum += static_cast<float>(100 * c + i % 31);
  return sum;
}

/// Pair: the kernels of one stream, the second may start early.
template <global_mutation What, class First, class... Second>
tally run(int launches, bool poison) {
  on_card<float> partials(ctas * elems), result(elems);
  on_card<unsigned> flag(1);
  tensor_map_desc d;
  d.base = partials.at();
  d.type = elem::f32;
  d.dim[0] = 32;
  d.dim[1] = 32 * ctas;
  d.stride_bytes[0] = 128;
  d.box[0] = d.box[1] = 32;
  global_params const p{
      What == global_mutation::stale_map ? tensor_map{} : make_tensor_map(d, target::gpu),
      partials.at(), result.at(), flag.at(), What};
  return repeat(
      launches, poison, elems,
      [&] {
        partials.fill(0);
        result.fill(0xFF);
        flag.fill(0);
      },
      [&] {
        host::must(launch<First>(ctas, p, nullptr), "launch");
        (host::must(launch<Second>(1, p, nullptr, true), "second launch"), ...);
      },
      [&] {
        return count_wrong(sizeof...(Second) > 0 ? partials.get() : result.get(), elems, right);
      });
}

using enum global_mutation;
constexpr bool may_not_end = true;

template <global_mutation What>
card_row split(std::string_view name) {
  return {"split_k", name, false, run<What, split_k<What>>};
}
template <global_mutation What>
card_row stream(std::string_view name, bool waits = false) {
  return {"stream_k", name, waits, run<What, stream_k<What>>};
}
template <global_mutation What>
card_row collect(std::string_view name, bool waits = false) {
  return {"gather", name, waits, run<What, gather<What>>};
}
template <global_mutation What>
card_row sum(std::string_view name) {
  return {"reduce", name, false, run<What, reduce<What>>};
}
template <global_mutation What>
card_row pair(std::string_view name) {
  return {"pdl", name, false, run<What, split_k<none>, successor<What>>};
}

}  // namespace

std::vector<card_row> global_rows() {
  return {split<none>(""),
          split<no_release>("no-release"),
          split<no_acquire>("no-acquire"),
          split<no_sync_before_flag>("no-sync-before-flag"),
          split<scope_of_cta>("scope-of-cta"),
          split<count_too_small>("count-too-small"),
          stream<none>(""),
          stream<read_wait_only>("read-wait-only"),
          stream<no_release>("no-release"),
          stream<no_acquire>("no-acquire"),
          stream<no_sync_after_flag>("no-sync-after-flag"),
          stream<count_too_large>("count-too-large", may_not_end),
          stream<no_proxy_fence>("no-proxy-fence"),
          collect<none>(""),
          collect<no_global_fence>("no-global-fence"),
          collect<shared_fence_only>("shared-fence-only"),
          collect<no_acquire>("no-acquire"),
          collect<stale_map>("stale-map", may_not_end),
          sum<none>(""),
          sum<staging_reused>("staging-reused"),
          sum<read_wait_only>("read-wait-only"),
          sum<no_proxy_fence>("no-proxy-fence"),
          pair<none>(""),
          pair<no_grid_wait>("no-grid-wait"),
          pair<grid_wait_in_one_thread>("grid-wait-in-one-thread")};
}

}  // namespace tw::mutants
