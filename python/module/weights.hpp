// SPDX-License-Identifier: Apache-2.0
// weights.hpp  4-bit weights as an object of Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "calls.hpp"

namespace tw_python {

inline constexpr std::size_t header_bytes = 256;  // of prepared weights

/// Prepared 4-bit weights. tensors: values, scales, zeros, second, order; words: scales_to, to;
/// numbers: flags, group.
class weights {
 public:
  weights(nb::tuple const& t, nb::tuple const& w, nb::tuple const& n) {
    tensor values(t[0], "values"), scales(t[1], "scales"), zeros(t[2], "zeros");
    tensor second(t[3], "second"), order(t[4], "order");
    tw_weights_args args{};
    args.size = sizeof args;
    args.values = values.get(), args.scales = scales.get(), args.zeros = zeros.get();
    args.second = second.get(), args.order = order.get();
    args.scales_to = word(w[0], "scales_to"), args.to = word(w[1], "to");
    args.flags = nb::cast<std::uint32_t>(n[0]);
    args.group = number<std::int32_t>(n[1], "group");
    check(without_gil([&] { return tw_weights_make(&args, &made_); }));
  }
  weights(weights const&) = delete;
  weights& operator=(weights const&) = delete;
  ~weights() { tw_weights_free(made_); }

  std::int64_t bytes() const { return tw_weights_bytes(made_); }
  nb::str json() const {
    char* text = nullptr;
    check(tw_weights_json(made_, &text));
    return owned(text);
  }
  /// Into an array of uint8 in host memory, of the size of the weights.
  void copy_to(nb::handle array) const {
    tensor to(array, "array", true);
    DLTensor const* const t = to.get();
    if (t == nullptr || t->ndim != 1 || t->shape[0] != bytes() || t->dtype.bits != 8)
      throw bad_argument{"TW0616", "array", type_text(array), "uint8 of the bytes of the weights"};
    std::memcpy(static_cast<char*>(t->data) + t->byte_offset, tw_weights_data(made_),
                static_cast<std::size_t>(bytes()));
  }

 private:
  tw_weights* made_ = nullptr;
};

inline nb::str weights_json(nb::bytes const& header, std::int64_t bytes) {
  if (header.size() != header_bytes)
    throw bad_argument{"TW0466", "header of prepared weights",
                       std::to_string(header.size()) + " bytes", "256 bytes"};
  char* text = nullptr;
  check(tw_weights_describe(header.data(), bytes, &text));
  return owned(text);
}

}  // namespace tw_python
