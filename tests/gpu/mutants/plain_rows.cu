// SPDX-License-Identifier: Apache-2.0
// plain_rows.cu  The mutants of kernels with ordinary loads and stores, in the own shared memory
//                and in that of the cluster, each compiled for itself.
#include "tests/gpu/mutants/card.hpp"
#include "tools/check/mutants/cluster_kernels.hpp"
#include "tools/check/mutants/plain_kernels.hpp"

namespace tw::mutants {
namespace {

tensor_map map_of(float* base, int rows) {
  tensor_map_desc d;
  d.base = base;
  d.type = elem::f32;
  d.dim[0] = 32;
  d.dim[1] = rows;
  d.stride_bytes[0] = 128;
  d.box[0] = d.box[1] = 32;
  return make_tensor_map(d, target::gpu);
}

float input(int i) { return static_cast<float>(i % 97); }
float turned(int i) { return input(i % 32 * 32 + i / 32); }
float summed(int i) { return input(i) + input(i + 1024) + input(i + 2048); }

template <class Kernel, int Rows, float (*Right)(int)>
tally run_plain(int launches, bool poison) {
  std::vector<float> values(32 * Rows);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = input(static_cast<int>(i));
  on_card<float> from(values), to(1024);
  plain_params const p{map_of(from.at(), Rows), map_of(to.at(), 32), from.at(),
                       plain_mutation::none};
  return repeat(
      launches, poison, 1024, [&] { to.fill(0xFF); },
      [&] { host::must(launch<Kernel>(1, p, nullptr), "launch"); },
      [&] { return count_wrong(to.get(), 1024, Right); });
}

template <cluster_mutation What>
tally run_cluster(int launches, bool poison) {
  on_card<float> sums(128);
  return repeat(
      launches, poison, 128, [&] { sums.fill(0xFF); },
      [&] {
        host::must(launch<dsmem_sum<What>>(4, {sums.at(), What}, nullptr), "launch");
      },
      [&] {
        return count_wrong(sums.get(), 128,
                           [](int t) { return static_cast<float>(2 * 6000 + 80 * (127 - t) + 4); });
      });
}

constexpr bool may_not_end = true;

template <plain_mutation What>
card_row turn(std::string_view name) {
  return {"transpose", name, false, run_plain<transpose<What>, 32, turned>};
}
template <plain_mutation What>
card_row again(std::string_view name, bool waits = false) {
  return {"refill", name, waits, run_plain<refill<What>, 96, summed>};
}
template <cluster_mutation What>
card_row peers(std::string_view name, bool waits = false) {
  return {"dsmem_sum", name, waits, run_cluster<What>};
}

}  // namespace

std::vector<card_row> plain_and_cluster_rows() {
  return {turn<plain_mutation::none>(""),
          turn<plain_mutation::no_barrier>("no-barrier"),
          turn<plain_mutation::no_proxy_fence>("no-proxy-fence"),
          again<plain_mutation::none>(""),
          again<plain_mutation::no_barrier>("no-barrier", may_not_end),
          again<plain_mutation::no_proxy_fence>("no-proxy-fence"),
          peers<cluster_mutation::none>(""),
          peers<cluster_mutation::no_barrier>("no-barrier", may_not_end),
          peers<cluster_mutation::cta_barrier>("cta-barrier", may_not_end),
          peers<cluster_mutation::relaxed_barrier>("relaxed-barrier"),
          peers<cluster_mutation::exit_too_early>("exit-too-early", may_not_end),
          peers<cluster_mutation::no_first_barrier>("no-first-barrier")};
}

}  // namespace tw::mutants
