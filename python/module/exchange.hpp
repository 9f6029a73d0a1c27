// SPDX-License-Identifier: Apache-2.0
// exchange.hpp  Tensors read by the C functions of their library: the part of DLPack 1.3 that torch
//               and others offer as __dlpack_c_exchange_api__, 50 ns a tensor instead of 1 us.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "tilewright.h"

namespace tw_python {

namespace nb = nanobind;

/// DLPackExchangeAPI of DLPack 1.3. Functions that are not called here are untyped.
struct exchange_api {
  struct {
    std::uint32_t major, minor;
    exchange_api const* previous;
  } header;
  void *allocate, *managed_from_object, *managed_to_object;
  /// Fills a DLTensor that is valid while the object lives. 0, or -1 with an exception set.
  int (*tensor_of)(void* object, DLTensor* to);
  int (*current_stream)(DLDeviceType kind, std::int32_t index, void** stream);
};

struct direct_type {
  PyTypeObject* type;  // of which a reference is held, as of the functions below
  exchange_api const* api;
  PyObject* empty_like;  // of a tensor: another one, not initialised
  PyObject* gradients;   // without arguments: are gradients recorded?
  PyObject* memory_for;  // of a tensor and a size: (address, bytes) of a workspace
};
inline constexpr int most_direct_types = 8;
inline direct_type direct_types[most_direct_types];
inline int direct_type_count = 0;

/// The entry of the object's type; nullptr: read_directly() was not called for the type.
inline direct_type const* direct_type_of(nb::handle object) {
  PyTypeObject* const type = Py_TYPE(object.ptr());
  for (int i = 0; i < direct_type_count; ++i)
    if (direct_types[i].type == type) return &direct_types[i];
  return nullptr;
}

inline exchange_api const* exchange_of(nb::handle object) {
  direct_type const* const type = direct_type_of(object);
  return type == nullptr ? nullptr : type->api;
}

/// From now on objects of exactly this type are read by the functions of its library. False: the
/// type has none. Classes that are derived from it may hold their elements elsewhere.
inline bool read_directly(nb::handle type, nb::object empty_like, nb::object gradients,
                          nb::object memory_for) {
  nb::object const capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  if (PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") == 0) return false;
  auto const* api =
      static_cast<exchange_api const*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  while (api != nullptr && api->header.major != 1) api = api->header.previous;
  if (api == nullptr || api->tensor_of == nullptr || direct_type_count == most_direct_types)
    return false;
  direct_types[direct_type_count++] = {reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr()), api,
                                       empty_like.release().ptr(), gradients.release().ptr(),
                                       memory_for.release().ptr()};
  return true;
}

}  // namespace tw_python
