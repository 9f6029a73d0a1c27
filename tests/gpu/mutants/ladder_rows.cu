// SPDX-License-Identifier: Apache-2.0
// ladder_rows.cu  The mutants of the kernels without specialised warps, each compiled for itself.
#include "tests/gpu/mutants/card.hpp"
#include "tilewright/base/convert.hpp"
#include "tools/mutants/ladder_kernels.hpp"

namespace tw::mutants {
namespace {

constexpr int k_all = 256;

/// Small integers, whose sums are exact; as tools/mutants/ladder_mutants.cpp has them.
struct operands {
  std::vector<std::uint16_t> a, b;
  operands() : a(64 * k_all), b(64 * k_all) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = to_bf16(static_cast<float>(static_cast<int>(i * 7 % 13) - 6)).bits;
      b[i] = to_bf16(static_cast<float>(static_cast<int>(i * 5 % 11) - 5)).bits;
    }
  }
};

tensor_map map_of(void* base) {
  tensor_map_desc d;
  d.base = base;
  d.dim[0] = k_all;
  d.dim[1] = 64;
  d.stride_bytes[0] = k_all * 2;
  d.box[0] = d.box[1] = 64;
  d.swizzle = swizzle_mode::b128;
  return make_tensor_map(d, target::gpu);
}

float sum_of_tiles(operands const& x, std::size_t i) {
  int sum = 0;
  for (std::size_t k = 0; k < 8; ++k) sum += x.a[k * 1024 + i];
  return static_cast<float>(sum);
}
float product(operands const& x, std::size_t i) {
  float sum = 0;
  for (std::size_t k = 0; k < k_all; ++k)
    sum += to_float(bf16{x.a[i / 64 * k_all + k]}) * to_float(bf16{x.b[i % 64 * k_all + k]});
  return sum;
}
float turn(operands const&, std::size_t i) {
  auto const c = i / 128 % 2, round = i / 256;
  return static_cast<float>(1000 * c + 100 * round + 127 - i % 128);
}

template <class Kernel, int Elems, float (*Right)(operands const&, std::size_t)>
tally run(int launches, bool poison) {
  operands const x;
  std::vector<float> right(Elems);
  for (std::size_t i = 0; i < Elems; ++i) right[i] = Right(x, i);
  on_card<std::uint16_t> a(x.a), b(x.b);
  on_card<float> out(Elems);
  ladder_params const p{map_of(a.at()), map_of(b.at()), a.at(), out.at(), ladder_mutation::none};
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
