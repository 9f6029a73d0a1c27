// SPDX-License-Identifier: Apache-2.0
// map_fields.hpp  A tensor map that a kernel changes (emulated). PTX ISA, "tensormap.replace",
//                 "tensormap.cp_fenceproxy".
#pragma once

#include "tilewright/arch/emu/tma.hpp"
#include "tilewright/arch/map_space.hpp"
#include "tilewright/base/elem.hpp"

namespace tw {

namespace emu {

enum class map_field : std::uint8_t { address, rank, dim, stride, box, swizzle, type };
void tensor_map_set(tensor_map& map, map_field field, int index, std::uint64_t value, map_space s,
                    site where);
void tensor_map_copy_release(tensor_map& to, tensor_map const& from, site where);

}  // namespace emu

template <map_space S = map_space::global>
TW_DEVICE void tensor_map_set_rank(tensor_map& map, int rank, emu::site where = emu::site::here()) {
  emu::tensor_map_set(map, emu::map_field::rank, 0, static_cast<std::uint64_t>(rank), S, where);
}
template <int I, map_space S = map_space::global>
TW_DEVICE void tensor_map_set_dim(tensor_map& map, std::uint32_t elements,
                                  emu::site where = emu::site::here()) {
  emu::tensor_map_set(map, emu::map_field::dim, I, elements, S, where);
}
template <int I, map_space S = map_space::global>
TW_DEVICE void tensor_map_set_stride(tensor_map& map, std::uint64_t bytes,
                                     emu::site where = emu::site::here()) {
  emu::tensor_map_set(map, emu::map_field::stride, I, bytes, S, where);
}
template <int I, map_space S = map_space::global>
TW_DEVICE void tensor_map_set_box(tensor_map& map, std::uint32_t elements,
                                  emu::site where = emu::site::here()) {
  emu::tensor_map_set(map, emu::map_field::box, I, elements, S, where);
}
template <swizzle_mode W, map_space S = map_space::global>
TW_DEVICE void tensor_map_set_swizzle(tensor_map& map, emu::site where = emu::site::here()) {
  static_assert(W != swizzle_mode::b128_base32,
                "[TW0237] tensor_map_set_swizzle has no atoms of 32 bytes; make_tensor_map has");
  emu::tensor_map_set(map, emu::map_field::swizzle, 0, static_cast<std::uint64_t>(W), S, where);
}
template <elem E, map_space S = map_space::global>
TW_DEVICE void tensor_map_set_elem(tensor_map& map, emu::site where = emu::site::here()) {
  emu::tensor_map_set(map, emu::map_field::type, 0, static_cast<std::uint64_t>(E), S, where);
}
TW_DEVICE void tensor_map_set_address_shared(tensor_map& map, void const* tensor,
                                             emu::site where = emu::site::here()) {
  emu::tensor_map_set(map, emu::map_field::address, 0, reinterpret_cast<std::uint64_t>(tensor),
                      map_space::shared, where);
}
TW_DEVICE void tensor_map_copy_release(tensor_map& to, tensor_map const& from,
                                       emu::site where = emu::site::here()) {
  emu::tensor_map_copy_release(to, from, where);
}

}  // namespace tw
