// SPDX-License-Identifier: Apache-2.0
// space.hpp  Where a tensor lives, and pointers whose type says it.
//
//     gmem   global memory       T*, 64-bit              make_gmem_ptr<16>(p)
//     smem   shared memory       T*                      make_smem_ptr<1024>(p)
//     rmem   registers           T* to a local array     fragments: fragment.hpp
//     tmem   tensor memory       lane and column         tmem_address, tmem.hpp
//     crds   nothing: coordinates themselves             identity.hpp
//
// A space also says what is known of the alignment of the tensor's first element, in bytes. Every
// slice works out what is left of it, so a vector access is checked at compile time (vec.hpp).
// Needs:    a pointer that is aligned as promised [TW0152, checked on the host]
// Example:  make_smem_ptr<1024>(buffer)      tests/tensor/tensor_test.cpp
#pragma once

#include "tilewright/layout/num.hpp"
#include "tilewright/tensor/rule_words.hpp"
#include "tilewright/tensor/rules.hpp"

namespace tw {

enum class memory : std::uint8_t { global, shared, registers, tensor_memory, coordinates };

struct space {
  memory where = memory::global;
  int align_bytes = 0;   // of the first element; 0: that of the element type
  bool carries = false;  // see address.hpp: the swizzle is applied when an element is used
  bool moved = false;    // a part of a swizzled tensor: what is before it is in the offset

  /// This space, first element at a multiple of `bytes`.
  TW_HD constexpr space aligned(int bytes) const { return {where, bytes, carries, moved}; }

  bool operator==(space const&) const = default;
};

inline constexpr space gmem{memory::global};
inline constexpr space smem{memory::shared};
inline constexpr space rmem{memory::registers};
inline constexpr space tmem{memory::tensor_memory};
inline constexpr space crds{memory::coordinates};

/// Bytes of the widest load or store of a thread (PTX ISA, "ld": .v4 of 32 bits).
inline constexpr int max_access_bytes = 16;

/// An address of tensor memory: lane in bits 16-31, column in bits 0-15, columns of 32 bits
/// (PTX ISA, "Tensor Memory Addressing").
struct tmem_address {
  std::uint32_t bits = 0;

  TW_HD constexpr int lane() const { return static_cast<int>(bits >> 16); }
  TW_HD constexpr int column() const { return static_cast<int>(bits & 0xFFFFU); }
  bool operator==(tmem_address const&) const = default;
};

/// A pointer with its memory space.
template <class T, space S>
struct space_ptr {
  T* raw;
};

namespace detail {

/// Empty on the device: there a misaligned access faults by itself.
TW_HOST_CALL
TW_HD inline void check_aligned(void const* p, int align_bytes) {
  auto const address = reinterpret_cast<std::uint64_t>(p);
  if (address % static_cast<std::uint64_t>(align_bytes) != 0)
    throw_tensor_refusal(TW0152_address_is_not_aligned_as_promised,
                         static_cast<std::int64_t>(address), align_bytes);
}

}  // namespace detail

/// Global memory, p a multiple of AlignBytes.
template <int AlignBytes = 0, class T>
TW_HD inline space_ptr<T, gmem.aligned(AlignBytes)> make_gmem_ptr(T* p) {
  if constexpr (AlignBytes > 1) detail::check_aligned(p, AlignBytes);
  return {p};
}
/// Shared memory, p a multiple of AlignBytes.
template <int AlignBytes = 0, class T>
TW_HD inline space_ptr<T, smem.aligned(AlignBytes)> make_smem_ptr(T* p) {
  if constexpr (AlignBytes > 1) detail::check_aligned(p, AlignBytes);
  return {p};
}
/// A local array, p a multiple of AlignBytes.
template <int AlignBytes = 0, class T>
TW_HD inline space_ptr<T, rmem.aligned(AlignBytes)> make_rmem_ptr(T* p) {
  if constexpr (AlignBytes > 1) detail::check_aligned(p, AlignBytes);
  return {p};
}

}  // namespace tw
