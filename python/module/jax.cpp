// SPDX-License-Identifier: Apache-2.0
// jax.cpp  Handlers of tilewright.jax for XLA: a GEMM on host memory and on a CUDA stream.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilewright.h"
#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;

/// Bits of the attribute `given`: the optional operands that follow a and b, in this order.
enum : std::int64_t {
  has_c = 1,
  has_bias = 2,
  has_scale_a = 4,
  has_scale_b = 8,
  has_level_a = 16,
  has_level_b = 32,
  has_groups = 64,
  has_workspace = 128,  // zeros, aliased to the second result
  has_weights = 256     // b is prepared weights
};

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
    case ffi::S64: return {kDLInt, 64, 1};
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
    while (shape_.size() > 3) {  // nested vmap: one batch
      shape_[1] *= shape_[0];
      shape_.erase(shape_.begin());
    }
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
  /// Prepared weights (bytes): the extents of 1 that vmap has put in front are dropped. False if b
  /// has a batch.
  bool as_weights() {
    std::int64_t const bytes = shape_.back();
    bool const one = std::all_of(shape_.begin(), shape_.end() - 1, [](auto n) { return n == 1; });
    shape_.assign(1, bytes), strides_.assign(1, 1);
    t_.ndim = 1;
    return one;
  }
  DLTensor* get() {
    t_.shape = shape_.data(), t_.strides = strides_.data();
    return &t_;
  }

 private:
  DLTensor t_{};
  std::vector<std::int64_t> shape_, strides_;
};

/// An attribute without a word is an empty text.
class word {
 public:
  explicit word(std::string_view text) : text_(text) {}
  char const* get() const { return text_.empty() ? nullptr : text_.c_str(); }

 private:
  std::string text_;
};

struct numbers {
  std::int64_t given, promote;
  bool a_transposed, b_transposed, has_beta, invariant;
  float alpha, beta;
};

ffi::Error multiply(DLDevice device, void* stream, ffi::RemainingArgs operands,
                    ffi::RemainingRets results, numbers const& n, word const& scale_a_as,
                    word const& scale_b_as, word const& format, word const& activation,
                    word const& gate, word const& card, word const& groups_as,
                    void const* weights_b) {
  std::vector<tensor> all;
  all.reserve(operands.size() + 1);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    auto const b = operands.get<ffi::AnyBuffer>(i);
    if (!b) return b.error();
    all.emplace_back(*b, device, (i == 0 && n.a_transposed) || (i == 1 && n.b_transposed));
  }
  auto d = results.get<ffi::AnyBuffer>(0);
  if (!d) return d.error();
  all.emplace_back(**d, device);
  tw_gemm_args args{};
  args.size = sizeof args;
  args.flags = n.invariant ? TW_INVARIANT : 0;
  std::size_t next = 2;
  auto const take = [&](std::int64_t bit) {
    return (n.given & bit) != 0 && next < operands.size() ? all[next++].get() : nullptr;
  };
  if ((n.given & has_weights) != 0) {
    if (!all[1].as_weights())
      return ffi::Error::InvalidArgument(
          "TW0481: dimensions of b: got prepared weights with a batch of vmap, need one dimension; "
          "vmap over a alone");
    args.weights_b = weights_b;
  }
  args.a = all[0].get(), args.b = all[1].get(), args.d = all.back().get();
  args.c = take(has_c), args.bias = take(has_bias);
  args.scale_a = take(has_scale_a), args.scale_b = take(has_scale_b);
  args.second_a = take(has_level_a), args.second_b = take(has_level_b);
  args.groups = take(has_groups), args.groups_as = groups_as.get();
  args.alpha = &n.alpha;
  if (n.has_beta) args.beta = &n.beta;
  args.scale_a_as = scale_a_as.get(), args.scale_b_as = scale_b_as.get();
  args.format = format.get(), args.activation = activation.get(), args.gate = gate.get();
  args.device = card.get();
  args.promote = static_cast<std::int32_t>(n.promote);
  args.stream = stream;
  if ((n.given & has_workspace) != 0) {
    auto room = results.get<ffi::AnyBuffer>(1);
    if (!room) return room.error();
    args.workspace = (*room)->untyped_data();
    args.workspace_bytes = static_cast<std::int64_t>((*room)->size_bytes());
  }
  if (tw_gemm(&args) == TW_OK) return ffi::Error::Success();
  return ffi::Error::InvalidArgument(tw_last_error()->text);
}

/// The attributes of a call, in the order in which bound() names them.
struct call {
  DLDevice device;
  void* stream;
  ffi::Error operator()(ffi::RemainingArgs operands, ffi::RemainingRets results, std::int64_t given,
                        std::int64_t promote, bool a_transposed, bool b_transposed, bool has_beta,
                        bool invariant, float alpha, float beta, std::string_view scale_a_as,
                        std::string_view scale_b_as, std::string_view format,
                        std::string_view activation, std::string_view gate, std::string_view card,
                        std::string_view groups_as, ffi::Span<std::int64_t const> weights) const {
    return multiply(device, stream, operands, results,
                    {given, promote, a_transposed, b_transposed, has_beta, invariant, alpha, beta},
                    word(scale_a_as), word(scale_b_as), word(format), word(activation), word(gate),
                    word(card), word(groups_as), weights.begin());
  }
};

