// SPDX-License-Identifier: Apache-2.0
// maps.cpp  Tensor maps that TMA operations name: maps among the kernel's parameters, and maps in
//           global memory, which a CTA must acquire before it uses them.
#include <fmt/format.h>

#include <algorithm>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"
#include "tilewright/arch/emu/tensor_map_emu.hpp"

namespace tw::emu {

/// Does each matrix of the map begin one row after the matrix before it? Maps whose boxes end with
/// a group of rows do (docs/decisions/0054), and begin all of their rows before the array.
static bool ends_with_groups(tensor_map_desc const& d) {
  for (int i = 1; i + 1 < d.rank; ++i)
    if (d.dim[i + 1] > 1 && d.stride_bytes[i] == d.stride_bytes[i - 1]) return true;
  return false;
}

/// E0052: the tensor of a map begins in a known array and reaches beyond it. Maps that
/// end with groups are not compared; the margins of D are compared after the run.
void address_space::check_tensor_bounds(tensor_map_desc const& d, site where) {
  auto const begin = reinterpret_cast<std::uint64_t>(d.base);
  if (m_.options_.arrays.empty() || begin == tma_place::first_byte) return;  // of all memory
  if (ends_with_groups(d)) return;
  std::int64_t bytes = d.row_bytes(d.dim[0]);
  for (int i = 1; i < d.rank; ++i) bytes += (d.dim[i] - 1) * d.stride_bytes[i - 1];
  check_bounds(d.base, static_cast<std::size_t>(bytes), "The tensor of a tensor map", where);
}

/// The fields of the map; E0013 if its bytes are not a map.
tensor_map_desc address_space::read_map(tensor_map const& m, site where) {
  std::string why;
  try {
    return unpack_tensor_map_emu(m);
  } catch (rejected const& r) {
    why = r.what();
  }
  m_.reports.stop(
      "E0013",
      "tensor-map-invalid",  // outside the handler: m_.reports.stop() leaves this fiber for good
      report_text({
          .what = "A TMA operation names a tensor map that the emulator cannot read.",
          .now = fmt::format("use at {} by {}", text_of(where), name_of(*m_.sched.running())),
          .cause = why,
          .remedy = "make_tensor_map(description, target::emu), passed in the kernel's parameters",
      }),
      where);
}

bool address_space::is_parameter(void const* address) const {
  auto const distance =
      static_cast<std::byte const*>(address) - m_.params_of(m_.sched.running()->device);
  return distance >= 0 && static_cast<std::size_t>(distance) < m_.grid_.params_bytes;
}

tensor_map_desc const* address_space::map_of(tensor_map const& m, site where) {
  for (auto const& [key, desc] : maps_)
    if (key == &m) return desc.get();
  if (is_parameter(&m)) {
    maps_.emplace_back(&m, std::make_unique<tensor_map_desc>(read_map(m, where)));
    check_tensor_bounds(*maps_.back().second, where);
    return maps_.back().second.get();
  }
  require_global(&m, "A TMA operation's tensor map", where);
  std::vector<acquired_map> const& acquired = m_.sched.running()->block->acquired_maps;
  auto const found = std::find_if(acquired.begin(), acquired.end(),
                                  [&](acquired_map const& x) { return x.at == &m; });
  bool const there = found != acquired.end();
  if (there && std::equal(m.words, m.words + 16, found->words)) return found->desc;
  read_map(m, where);  // bytes that are not a map at all are E0013
  m_.reports.stop(
      "E0049", "tensor-map-not-acquired",
      report_text({
          .what = fmt::format("A TMA operation names a tensor map in global memory that {}.",
                              there ? "has been written since this CTA acquired it"
                                    : "no thread of its CTA has acquired"),
          .now = fmt::format("use at {} by {}", text_of(where), name_of(*m_.sched.running())),
          .cause = "TMA reads maps through a separate cache, which may hold older bytes",
          .remedy = "tensor_map_acquire(map) in a thread of this CTA before, once for each time "
                    "the map is written; or pass the map in the kernel's parameters",
      }),
      where);
}

void address_space::acquire_map(tensor_map const& m, site where) {
  std::vector<acquired_map>& acquired = m_.sched.running()->block->acquired_maps;
  auto const found = std::find_if(acquired.begin(), acquired.end(),
                                  [&](acquired_map const& x) { return x.at == &m; });
  bool const there = found != acquired.end();
  if (there && std::equal(m.words, m.words + 16, found->words)) return;
  acquired_descs_.push_back(std::make_unique<tensor_map_desc>(read_map(m, where)));
  if (auto const refusal = check_tensor_map(*acquired_descs_.back()))
    m_.reports.stop(
        "E0013", "tensor-map-invalid",
        report_text({
            .what = "A tensor map that a kernel has changed describes nothing that TMA can copy.",
            .now = fmt::format("acquire at {} by {}", text_of(where), name_of(*m_.sched.running())),
            .cause = to_string(*refusal),
            .remedy = "fields that agree with each other and with make_tensor_map's rules",
        }),
        where);
  check_tensor_bounds(*acquired_descs_.back(), where);
  acquired_map now{&m, acquired_descs_.back().get(), {}};
  std::copy(m.words, m.words + 16, now.words);
  if (there)
    *found = now;
  else
    acquired.push_back(now);
}

void address_space::stop_at_unreleased_map(thread const& t) {
  m_.reports.stop(
      "E0050", "tensor-map-not-released",
      report_text({
          .what = "A thread ends with a tensor map that it wrote and did not release.",
          .now = "end of " + name_of(t),
          .earlier = "last write at " + text_of(t.map_site),
          .cause = "an acquire elsewhere pairs with a release; without one it may see older bytes",
          .remedy = "tensor_map_release() after the last write to the map",
      }),
      t.map_site);
}

void tma_check_map(tensor_map const& map, site where) {
  engine_call const inside;
  machine::current().memory.map_of(map, where);
}

void tensor_map_release(site) {
  engine_call const inside;
  machine::current().sched.running()->map_unreleased = false;
}

void tensor_map_acquire(tensor_map const& map, site where) {
  engine_call const inside;
  machine::current().memory.acquire_map(map, where);
}

}  // namespace tw::emu
