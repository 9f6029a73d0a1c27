// SPDX-License-Identifier: Apache-2.0
// jax.cpp  Handlers of tilewright.jax for XLA: a GEMM on host memory and on a CUDA stream.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright.h"
#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;

/// Bits of the attribute `given`: the optional operands that follow a and b, in this order.
enum : std::int64_t { has_c = 1, has_bias = 2, has_scale_a = 4, has_scale_b = 8 };

DLDataType type_of(ffi::DataType t) {
  switch (t) {
    case ffi::F32: return {kDLFloat, 32, 1};
    case ffi::F16: return {kDLFloat, 16, 1};
    case ffi::BF16: return {kDLBfloat, 16, 1};
    case ffi::F8E4M3FN: return {kDLFloat8_e4m3fn, 8, 1};
    case ffi::F8E5M2: return {kDLFloat8_e5m2, 8, 1};
    case ffi::F8E8M0FNU: return {kDLFloat8_e8m0fnu, 8, 1};
    case ffi::S8: return {kDLInt, 8, 1};
    case ffi::U8: return {kDLUInt, 8, 1};
    case ffi::S32: return {kDLInt, 32, 1};
    case ffi::F64: return {kDLFloat, 64, 1};
    default: return {kDLOpaqueHandle, 64, 1};
  }
}

/// A buffer of XLA, in C order; exchanged: its last two dimensions are read as their transpose.
class tensor {
 public:
  template <class Buffer>
  tensor(Buffer const& b, DLDevice device, bool exchanged = false) {
    for (std::int64_t const extent : b.dimensions()) shape_.push_back(extent);
    strides_.assign(shape_.size(), 1);
    for (std::size_t i = shape_.size(); i-- > 1;)
      strides_[i - 1] = strides_[i] * std::max<std::int64_t>(shape_[i], 1);
    if (exchanged && shape_.size() >= 2) {
      std::swap(shape_[shape_.size() - 1], shape_[shape_.size() - 2]);
      std::swap(strides_[strides_.size() - 1], strides_[strides_.size() - 2]);
    }
    t_.data = b.untyped_data();
    t_.ndim = static_cast<std::int32_t>(shape_.size());
    t_.dtype = type_of(b.element_type());
    t_.device = device;
  }
  DLTensor* get() {
    t_.shape = shape_.data(), t_.strides = strides_.data();
    return &t_;
  }

 private:
  DLTensor t_{};
  std::vector<std::int64_t> shape_, strides_;
};

/// The attributes of a call.
struct words {
  std::string scale_a_as, scale_b_as, activation, gate;
  char const* of(std::string const& text) const { return text.empty() ? nullptr : text.c_str(); }
};

ffi::Error multiply(ffi::RemainingArgs operands, ffi::Result<ffi::AnyBuffer> d, DLDevice device,
                    void* stream, ffi::Result<ffi::AnyBuffer>* workspace, std::int64_t given,
                    bool a_transposed, bool b_transposed, float alpha, std::optional<float> beta,
                    std::int64_t promote, bool invariant, words const& w, std::string_view card) {
  std::vector<tensor> all;
  all.reserve(operands.size());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    auto const b = operands.get<ffi::AnyBuffer>(i);
    if (!b) return b.error();
    all.emplace_back(*b, device, (i == 0 && a_transposed) || (i == 1 && b_transposed));
  }
  tensor result(*d, device);
  tw_gemm_args args{};
  args.size = sizeof args;
  args.flags = invariant ? TW_INVARIANT : 0;
  std::size_t next = 2;
  auto const take = [&](std::int64_t bit) {
    return (given & bit) != 0 && next < all.size() ? all[next++].get() : nullptr;
  };
  args.a = all[0].get(), args.b = all[1].get(), args.d = result.get();
  args.c = take(has_c), args.bias = take(has_bias);
  args.scale_a = take(has_scale_a), args.scale_b = take(has_scale_b);
  args.alpha = &alpha;
  if (beta) args.beta = &*beta;
  args.scale_a_as = w.of(w.scale_a_as), args.scale_b_as = w.of(w.scale_b_as);
  args.activation = w.of(w.activation), args.gate = w.of(w.gate);
  std::string const device_word(card);
  args.device = device_word.empty() ? nullptr : device_word.c_str();
  args.promote = static_cast<std::int32_t>(promote);
  args.stream = stream;
  if (workspace != nullptr) {
    args.workspace = (*workspace)->untyped_data();
    args.workspace_bytes = static_cast<std::int64_t>((*workspace)->size_bytes());
  }
  if (tw_gemm(&args) == TW_OK) return ffi::Error::Success();
  return ffi::Error::InvalidArgument(tw_last_error()->text);
}

ffi::Error on_host(ffi::RemainingArgs operands, ffi::Result<ffi::AnyBuffer> d, std::int64_t given,
                   bool a_transposed, bool b_transposed, float alpha, float beta, bool has_beta,
                   std::int64_t promote, bool invariant, std::string_view scale_a_as,
                   std::string_view scale_b_as, std::string_view activation, std::string_view gate,
                   std::string_view device) {
  words const w{std::string(scale_a_as), std::string(scale_b_as), std::string(activation),
                std::string(gate)};
  return multiply(operands, d, {kDLCPU, 0}, nullptr, nullptr, given, a_transposed, b_transposed,
                  alpha, has_beta ? std::optional(beta) : std::nullopt, promote, invariant, w,
                  device);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) XLA_FFI_Error* tw_jax_gemm(
    XLA_FFI_CallFrame* frame) {
  static auto const* const handler = ffi::Ffi::Bind()
                                         .RemainingArgs()
                                         .Ret<ffi::AnyBuffer>()
                                         .Attr<std::int64_t>("given")
                                         .Attr<bool>("a_transposed")
                                         .Attr<bool>("b_transposed")
                                         .Attr<float>("alpha")
                                         .Attr<float>("beta")
                                         .Attr<bool>("has_beta")
                                         .Attr<std::int64_t>("promote")
                                         .Attr<bool>("invariant")
                                         .Attr<std::string_view>("scale_a_as")
                                         .Attr<std::string_view>("scale_b_as")
                                         .Attr<std::string_view>("activation")
                                         .Attr<std::string_view>("gate")
                                         .Attr<std::string_view>("device")
                                         .To(on_host)
                                         .release();
  return handler->Call(frame);
}
