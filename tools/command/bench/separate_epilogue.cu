// SPDX-License-Identifier: Apache-2.0
// separate_epilogue.cu  Eight results per thread and step: 16 bytes of gates, of ups, of C and of
// D.
#include "tools/command/bench/separate_epilogue.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <string>

#include "tilewright/dispatch/quantize.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tools/measure/gpu/check.hpp"

namespace tw::bench {
namespace {

struct alignas(16) eight {
  unsigned v[4];  // two values each
};

template <elem E>
__device__ float2 unpack(unsigned bits) {
  if constexpr (E == elem::bf16)
    return __bfloat1622float2(*reinterpret_cast<__nv_bfloat162*>(&bits));
  else
    return __half22float2(*reinterpret_cast<__half2*>(&bits));
}

template <elem E>
__device__ unsigned pack(float x, float y) {
  if constexpr (E == elem::bf16) {
    __nv_bfloat162 const two = __floats2bfloat162_rn(x, y);
    return *reinterpret_cast<unsigned const*>(&two);
  } else {
    __half2 const two = __floats2half2_rn(x, y);
    return *reinterpret_cast<unsigned const*>(&two);
  }
}

template <activation Act>
__device__ float act(float x) {
  if constexpr (Act == activation::relu) return fmaxf(x, 0.0F);
  if constexpr (Act == activation::gelu_erf) return 0.5F * x * (1 + erff(0.70710678F * x));
  if constexpr (Act == activation::gelu_tanh)
    return __fdividef(x, 1 + __expf(-1.5957691F * x * fmaf(0.044715F, x * x, 1.0F)));
  if constexpr (Act == activation::silu) return __fdividef(x, 1 + __expf(-x));
  if constexpr (Act == activation::clamped_quick_gelu) {
    float const z = fminf(x, 7.0F);
    return __fdividef(z, 1 + __expf(-1.702F * z));
  }
  static_assert(Act == activation::none || Act == activation::relu || Act == activation::gelu_erf ||
                    Act == activation::gelu_tanh || Act == activation::silu ||
                    Act == activation::clamped_quick_gelu,
                "a new activation needs its usual CUDA form here");
  return x;
}

/// The value that a gate multiplies.
template <activation Act>
__device__ float up(float x) {
  if constexpr (Act == activation::clamped_quick_gelu) return fminf(fmaxf(x, -7.0F), 7.0F) + 1.0F;
  return x;
}

struct rest_params {
  void const *x, *c;
  void* d;
  long long rows, cols;  // of D; x has twice as many columns with a gate
  float beta;
};

template <elem E, activation Act, gating Gate>
__global__ void rest(rest_params const p) {
  long long const per_row = p.cols / 8, count = p.rows * per_row;
  auto const* const x = static_cast<eight const*>(p.x);
  auto const* const c = static_cast<eight const*>(p.c);
  long long const step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < count;
       i += step) {
    long long const row = i / per_row, at = i % per_row;
    eight const none{}, add = c == nullptr ? none : c[i];
    eight out, first, second{};
    if constexpr (Gate == gating::none) {
      first = x[i];
    } else if constexpr (Gate == gating::split) {
      first = x[2 * row * per_row + at];
      second = x[(2 * row + 1) * per_row + at];
    } else {
      first = x[2 * i];
      second = x[2 * i + 1];
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      float2 y;
      if constexpr (Gate == gating::interleaved) {
        float2 const low = unpack<E>(j < 2 ? first.v[2 * j] : second.v[2 * j - 4]);
        float2 const high = unpack<E>(j < 2 ? first.v[2 * j + 1] : second.v[2 * j - 3]);
        y = {act<Act>(low.x) * up<Act>(low.y), act<Act>(high.x) * up<Act>(high.y)};
      } else {
        float2 const v = unpack<E>(first.v[j]);
        y = {act<Act>(v.x), act<Act>(v.y)};
        if constexpr (Gate == gating::split) {
          float2 const u = unpack<E>(second.v[j]);
          y = {y.x * up<Act>(u.x), y.y * up<Act>(u.y)};
        }
      }
      float2 const r = unpack<E>(add.v[j]);
      out.v[j] = pack<E>(fmaf(p.beta, r.x, y.x), fmaf(p.beta, r.y, y.y));
    }
    static_cast<eight*>(p.d)[i] = out;
  }
}

template <elem E, activation Act>
void launch(gating gate, rest_params const& p, cudaStream_t stream) {
  unsigned const blocks =
      static_cast<unsigned>(std::clamp<long long>(p.rows * p.cols / 8 / 256, 1, 132 * 8));
  if (gate == gating::none)
    rest<E, Act, gating::none><<<blocks, 256, 0, stream>>>(p);
  else if (gate == gating::split)
    rest<E, Act, gating::split><<<blocks, 256, 0, stream>>>(p);
  else
    rest<E, Act, gating::interleaved><<<blocks, 256, 0, stream>>>(p);
}

template <elem E>
void launch(gemm_epilogue const& e, rest_params const& p, cudaStream_t stream) {
  visit_activation(e.act, [&](auto of) { launch<E, decltype(of)::id>(e.gate, p, stream); });
}

}  // namespace

