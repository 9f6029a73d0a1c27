// SPDX-License-Identifier: Apache-2.0
// data.cu  Counter-based random numbers (SplitMix64), Box-Muller for the normal ones.
#include "tools/measure/gpu/data.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "tilewright/base/convert.hpp"
#include "tools/measure/gpu/check.hpp"

namespace tw::bench {
namespace {

/// Output `counter` of the SplitMix64 generator (Steele, Lea, Flood: "Fast splittable pseudorandom
/// number generators", OOPSLA 2014).
__device__ std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t counter) {
  std::uint64_t z = seed + (counter + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

__device__ float2 random_pair(data_kind kind, std::uint64_t bits) {
  if (kind == data_kind::zeros) return {0.0F, 0.0F};
  float const u = (static_cast<float>(bits >> 41) + 0.5F) * 0x1p-23F;       // in (0, 1)
  float const v = static_cast<float>((bits >> 16) & 0x7FFFFFU) * 0x1p-23F;  // in [0, 1)
  if (kind == data_kind::uniform) return {2 * u - 1, 2 * v - 1};
  float const radius = sqrtf(-2 * logf(u));
  float sine, cosine;
  sincospif(2 * v, &sine, &cosine);
  return {radius * cosine, radius * sine};
}

/// An integer of the whole range of an 8-bit type; N(0, 1) reaches three standard deviations.
template <class T>
__device__ T as_integer(data_kind kind, float x) {
  float const center = std::is_signed_v<T> ? 0.0F : 127.5F;
  return to_integer<T>(center + (kind == data_kind::normal ? 42.0F : 127.0F) * x);
}

/// Two elements of 16 bits.
__device__ std::uint32_t pack(elem type, float2 v) {
  if (type == elem::bf16) {
    __nv_bfloat162 const two = __floats2bfloat162_rn(v.x, v.y);
    return *reinterpret_cast<std::uint32_t const*>(&two);
  }
  __half2 const two = __floats2half2_rn(v.x, v.y);
  return *reinterpret_cast<std::uint32_t const*>(&two);
}

struct put_floats {
  void* data;
  std::int64_t i;
  float2 v;
  template <class Type>
  TW_HD void operator()(Type) const {
    if constexpr (size_bits(Type::value) % 8 == 0) {
      auto* const to = static_cast<typename Type::type*>(data) + 2 * i;
      to[0] = from_float<typename Type::type>(v.x), to[1] = from_float<typename Type::type>(v.y);
    }
  }
};

/// Stores elements 2 i and 2 i + 1 of a type that has not 16 bits. Two of 4 bits share a byte.
__device__ void put_pair(void* data, std::int64_t i, elem type, data_kind kind, float2 v) {
  auto const two = [&](auto a, auto b) {
    auto* const to = static_cast<decltype(a)*>(data) + 2 * i;
    to[0] = a, to[1] = b;
  };
  switch (type) {
    case elem::s8:
      return two(as_integer<std::int8_t>(kind, v.x), as_integer<std::int8_t>(kind, v.y));
    case elem::u8:
      return two(as_integer<std::uint8_t>(kind, v.x), as_integer<std::uint8_t>(kind, v.y));
    case elem::e2m1: {
      unsigned const low = to_e2m1(v.x).bits, high = to_e2m1(v.y).bits;
      static_cast<std::uint8_t*>(data)[i] = static_cast<std::uint8_t>(low | high << 4);
      return;
    }
    default: return with_elem(type, put_floats{data, i, v});
  }
}

__global__ void fill_typed(void* data, std::int64_t count, elem type, data_kind kind,
                           std::uint64_t seed) {
  std::int64_t const step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step)
    put_pair(data, i, type, kind,
             random_pair(kind, splitmix64(seed, static_cast<std::uint64_t>(i))));
}

__global__ void fill_pairs(std::uint32_t* pairs, std::int64_t count, elem type, data_kind kind,
                           std::uint64_t seed) {
  std::int64_t const step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step)
    pairs[i] = pack(type, random_pair(kind, splitmix64(seed, static_cast<std::uint64_t>(i))));
}

__global__ void fill_powers(void* scales, std::int64_t count, elem type, std::uint64_t seed) {
  std::int64_t const step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    int const exponent = static_cast<int>(splitmix64(seed, static_cast<std::uint64_t>(i)) % 3) - 1;
    auto* const bytes = static_cast<std::uint8_t*>(scales);
    if (type == elem::ue8m0)
      bytes[i] = static_cast<std::uint8_t>(127 + exponent);
    else if (type == elem::ue4m3)
      bytes[i] = static_cast<std::uint8_t>((7 + exponent) << 3);
    else
      static_cast<float*>(scales)[i] = exp2f(static_cast<float>(exponent));
  }
}

/// Neighbouring seeds share no stretch.
std::uint64_t spread(std::uint64_t seed) { return seed * 0xD1342543DE82EF95ULL; }

}  // namespace

void fill(void* data, std::int64_t count, elem type, data_kind kind, std::uint64_t seed,
          cudaStream_t stream) {
  if (size_bits(type) == 16)
    fill_pairs<<<2048, 256, 0, stream>>>(static_cast<std::uint32_t*>(data), count / 2, type, kind,
                                         spread(seed));
  else
    fill_typed<<<2048, 256, 0, stream>>>(data, count / 2, type, kind, spread(seed));
  check(cudaGetLastError(), "launch of the data generator");
}

void fill_scales(void* data, std::int64_t count, elem type, std::uint64_t seed,
                 cudaStream_t stream) {
  fill_powers<<<256, 256, 0, stream>>>(data, count, type, spread(seed));
  check(cudaGetLastError(), "launch of the generator of scales");
}

}  // namespace tw::bench