template <class Binding>
auto with_attributes(Binding b) {
  return std::move(b)
      .RemainingArgs()
      .RemainingRets()
      .template Attr<std::int64_t>("given")
      .template Attr<std::int64_t>("promote")
      .template Attr<bool>("a_transposed")
      .template Attr<bool>("b_transposed")
      .template Attr<bool>("has_beta")
      .template Attr<bool>("invariant")
      .template Attr<float>("alpha")
      .template Attr<float>("beta")
      .template Attr<std::string_view>("scale_a_as")
      .template Attr<std::string_view>("scale_b_as")
      .template Attr<std::string_view>("format")
      .template Attr<std::string_view>("activation")
      .template Attr<std::string_view>("gate")
      .template Attr<std::string_view>("device")
      .template Attr<std::string_view>("groups_as")
      .template Attr<ffi::Span<std::int64_t const>>("weights");
}

template <class... Rest>
ffi::Error on_host(Rest... rest) {
  return call{{kDLCPU, 0}, nullptr}(rest...);
}
template <class... Rest>
ffi::Error on_gpu(void* stream, std::int32_t ordinal, Rest... rest) {
  return call{{kDLCUDA, ordinal}, stream}(rest...);
}

/// x, and as results data, scales, the level of nvfp4, and memory that scaling "tensor" needs.
struct quantize_call {
  DLDevice device;
  void* stream;
  ffi::Error operator()(ffi::RemainingArgs operands, ffi::RemainingRets results,
                        std::string_view to, std::string_view scaling, std::int64_t flags) const {
    auto const x = operands.get<ffi::AnyBuffer>(0);
    if (!x) return x.error();
    std::vector<tensor> all;
    all.reserve(results.size() + 1);
    all.emplace_back(*x, device);
    std::size_t const count = results.size() - 1;
    for (std::size_t i = 0; i < count; ++i) {
      auto r = results.get<ffi::AnyBuffer>(i);
      if (!r) return r.error();
      all.emplace_back(**r, device);
    }
    auto room = results.get<ffi::AnyBuffer>(count);
    if (!room) return room.error();
    word const to_word(to), scaling_word(scaling);
    tw_quantize_args args{};
    args.size = sizeof args;
    args.flags = static_cast<std::uint32_t>(flags);
    args.x = all[0].get(), args.d = all[1].get(), args.scale_d = all[2].get();
    if (count == 3) args.second_d = all[3].get();
    args.to = to_word.get(), args.scaling = scaling_word.get();
    args.stream = stream;
    args.workspace = (*room)->untyped_data();
    args.workspace_bytes = static_cast<std::int64_t>((*room)->size_bytes());
    if (tw_quantize(&args) == TW_OK) return ffi::Error::Success();
    return ffi::Error::InvalidArgument(tw_last_error()->text);
  }
};

template <class Binding>
auto with_words(Binding b) {
  return std::move(b)
      .RemainingArgs()
      .RemainingRets()
      .template Attr<std::string_view>("to")
      .template Attr<std::string_view>("scaling")
      .template Attr<std::int64_t>("flags");
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

XLA_FFI_Error* tw_jax_gemm(XLA_FFI_CallFrame* frame) {
  static auto const* const handler =
      with_attributes(ffi::Ffi::Bind()).To([](auto... all) { return on_host(all...); }).release();
  return handler->Call(frame);
}

XLA_FFI_Error* tw_jax_gemm_cuda(XLA_FFI_CallFrame* frame) {
  static auto const* const handler =
      with_attributes(ffi::Ffi::Bind().Ctx<ffi::PlatformStream<void*>>().Ctx<ffi::DeviceOrdinal>())
          .To([](auto... all) { return on_gpu(all...); })
          .release();
  return handler->Call(frame);
}

XLA_FFI_Error* tw_jax_quantize(XLA_FFI_CallFrame* frame) {
  static auto const* const handler = with_words(ffi::Ffi::Bind())
                                         .To([](auto... all) {
                                           return quantize_call{{kDLCPU, 0}, nullptr}(all...);
                                         })
                                         .release();
  return handler->Call(frame);
}

XLA_FFI_Error* tw_jax_quantize_cuda(XLA_FFI_CallFrame* frame) {
  static auto const* const handler =
      with_words(ffi::Ffi::Bind().Ctx<ffi::PlatformStream<void*>>().Ctx<ffi::DeviceOrdinal>())
          .To([](void* stream, std::int32_t ordinal, auto... all) {
            return quantize_call{{kDLCUDA, ordinal}, stream}(all...);
          })
          .release();
  return handler->Call(frame);
}

}  // extern "C"
#pragma GCC visibility pop
