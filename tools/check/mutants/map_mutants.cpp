// SPDX-License-Identifier: Apache-2.0
// map_mutants.cpp  The mutants of kernels that use tensor maps written by the device.
#include <vector>

#include "tilewright/arch/tensor_map.hpp"
#include "tools/check/mutants/map_kernels.hpp"
#include "tools/check/mutants/mutants.hpp"
#include "tools/check/mutants/reported_run.hpp"

namespace tw::mutants {

namespace {

constexpr int matrices = write_maps::threads;
constexpr std::size_t all_elems = std::size_t{matrices} * use_maps::elems;

outcome run(int which, emu::options const& o) {
  std::vector<std::uint16_t> from(all_elems), to(all_elems);
  for (std::size_t i = 0; i < all_elems; ++i) from[i] = static_cast<std::uint16_t>(i * 7919);
  std::vector<tensor_map> maps(matrices);
  std::vector<void const*> addresses;  // the last matrix in memory first
  for (int i = matrices - 1; i >= 0; --i) addresses.push_back(from.data() + i * use_maps::elems);
  tensor_map_desc d;
  d.base = from.data();
  d.dim[0] = d.box[0] = 64;
  d.dim[1] = d.box[1] = 8;
  d.stride_bytes[0] = 128;
  map_params const p{make_tensor_map(d, target::emu), maps.data(), addresses.data(), to.data(),
                     static_cast<map_mutation>(which)};
  outcome out;
  out.diagnoses = reported_run(write_maps{}, 1, p, o).diagnoses;
  if (out.diagnoses.empty()) out.diagnoses = reported_run(use_maps{}, matrices, p, o).diagnoses;
  if (!out.diagnoses.empty()) return out;
  for (std::size_t i = 0; i < all_elems; ++i) {
    std::size_t const matrix = matrices - 1 - i / use_maps::elems;
    out.wrong_elements += to[i] != from[matrix * use_maps::elems + i % use_maps::elems];
  }
  return out;
}

}  // namespace

std::span<mutant const> map_mutants() {
  using enum map_mutation;
  static std::vector<mutant> const list = [] {
    std::vector<mutant> made;
    auto const add = [&](map_mutation what, std::string_view name, std::string_view change,
                         std::vector<std::string_view> codes) {
      made.push_back({"device_maps", name, change, std::move(codes), run, static_cast<int>(what)});
    };
    add(none, "", "", {});
    add(no_acquire, "no-acquire", "no tensor_map_acquire before the load", {"E0049"});
    add(other_map_acquired, "other-map-acquired", "the map of another matrix is acquired",
        {"E0049"});
    add(no_release, "no-release", "no tensor_map_release after the write", {"E0050"});
    add(odd_address, "odd-address", "the matrices begin 2 bytes after a multiple of 16", {"E0013"});
    return made;
  }();
  return list;
}

}  // namespace tw::mutants
