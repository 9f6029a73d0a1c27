// SPDX-License-Identifier: Apache-2.0
// call_shape.cpp  Bytes of a call, and its addresses.
#include "capi/call_shape.hpp"

#include <cstring>

#include "tilewright/problem/operand.hpp"

namespace tw::capi {

call_shape::call_shape(tw_gemm_args const& x) {
  bool const plain = x.size == sizeof x && x.groups == nullptr && x.group_status == nullptr &&
                     x.group_alpha == nullptr && x.row_weight == nullptr && x.gather == nullptr &&
                     x.scatter == nullptr && x.weights_b == nullptr && x.groups_as == nullptr &&
                     x.group_axis == nullptr;
  if (!plain) {
    size_ = most + 1;
    return;
  }
  for (DLTensor const* t : {x.a, x.b, x.c, static_cast<DLTensor const*>(x.d),
                            static_cast<DLTensor const*>(x.aux), x.bias, x.scale_a, x.scale_b,
                            static_cast<DLTensor const*>(x.scale_d), x.second_a, x.second_b})
    add(t);
  for (char const* word :
       {x.scale_a_as, x.scale_b_as, x.scale_d_as, x.format, x.activation, x.gate, x.device})
    add(word);
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
  return size_ == other.size_ && size_ <= most && std::memcmp(bytes_, other.bytes_, size_) == 0;
}

void call_shape::add(void const* from, std::size_t bytes) {
  if (size_ + bytes <= most) std::memcpy(bytes_ + size_, from, bytes);
  size_ += bytes;
}

void call_shape::add(DLTensor const* t) {
  bool const described =
      t != nullptr && (t->ndim == 0 || (t->ndim > 0 && t->ndim <= 32 && t->shape != nullptr));
  std::int32_t const head[] = {t == nullptr ? -1 : t->ndim, described && t->strides != nullptr};
  add(head, sizeof head);
  if (!described) return;
  auto const bytes = static_cast<std::size_t>(t->ndim) * sizeof(std::int64_t);
  add(t->shape, bytes);
  if (t->strides != nullptr) add(t->strides, bytes);
  add(&t->dtype, sizeof t->dtype), add(&t->device, sizeof t->device);
}

void call_shape::add(char const* word) {
  if (word == nullptr) word = "";
  add(word, std::strlen(word) + 1);
}

gemm_operands addresses_of(tw_gemm_args const& x) {
  gemm_operands o{};
  auto const set = [&](role is, DLTensor const* t) {
    if (t != nullptr && t->data != nullptr)
      set_address(o, is, static_cast<char*>(t->data) + t->byte_offset);
  };
  set(role::a, x.a), set(role::b, x.b), set(role::c, x.c), set(role::d, x.d);
  set(role::aux, x.aux), set(role::bias, x.bias);
  set(role::scale_a, x.scale_a), set(role::scale_b, x.scale_b), set(role::scale_d, x.scale_d);
  set(role::second_a, x.second_a), set(role::second_b, x.second_b);
  return o;
}

}  // namespace tw::capi
