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
  PyTypeObject* type;  // of which a reference is held
  exchange_api const* api;
};
inline constexpr int most_direct_types = 8;
inline direct_type direct_types[most_direct_types];
inline int direct_type_count = 0;

/// The functions of the object's type; nullptr if read_directly() was not called for the type.
inline exchange_api const* exchange_of(nb::handle object) {
  PyTypeObject* const type = Py_TYPE(object.ptr());
  for (int i = 0; i < direct_type_count; ++i)
    if (direct_types[i].type == type) return direct_types[i].api;
  return nullptr;
}

/// From now on objects of exactly this type are read by the functions of its library. False: the
/// type has none. Classes that are derived from it may hold their elements elsewhere.
inline bool read_directly(nb::handle type) {
  nb::object const capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  if (PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api") == 0) return false;
  auto const* api =
      static_cast<exchange_api const*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  while (api != nullptr && api->header.major != 1) api = api->header.previous;
  if (api == nullptr || api->tensor_of == nullptr || direct_type_count == most_direct_types)
    return false;
  direct_types[direct_type_count++] = {reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr()), api};
  return true;
}

}  // namespace tw_python
