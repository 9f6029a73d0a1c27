// SPDX-License-Identifier: Apache-2.0
// tensors.hpp  Python objects as DLTensor: anything with DLPack or a buffer, and specs.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "exchange.hpp"
#include "tilewright.h"

namespace tw_python {

namespace nb = nanobind;

/// A tensor without data, for plans.
struct spec {
  std::vector<std::int64_t> shape, strides;
  DLDataType type{};
  DLDevice device{kDLCPU, 0};
};

/// Thrown if an argument is of a kind that the C library does not have.
struct bad_argument {
  char const* code;
  std::string what, got;
  char const *need, *hint = "";
};

inline std::string type_text(nb::handle h) {
  return nb::cast<std::string>(nb::str(h.type().attr("__name__")));
}

/// An argument as DLTensor; it keeps what the object exports until the call has returned.
///
///   None            no tensor
///   spec            shape, strides and type; no data
///   (object, type)  the object's memory read as the type, a tuple (code, bits, lanes)
///   object          by its library's functions (read_directly), __dlpack__ or the buffer protocol
class tensor {
 public:
  tensor(nb::handle h, char const* name, bool written = false) {
    if (h.is_none()) return;
    given_ = true;
    if (exchange_api const* const api = exchange_of(h); api != nullptr) {
      if (api->tensor_of(h.ptr(), &t_) == 0) return;
      refuse(h, name, false);
    }
    if (nb::isinstance<spec>(h)) {
      spec const& s = nb::cast<spec const&>(h);
      held_ = nb::borrow(h);
      fill(nullptr, static_cast<int>(s.shape.size()), s.shape.data(), s.strides.data(), s.type,
           s.device);
      return;
    }
    nb::handle object = h;
    std::optional<DLDataType> named;
    if (nb::isinstance<nb::tuple>(h)) {
      nb::tuple const pair = nb::borrow<nb::tuple>(h);
      object = pair[0];
      nb::tuple const t = nb::cast<nb::tuple>(pair[1]);
      named = DLDataType{nb::cast<std::uint8_t>(t[0]), nb::cast<std::uint8_t>(t[1]),
                         nb::cast<std::uint16_t>(t[2])};
      held_ = nb::borrow(object);
    }
    if (written) {
      nb::ndarray<> a;
      if (!nb::try_cast(object, a, false)) refuse(object, name, true);
      take(a, named);
    } else {
      nb::ndarray<nb::ro> a;
      if (!nb::try_cast(object, a, false)) refuse(object, name, false);
      take(a, named);
    }
  }
  tensor(tensor const&) = delete;
  tensor& operator=(tensor const&) = delete;

  DLTensor* get() { return given_ ? &t_ : nullptr; }

 private:
  [[noreturn]] static void refuse(nb::handle object, char const* name, bool written) {
    PyErr_Clear();
    nb::ndarray<nb::ro> a;
    if (written && nb::try_cast(object, a, false))
      throw bad_argument{"TW0484", name, "a read-only array", "memory that can be written"};
    throw bad_argument{"TW0483", std::string("type of ") + name, type_text(object),
                       "a dense array with DLPack, in host memory or on a CUDA device"};
  }
  template <class Array>
  void take(Array const& a, std::optional<DLDataType> named) {
    auto const d = a.dtype();
    fill(const_cast<void*>(static_cast<void const*>(a.data())), static_cast<int>(a.ndim()),
         a.shape_ptr(), a.stride_ptr(), named ? *named : DLDataType{d.code, d.bits, d.lanes},
         {static_cast<DLDeviceType>(a.device_type()), a.device_id()});
    if constexpr (std::is_same_v<Array, nb::ndarray<>>)
      array_ = a;
    else
      read_only_ = a;
  }
  void fill(void* data, int rank, std::int64_t const* shape, std::int64_t const* strides,
            DLDataType type, DLDevice device) {
    t_.data = data, t_.ndim = rank;
    t_.shape = const_cast<std::int64_t*>(shape);
    t_.strides = const_cast<std::int64_t*>(strides);
    t_.dtype = type, t_.device = device;
  }

  bool given_ = false;
  DLTensor t_{};
  nb::object held_;
  nb::ndarray<> array_;
  nb::ndarray<nb::ro> read_only_;
};

}  // namespace tw_python
