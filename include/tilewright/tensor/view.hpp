// SPDX-License-Identifier: Apache-2.0
// view.hpp  The class `tensor`: a pointer, a compile-time layout, run-time arguments.
//
//     tensor<bf16, stile, smem> s{buffer};       s(r, c) is an element, s(_, c) a column
//
// T is the element type, L the layout, S the space. The last dimension where a layout is a value
// ends here: L is a template argument, and only coordinates and arguments are left to run time.
// Slicing gives a tensor again: t(_, 2, k) has the layout slice(L, (_,0,0)), computed by the
// compiler, and a pointer moved by the offset of (0, 2, k). A tensor is a view and is copied like
// a pointer: a const one does not make its elements const, tensor<T const, ...> does.
// Needs:    one coordinate per mode, or one for the whole [TW0110]; memory has integer strides,
//           coordinates and tensor memory have basis strides [TW0149]; tensor memory has 32-bit
//           elements [TW0148]; 0 <= coordinate < extent: swizzled offsets wrap otherwise
// Law:      t(_, c)(r) is t(r, c); t(i) is t(idx2crd(i)); &t(c...) == t.data + L(c...)
// Example:  tests/tensor/tensor_test.cpp
#pragma once

#include "tilewright/tensor/address.hpp"

namespace tw {

/// A coordinate of R modes: the element of a coordinate tensor.
template <int R>
struct coordinates {
  std::int32_t v[R];

  TW_HD constexpr std::int32_t operator[](int i) const { return v[i]; }
  bool operator==(coordinates const&) const = default;
};

namespace detail {

template <class T, space S>
struct pointer_of {
  using type = T*;
};
template <class T, space S>
requires(S.where == memory::tensor_memory) struct pointer_of<T, S> {
  using type = tmem_address;
};
template <class T, space S>
requires(S.where == memory::coordinates) struct pointer_of<T, S> {
  using type = T;
};

template <class T>
struct byte_of {
  using type = char;
};
template <class T>
struct byte_of<T const> {
  using type = char const;
};

template <class T>
TW_HD inline T* byte_step(T* p, std::uint32_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<typename byte_of<T>::type*>(p) + bytes);
}

/// The first K arguments.
template <int K, int From>
TW_HD constexpr arguments<K> first_arguments(arguments<From> const& from) {
  static_assert(K <= From);
  arguments<K> out = {};
  for (int i = 0; i < K; ++i) out.v[i] = from.v[i];
  return out;
}

TW_HD constexpr layout without_offset(layout l) {
  l.offset = 0;
  return l;
}

template <class T, layout L, space S, tree Mask>
struct part_of;

}  // namespace detail

template <class T, layout L, space S = gmem>
struct tensor {
  using element = T;
  using pointer = typename detail::pointer_of<T, S>::type;
  static constexpr layout map = L;
  static constexpr space where = S;
  static constexpr bool in_memory =
      S.where != memory::coordinates && S.where != memory::tensor_memory;
  /// Known alignment of element 0, in bytes.
  static constexpr int align_bytes = S.align_bytes > 0 ? S.align_bytes : int{alignof(T)};
  static constexpr bool own_bits = detail::owns_bits(L, S, int{sizeof(T)});
  static_assert(detail::need_strides_of_the_space(detail::strange_strides(L, S), 0));
  static_assert(detail::need_cell(S.where == memory::tensor_memory ? 8 * i64{sizeof(T)} : 32, 32));

  pointer data;
  std::uint32_t off = 0;  // swizzled tensors: bytes to be added; or elements, a sum (address.hpp)
  arguments<arguments_of(L)> args = {};

  /// The element at a coordinate; with _ in it, the tensor of those modes. Tensor memory gives the
  /// address, a coordinate tensor the coordinate.
  template <class... C>
  TW_HD constexpr decltype(auto) operator()(C const&... c) const {
    // No named constant for the mask: cicc 13.0 crashes on some decltype(t(_, 1)) with one.
    tensor const at = moved<detail::mask_of<C...>()>(detail::indices(c...));
    if constexpr (detail::keeps_any(detail::mask_of<C...>())) {
      return at.template kept<detail::mask_of<C...>()>();
    } else if constexpr (own_bits && !S.moved && !detail::needs_64_bits(L)) {
      return whole_element<detail::mask_of<C...>()>(detail::indices(c...));
    } else {
      return at.first();
    }
  }

  TW_HD constexpr tensor view() const { return *this; }

 private:
  template <class, layout, space>
  friend struct tensor;

  /// This tensor, beginning where the fixed coordinates point.
  template <tree Mask, class List>
  TW_HD constexpr tensor moved(List const& at) const {
    using detail::fixed_sum;
    using detail::pick;
    using sum = detail::sum_type<L>;
    tensor to = *this;
    if constexpr (S.where == memory::coordinates) {
      move_coordinates<Mask, 0>(to, at);
    } else if constexpr (S.where == memory::tensor_memory) {
      to.data.bits += (fixed_sum<L, Mask, pick{1}, std::uint32_t>(at, args.v) << 16) +
                      fixed_sum<L, Mask, pick{2}, std::uint32_t>(at, args.v);
    } else if constexpr (!L.swizzled()) {
      to.data += static_cast<sum>(L.offset) + fixed_sum<L, Mask, pick{}, sum>(at, args.v);
    } else if constexpr (own_bits) {
      to.data += fixed_sum<L, Mask, pick{0, L.sw.z_mask(), false}, sum>(at, args.v);
      to.off ^= swizzled_part<Mask>(at) * std::uint32_t{sizeof(T)};
    } else {
      to.off += static_cast<std::uint32_t>(L.offset + fixed_sum<L, Mask, pick{}, sum>(at, args.v));
    }
    return to;
  }

