// SPDX-License-Identifier: Apache-2.0
// instructions.cu  The vocabulary but for wgmma on the card, and the rules of tensor maps against
// the
//                  driver. Exit 0 all passed, 1 some failed, 77 no Hopper GPU.
#include "arch/tensor_map_gpu.hpp"
#include "tests/arch/kernels/launch_checks.hpp"
#include "tests/arch/kernels/map_cases.hpp"
#include "tests/arch/kernels/matrix_checks.hpp"
#include "tests/arch/kernels/sync_checks.hpp"
#include "tests/arch/kernels/tma_checks.hpp"
#include "tests/gpu/gpu_machine.hpp"

namespace tw::test {
namespace {

/// The driver's opinion of a description that no rule of ours has seen.
std::string refusal_by_driver(tensor_map_desc const& d) {
  try {
    encode_tensor_map_gpu(d);
    return "";
  } catch (rejected const& e) {
    return e.why().code == "TW0310" ? "refused" : e.why().code;
  }
}

/// check_tensor_map and the driver agree at every edge.
std::string check_map_rules(gpu_machine&) {
  failures f;
  for (map_case const& c : accepted_maps())
    f.add(c.name, refusal_by_driver(c.desc).empty() ? "" : "accepted by us, refused by the driver");
  for (map_case const& c : refused_maps()) {
    if (!c.driver_too) continue;
    std::string const driver = refusal_by_driver(c.desc);
    f.add(c.name, driver == "refused" ? "" : text(c.code, " by us, accepted by the driver"));
  }
  return f.result();
}

/// Says what TMA does to float32 values that are no tf32 when it loads them as tf32. The emulator
/// copies the bits; nothing of ours depends on it yet.
std::string note_tf32_rounding(gpu_machine& m) {
  std::vector<std::uint32_t> values;
  for (std::uint32_t high : {0x3F800000U, 0x3F802000U, 0xC1234000U, 0xC1236000U})
    for (std::uint32_t low : {0x1U, 0xFFFU, 0x1000U, 0x1001U, 0x1FFFU})
      values.push_back(high + low);
  values.resize(32);
  tma_case c = make_case(elem::tf32, swizzle_mode::none, {32}, {32}, {0});
  c.desc.base = upload(m, values);
  std::uint32_t* const out = upload(m, std::vector<std::uint32_t>(32 + box_margin / 4));
  run<tma_load_box<1>>(m, 1, {make_tensor_map(c.desc, target::gpu), {{0}}, 128, out});
  std::vector<std::uint32_t> const got = download(m, out, 32);
  auto matches = [&](auto&& rounded) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (got[i] != rounded(values[i])) return false;
    return true;
  };
  char const* rule = "neither kept, cut nor rounded to nearest";
  if (matches([](std::uint32_t v) { return v; })) rule = "kept";
  if (matches([](std::uint32_t v) { return v & ~0x1FFFU; })) rule = "cut to tf32";
  if (matches([](std::uint32_t v) { return (v + 0x1000U) & ~0x1FFFU; }))
    rule = "rounded to nearest, ties away from zero";
  if (matches([](std::uint32_t v) { return (v + 0xFFFU + (v >> 13 & 1U)) & ~0x1FFFU; }))
    rule = "rounded to nearest, ties to even";
  std::printf("note tma_load as tf32: float32 bits are %s\n", rule);
  return "";
}

}  // namespace
}  // namespace tw::test

int main() {
  using namespace tw::test;
  std::vector<check<gpu_machine>> checks{{"tensor map rules", check_map_rules},
                                         {"tf32 rounding (a note)", note_tf32_rounding}};
  for (auto const& some : {launch_checks<gpu_machine>(), matrix_checks<gpu_machine>(),
                           sync_checks<gpu_machine>(), tma_checks<gpu_machine>()})
    checks.insert(checks.end(), some.begin(), some.end());
  return check_program(std::move(checks)).main();
}
