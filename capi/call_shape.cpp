// SPDX-License-Identifier: Apache-2.0
// call_shape.cpp  Bytes of a call, and its addresses.
#include "capi/call_shape.hpp"

#include <cstring>

#include "capi/arguments.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw::capi {

// If this fails, tw_gemm_args has a new member: add it to tensors_of(), or to the words or numbers
// that the constructor below reads.
static_assert(sizeof(void*) != 8 || sizeof(tw_gemm_args) == 288);

call_shape::call_shape(tw_gemm_args const& x) {
  // Numbers of groups and headers of weights are data.
  bool const plain = x.size == sizeof x && x.groups == nullptr && x.group_status == nullptr &&
                     x.weights_b == nullptr;
  if (!plain) {
    size_ = most + 1;
    return;
  }
  auto const note = [&](bool given) {
    given_ = 2 * given_ + (given ? 1 : 0);
    return given;
  };
  for (auto const& [is, tensor] : tensors_of(x))
    if (note(tensor != nullptr)) add(*tensor);
  char const* const words[] = {x.scale_a_as, x.scale_b_as, x.scale_d_as, x.format,    x.activation,
                               x.gate,       x.device,     x.groups_as,  x.group_axis};
  static_assert(operands_of_a_call + std::size(words) <= 32);  // bits of given_
  for (char const* word : words)
    if (note(word != nullptr && *word != '\0')) add(word, std::strlen(word) + 1);
  struct {
    float alpha, beta;
    std::uint32_t beta_given, flags;
    std::int32_t promote, threads;
    std::int64_t group_size, choices;
  } const numbers{x.alpha == nullptr ? 1.0F : *x.alpha,
                  x.beta == nullptr ? 0.0F : *x.beta,
                  x.beta != nullptr,
                  x.flags,
                  x.promote,
                  x.threads,
                  x.expected_group_size,
                  x.gather_choices};
  add(&numbers, sizeof numbers);
}

bool call_shape::operator==(call_shape const& other) const {
  return size_ == other.size_ && size_ <= most && given_ == other.given_ &&
         std::memcmp(bytes_, other.bytes_, size_) == 0;
}

void call_shape::add(void const* from, std::size_t bytes) {
  if (size_ + bytes <= most) std::memcpy(bytes_ + size_, from, bytes);
  size_ += bytes;
}

void call_shape::add(DLTensor const& t) {
  bool const described = t.ndim == 0 || (t.ndim > 0 && t.ndim <= 32 && t.shape != nullptr);
  struct {
    std::int32_t rank, strided;
    DLDataType type;
  } const head{t.ndim, described && t.strides != nullptr, t.dtype};
  add(&head, sizeof head);
  if (!described) return;
  auto const bytes = static_cast<std::size_t>(t.ndim) * sizeof(std::int64_t);
  add(t.shape, bytes);
  if (t.strides != nullptr) add(t.strides, bytes);
  if (first_) place_ = t.device, first_ = false;
  one_place_ = one_place_ && t.device.device_type == place_.device_type &&
               t.device.device_id == place_.device_id;
}

std::optional<tensor_place> call_shape::place() const {
  bool const known = place_.device_type == kDLCPU || place_.device_type == kDLCUDA;
  if (first_ || !one_place_ || !known) return std::nullopt;
  return tensor_place{place_.device_type, place_.device_id};
}

gemm_operands addresses_of(tw_gemm_args const& x) {
  gemm_operands o{};
  for (auto const& [is, tensor] : tensors_of(x))
    if (tensor != nullptr && tensor->data != nullptr)
      set_address(o, is, static_cast<char*>(tensor->data) + tensor->byte_offset);
  return o;
}

}  // namespace tw::capi
