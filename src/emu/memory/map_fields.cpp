// SPDX-License-Identifier: Apache-2.0
// map_fields.cpp  Tensor maps that a kernel changes, field by field, in global or shared memory.
#include "tilewright/arch/emu/map_fields.hpp"

#include <fmt/format.h>

#include <cstring>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"
#include "tilewright/arch/emu/tensor_map_emu.hpp"

namespace tw::emu {

namespace {

[[noreturn]] void refuse(std::string cause, site where) {
  machine& m = machine::current();
  m.reports.stop(
      "E0013", "tensor-map-invalid",
      report_text({
          .what = "A tensor map is given a value that TMA cannot use.",
          .now = fmt::format("write at {} by {}", text_of(where), name_of(*m.sched.running())),
          .cause = std::move(cause),
          .remedy = "values that make_tensor_map accepts",
      }),
      where);
}

/// The values of one field that an instruction can see; address_space::acquire_map sees the whole.
void set(tensor_map_desc& d, map_field field, int index, std::uint64_t value, site where) {
  auto const need_index = [&](int count) {
    if (index < 0 || index >= count)
      refuse(fmt::format("there is no field {} of this kind, {} is the last", index, count - 1),
             where);
  };
  switch (field) {
    case map_field::address:
      if (value % 16 != 0) refuse("the address of a tensor is a multiple of 16 bytes", where);
      d.base = reinterpret_cast<void*>(value);
      return;
    case map_field::rank:
      if (value < 1 || value > 5)
        refuse(fmt::format("a tensor has 1 to 5 dimensions, not {}", value), where);
      d.rank = static_cast<int>(value);
      return;
    case map_field::dim:
      need_index(5);
      d.dim[index] = static_cast<std::int64_t>(value);
      return;
    case map_field::stride:
      need_index(4);
      if (value % 16 != 0)
        refuse(fmt::format("strides are multiples of 16 bytes, not {}", value), where);
      d.stride_bytes[index] = static_cast<std::int64_t>(value);
      return;
    case map_field::box:
      need_index(5);
      if (value < 1 || value > 256)
        refuse(fmt::format("a box has 1 to 256 elements along a dimension, not {}", value), where);
      d.box[index] = static_cast<std::int32_t>(value);
      return;
    case map_field::swizzle: d.swizzle = static_cast<swizzle_mode>(value); return;
    case map_field::type: d.type = static_cast<elem>(value); return;
  }
}

}  // namespace

void tensor_map_set(tensor_map& map, map_field field, int index, std::uint64_t value, map_space s,
                    site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = *m.sched.running();
  hazard::checker* const check = t.block->cluster->check.get();
  if (s == map_space::shared) {
    std::uint32_t const offset = m.memory.offset_in_smem(*t.block, &map, sizeof map, where);
    if (check != nullptr) check->plain(t, *t.block, offset, sizeof map, true, where);
  } else {
    m.memory.require_global(&map, "A tensormap.replace in global memory", where);
    m.memory.check_bounds(&map, sizeof map, "A tensormap.replace", where);
    if (check != nullptr)
      check->global_plain(t, reinterpret_cast<std::uintptr_t>(&map), sizeof map, true, where);
    t.map_unreleased = true;
    t.map_site = where;
  }
  tensor_map_desc d = m.memory.read_map(map, where);
  set(d, field, index, value, where);
  map = pack_tensor_map_emu(d);
}

void tensor_map_set_address(tensor_map& map, void const* tensor, site where) {
  engine_call const inside;
  tensor_map_set(map, map_field::address, 0, reinterpret_cast<std::uint64_t>(tensor),
                 map_space::global, where);
}

void tensor_map_copy_release(tensor_map& to, tensor_map const& from, site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = *m.sched.running();
  std::uint32_t const offset = m.memory.offset_in_smem(*t.block, &from, sizeof from, where);
  m.memory.require_global(&to, "The destination of a tensormap.cp_fenceproxy", where);
  m.memory.check_bounds(&to, sizeof to, "A tensormap.cp_fenceproxy", where);
  m.memory.require_aligned(&to, 128, "a tensormap.cp_fenceproxy", where);
  std::uint32_t const nothing = 0;
  warp_words all;
  exchange(&nothing, 1, "tensor_map_copy_release", all, where);  // all lanes are here
  if (t.id % 32 == 0) {
    if (hazard::checker* check = t.block->cluster->check.get()) {
      check->plain(t, *t.block, offset, sizeof from, false, where);
      check->global_plain(t, reinterpret_cast<std::uintptr_t>(&to), sizeof to, true, where);
    }
    m.memory.read_map(from, where);  // E0013 if it is none
    to = from;
  }
  exchange(&nothing, 1, "tensor_map_copy_release", all, where);  // none goes on before the copy
  t.map_unreleased = false;
}

}  // namespace tw::emu