namespace {

/// Does cuBLASLt compute bias, activation and C by itself?
bool has_own_epilogue(gemm_problem const& p) {
  gemm_epilogue const& e = p.epilogue;
  bool const own_act =
      e.act == activation::none || e.act == activation::relu || e.act == activation::gelu_tanh;
  bool const plain_c = !p.c || !e.c_last || e.act == activation::none;
  return e.gate == gating::none && own_act && plain_c;
}

}  // namespace

gemm_problem cublaslt_part(gemm_problem const& p) {
  bool const own_epilogue = has_own_epilogue(p);
  if (own_epilogue && !p.scale_d) return p;
  gemm_problem part = p;
  part.d.pitch_elems = p.n;
  part.scale_d.reset();
  if (size_bits(p.d.type) <= 8) part.d.type = elem::bf16;
  if (own_epilogue) return part;
  part.epilogue = {};
  part.epilogue.bias = p.epilogue.bias;
  part.c.reset();
  part.beta = 0;
  return part;
}

separate_epilogue::separate_epilogue(gemm_problem const& p)
    : p_(p),
      elementwise_(!has_own_epilogue(p)),
      quantised_(p.scale_d || (elementwise_ && size_bits(p.d.type) <= 8)) {
  if (!any()) return;
  auto const refuse = [](std::string const& got, char const* need) {
    throw rejected({"TW0712", "the kernels after cuBLASLt", got, need,
                    "--baseline none measures without them"});
  };
  gemm_problem const part = cublaslt_part(p);
  std::int64_t const cols = result_cols(p.epilogue, p.n);
  if (is_block_result(p)) refuse("a block-scaled D", "one of 8 bits with other scales");
  if (elementwise_ && (cols % 8 != 0 || size_bits(part.d.type) != 16))
    refuse(std::to_string(cols) + " columns of " + std::string(name(part.d.type)),
           "a multiple of 8 of 16 bits");
  x_ = device_buffer(static_cast<std::size_t>(part.m * part.n * size_bytes(part.d.type)));
  if (!quantised_) return;
  if (elementwise_) wide_ = device_buffer(static_cast<std::size_t>(p.m * cols * 2));
  workspace_ = device_buffer(4);
  constexpr float one = 1;
  one_ = device_buffer(sizeof one);
  check(cudaMemcpy(one_.data(), &one, sizeof one, cudaMemcpyHostToDevice), "copy of a scale");
}

std::string separate_epilogue::text() const {
  return std::string(elementwise_ ? ", elementwise kernel" : "") +
         (quantised_ ? ", quantisation" : "");
}

void separate_epilogue::enqueue(gemm_operands const& o, cudaStream_t stream) const {
  long long const cols = result_cols(p_.epilogue, p_.n);
  elem const wide = cublaslt_part(p_).d.type;
  if (elementwise_) {
    void* const to = quantised_ ? wide_.data() : o.d;
    rest_params const params{x_.data(), p_.c ? o.c : nullptr, to, p_.m, cols, p_.beta};
    if (wide == elem::bf16)
      launch<elem::bf16>(p_.epilogue, params, stream);
    else
      launch<elem::f16>(p_.epilogue, params, stream);
    check(cudaGetLastError(), "launch of the elementwise kernel");
  }
  if (!quantised_) return;
  output_scales const s = p_.scale_d.value_or(output_scales{.desc = {}, .given = true});
  quantize_problem const q{p_.m,           cols,   {wide, order::row_major, cols}, p_.d, s.desc,
                           s.power_of_two, s.given};
  quantize(q,
           {elementwise_ ? wide_.data() : x_.data(), o.d, p_.scale_d ? o.scale_d : one_.data(),
            workspace_.data()},
           stream);
}

}  // namespace tw::bench
