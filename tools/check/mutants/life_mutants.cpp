// SPDX-License-Identifier: Apache-2.0
// life_mutants.cpp  The mutants of kernels with tensor maps and mbarriers that begin and end.
#include <vector>

#include "tilewright/arch/tensor_map.hpp"
#include "tools/check/mutants/life_kernels.hpp"
#include "tools/check/mutants/mutants.hpp"
#include "tools/check/mutants/reported_run.hpp"

namespace tw::mutants {

namespace {

/// The kernel copies its input.
template <class Kernel, int Elems>
outcome run(int which, emu::options const& o) {
  static_assert(Elems % 8 == 0);
  std::vector<std::uint16_t> from(Elems), to(Elems);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint16_t>(i * 7919);
  tensor_map map{};
  tensor_map_desc d;
  d.base = from.data();
  d.dim[0] = d.box[0] = 64;
  d.dim[1] = d.box[1] = 8;
  d.stride_bytes[0] = 128;
  life_params const p{make_tensor_map(d, target::emu), &map, from.data(), to.data(),
                      static_cast<life_mutation>(which)};
  outcome out;
  out.diagnoses = reported_run(Kernel{}, 1, p, o).diagnoses;
  if (!out.diagnoses.empty()) return out;
  for (std::size_t i = 0; i < from.size(); ++i) out.wrong_elements += to[i] != from[i];
  return out;
}

std::vector<mutant> made() {
  using enum life_mutation;
  std::vector<mutant> list;
  auto const add = [&](std::string_view kernel, auto* run, life_mutation what,
                       std::string_view name, std::string_view change,
                       std::vector<std::string_view> codes) {
    list.push_back({kernel, name, change, std::move(codes), run, static_cast<int>(what)});
  };
  auto* const map = run<rewritten_map, rewritten_map::matrices * rewritten_map::elems>;
  add("rewritten_map", map, none, "", "", {});
  add("rewritten_map", map, rewritten_in_flight, "rewritten-in-flight",
      "the map is written again while a copy through it may be under way", {"E0042"});
  add("rewritten_map", map, not_acquired_again, "not-acquired-again",
      "tensor_map_acquire after the first write alone", {"E0049"});
  add("rewritten_map", map, acquired_before_write, "acquired-before-write",
      "tensor_map_acquire before the map is written, not after it", {"E0049"});
  add("rewritten_map", map, released_before_write, "released-before-write",
      "tensor_map_release before the map is written, not after it", {"E0049", "E0050"});
  auto* const lives = run<two_lives, 2 * two_lives::elems>;
  add("two_lives", lives, none, "", "", {});
  add("two_lives", lives, inval_while_others_wait, "inval-while-others-wait",
      "no cta_sync between the wait and inval()", {"E0080"});
  add("two_lives", lives, inval_in_flight, "inval-in-flight",
      "inval() while the copy that the barrier counts is under way", {"E0080"});
  add("two_lives", lives, data_over_barrier, "data-over-barrier",
      "no inval() before the memory of the barrier holds data", {"E0057"});
  add("two_lives", lives, data_unordered, "data-unordered",
      "no cta_sync between inval() and the store of another thread", {"E0024", "E0057"});
  add("two_lives", lives, init_again, "init-again", "init() of a barrier that is alive", {"E0056"});
  add("two_lives", lives, used_after_inval, "used-after-inval", "no init() for the second copy",
      {"E0002", "E0081"});
  return list;
}

}  // namespace

std::span<mutant const> life_mutants() {
  static std::vector<mutant> const list = made();
  return list;
}

}  // namespace tw::mutants
