// SPDX-License-Identifier: Apache-2.0
// tensors.hpp  Tensors with memory of any shape and strides, for tests of the C library.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tilewright.h"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/dispatch/tensors.hpp"

namespace tw_c_test {

using extents = std::vector<std::int64_t>;

/// f(an element of the type); on the host alone, so that nvcc compiles it as g++ does.
template <class F>
double with_type(tw::elem e, F const& f) {
  switch (e) {
    case tw::elem::f16: return f(tw::f16{});
    case tw::elem::bf16: return f(tw::bf16{});
    case tw::elem::e4m3: return f(tw::e4m3{});
    case tw::elem::e5m2: return f(tw::e5m2{});
    case tw::elem::ue8m0: return f(tw::ue8m0{});
    case tw::elem::s32: return f(std::int32_t{});
    case tw::elem::s8: return f(std::int8_t{});
    case tw::elem::u8: return f(std::uint8_t{});
    default: return f(float{});
  }
}
template <class T>
double value_of(T x) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(x);
  else
    return static_cast<double>(tw::to_float(x));
}
template <class T>
T of_value(float x) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(x);
  else
    return tw::from_float<T>(x);
}

/// A tensor that owns its memory, between bytes that no call may change.
class tensor {
 public:
  static constexpr std::size_t margin = 512;
  static constexpr unsigned char mark = 0xA5;

  tensor() = default;
  tensor(tw::elem type, extents shape, extents strides = {}, std::int64_t offset = 0)
      : type_(type),
        shape_(std::move(shape)),
        strides_(std::move(strides)) {
    std::int64_t last = 0, dense = 1;
    for (std::size_t i = shape_.size(); i-- > 0;) {
      last += (std::max<std::int64_t>(shape_[i], 1) - 1) *
              (strides_.empty() ? dense : std::max<std::int64_t>(strides_[i], 0));
      dense *= std::max<std::int64_t>(shape_[i], 1);
    }
    auto const size = static_cast<std::size_t>((offset + last + 1) * bytes());
    store_.assign(size + 2 * margin, mark);
    store_.shrink_to_fit();
    base_ = (64 - reinterpret_cast<std::uintptr_t>(store_.data()) % 64) % 64 + 256 +
            static_cast<std::size_t>(offset * bytes());
    tw::tensor_type const t = tw::type_in_tensors(type);
    view_.device = {kDLCPU, 0};
    view_.dtype = {t.code, t.bits, t.lanes};
  }

  DLTensor* dl() {
    view_.data = store_.data() + base_;
    view_.ndim = static_cast<std::int32_t>(shape_.size());
    view_.shape = shape_.data();
    view_.strides = strides_.empty() ? nullptr : strides_.data();
    return &view_;
  }
  DLTensor& view() { return view_; }
  extents& shape() { return shape_; }
  tw::elem type() const { return type_; }
  std::int64_t bytes() const { return std::max(1, tw::size_bytes(type_)); }

  /// Elements between the first and the one at these indices; a missing batch index is dropped.
  std::int64_t at(std::int64_t z, std::int64_t i, std::int64_t j) const {
    std::size_t const r = shape_.size();
    std::int64_t const col = strides_.empty() ? 1 : strides_[r - 1];
    std::int64_t const row = strides_.empty() ? shape_[r - 1] : strides_[r - 2];
    std::int64_t const batch = r < 3 || shape_[0] == 1 ? 0
                               : strides_.empty()      ? shape_[1] * shape_[2]
                                                       : strides_[0];
    return z * batch + i * row + j * col;
  }
  void* address(std::int64_t element) { return store_.data() + base_ + element * bytes(); }

  double get(std::int64_t element) {
    return with_type(type_, [&](auto x) {
      std::memcpy(&x, address(element), sizeof x);
      return value_of(x);
    });
  }
  void set(std::int64_t element, float value) {
    with_type(type_, [&](auto x) {
      x = of_value<decltype(x)>(value);
      std::memcpy(address(element), &x, sizeof x);
      return 0.0;
    });
  }
  /// Each element once, with f(z, i, j).
  template <class F>
  void each(F const& f) const {
    std::size_t const r = shape_.size();
    for (std::int64_t z = 0; z < (r == 3 ? shape_[0] : 1); ++z)
      for (std::int64_t i = 0; i < shape_[r - 2]; ++i)
        for (std::int64_t j = 0; j < shape_[r - 1]; ++j) f(z, i, j);
  }
  template <class Draw>
  void fill(Draw const& draw) {
    each([&](std::int64_t z, std::int64_t i, std::int64_t j) { set(at(z, i, j), draw()); });
  }
  /// Bytes that belong to no element and differ from the mark.
  std::int64_t changed_outside() const {
    std::vector<bool> own(store_.size());
    each([&](std::int64_t z, std::int64_t i, std::int64_t j) {
      auto const first = base_ + static_cast<std::size_t>(at(z, i, j) * bytes());
      for (std::size_t b = 0; b < static_cast<std::size_t>(bytes()); ++b) own[first + b] = true;
    });
    std::int64_t changed = 0;
    for (std::size_t b = 0; b < store_.size(); ++b)
      if (!own[b] && store_[b] != mark) ++changed;
    return changed;
  }

 private:
  tw::elem type_ = tw::elem::f32;
  extents shape_, strides_;
  std::vector<unsigned char> store_;
  std::size_t base_ = 0;
  DLTensor view_{};
};

/// A count of random cases: `all` with TW_EFFORT=full.
inline int effort(int usual, int all) {
  char const* const text = std::getenv("TW_EFFORT");
  return text != nullptr && std::string(text) == "full" ? all : usual;
}

/// Arguments with a, b and d.
inline tw_gemm_args args_of(tensor& a, tensor& b, tensor& d) {
  tw_gemm_args g{};
  g.size = sizeof g;
  g.a = a.dl(), g.b = b.dl(), g.d = d.dl();
  return g;
}

/// "TW0482 strides of a" after a call that failed, "" after one that did not.
inline std::string refusal(tw_status s) {
  if (s == TW_OK) return "";
  return std::string(tw_last_error()->code) + " " + tw_last_error()->what;
}

}  // namespace tw_c_test