  /// With own bits: what is xored into the offset, in elements.
  template <tree Mask, class List>
  TW_HD constexpr std::uint32_t swizzled_part(List const& at) const {
    using detail::fixed_sum;
    using detail::pick;
    using sum = detail::sum_type<L>;
    sum const own = fixed_sum<L, Mask, pick{0, L.sw.z_mask(), true}, sum>(at, args.v);
    sum const read = fixed_sum<L, Mask, pick{0, L.sw.y_mask(), true}, sum>(at, args.v);
    constexpr auto start = static_cast<std::uint32_t>(L.sw(L.offset));
    return static_cast<std::uint32_t>(own) ^
           detail::moved_down(L.sw, static_cast<std::uint32_t>(read)) ^ start;
  }

  /// An element of a tensor that is not a part: one 32-bit offset.
  template <tree Mask, class List>
  TW_HD constexpr T& whole_element(List const& at) const {
    using added = detail::pick;
    return data[detail::fixed_sum<L, Mask, added{0, L.sw.z_mask(), false}, std::uint32_t>(at,
                                                                                          args.v) +
                swizzled_part<Mask>(at)];
  }

  template <tree Mask, int Axis, class List>
  TW_HD constexpr void move_coordinates(tensor& to, List const& at) const {
    if constexpr (Axis < int{sizeof(T) / sizeof(std::int32_t)}) {
      to.data.v[Axis] +=
          detail::fixed_sum<L, Mask, detail::pick{Axis + 1}, std::int32_t>(at, args.v);
      move_coordinates<Mask, Axis + 1>(to, at);
    }
  }

  /// The element where this tensor begins; its offset is already in `off`.
  TW_HD constexpr decltype(auto) first() const {
    if constexpr (!in_memory) {
      return pointer(data);
    } else if constexpr (!L.swizzled()) {
      return *data;
    } else if constexpr (own_bits) {
      return *detail::byte_step(data, off);
    } else {
      return data[L.sw(off)];
    }
  }

  /// The modes marked _, from where this tensor begins.
  template <tree Mask>
  TW_HD constexpr auto kept() const {
    using part = detail::part_of<T, L, S, Mask>;
    auto const rest = detail::first_arguments<arguments_of(part::map)>(args);
    if constexpr (part::settles) {
      return typename part::type{detail::byte_step(data, off), 0, rest};
    } else {
      return typename part::type{data, off, rest};
    }
  }
};

namespace detail {

/// The tensor of the modes marked _. It is plain if no kept bit is part of the swizzle.
template <class T, layout L, space S, tree Mask>
struct part_of {
  using whole = tensor<T, L, S>;
  static constexpr layout modes = without_offset(modes_where(L, Mask, true));
  static constexpr bool settles = whole::own_bits && leaves_touched(modes) == 0;
  static constexpr layout map = settles ? linear_part(modes) : modes;
  static constexpr int align =
      whole::in_memory ? alignment_after(L, Mask, whole::align_bytes, int{sizeof(T)}) : 0;
  static constexpr space where{S.where, align, map.swizzled() && !whole::own_bits, map.swizzled()};
  using type = tensor<T, map, where>;
};

}  // namespace detail

/// Anything with the interface of a tensor: tensors, and fragments, which are viewed as they are
/// given (const or not).
template <class V>
concept tensor_like = requires(V& v) {
  v.view().data;
};

namespace detail {
template <class V>
V& any_of();
}  // namespace detail

/// The tensor type of a view of V, and its layout.
template <tensor_like V>
using view_of = decltype(detail::any_of<V>().view());
template <tensor_like V>
inline constexpr layout map_of = view_of<V>::map;

/// The tensor at p with layout L. A run-time layout takes its arguments after p, in their order.
template <layout L, class T, space S, class... A>
TW_HD constexpr tensor<T, L, S> make_tensor(space_ptr<T, S> p, A... args) {
  static_assert(detail::need_arguments(sizeof...(A), arguments_of(L)));
  if constexpr (sizeof...(A) == 0) {
    return {p.raw};
  } else {
    return {p.raw, 0, {{static_cast<i64>(args)...}}};
  }
}
template <layout L, class T, class... A>
TW_HD constexpr tensor<T, L> make_tensor(T* p, A... args) {
  return make_tensor<L>(space_ptr<T, gmem>{p}, args...);
}

namespace detail {

/// The elements of a tensor one after the other. Along one run-time stride the pointer walks, so
/// that no product is left in an unrolled loop.
template <class V>
struct element_walk {
  static constexpr layout line = coalesce(V::map);
  static constexpr bool steps =
      V::in_memory && !V::map.swizzled() && line.shape.n == 1 && is_argument(line.stride[0]);
  V at;

  TW_HD constexpr decltype(auto) element(int i) const {
    if constexpr (steps) {
      return *at.data;
    } else {
      return at(i);
    }
  }
  TW_HD constexpr void next() {
    if constexpr (steps) at.data += leaf_value<line.stride[0]>(at.args.v);
  }
};

}  // namespace detail

/// The elements of v under another layout D of them: a rearrangement of L's modes by an operation
/// of the algebra (divide, group, composition, ...), with L's swizzle.
template <layout D, tensor_like V>
TW_HD constexpr auto with_layout(V&& v) {
  auto const t = v.view();
  using from = decltype(t);
  using to = tensor<typename from::element, D, from::where>;
  constexpr bool stepwise = from::own_bits && D.swizzled() && from::where.moved;
  static_assert(detail::need_own_bits(stepwise ? detail::overlapping_leaves(D) : 0, 0));
  return to{t.data, t.off, detail::first_arguments<arguments_of(D)>(t.args)};
}

}  // namespace tw
