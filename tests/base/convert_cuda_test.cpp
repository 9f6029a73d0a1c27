// SPDX-License-Identifier: Apache-2.0
// convert_cuda_test.cpp  Every value against CUDA's own header conversions, in host code.
// Without the toolkit's headers on the include path the digests of convert_test.cpp stand in.
#include <gtest/gtest.h>

#include "tests/base/convert_inputs.hpp"
#include "tilewright/base/convert.hpp"

#if __has_include(<cuda_bf16.h>) && __has_include(<cuda_fp16.h>) && __has_include(<cuda_fp8.h>)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#if __has_include(<cuda_fp4.h>) && __has_include(<cuda_fp6.h>)
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#endif

namespace {

using namespace tw;

struct cuda_bf16 {
  static std::uint32_t narrow(float x) { return __nv_bfloat16_raw(__float2bfloat16_rn(x)).x; }
  static float widen(std::uint32_t bits) {
    __nv_bfloat16_raw raw;
    raw.x = static_cast<unsigned short>(bits);
    return __bfloat162float(__nv_bfloat16(raw));
  }
};

struct cuda_f16 {
  static std::uint32_t narrow(float x) { return __half_raw(__float2half_rn(x)).x; }
  static float widen(std::uint32_t bits) {
    __half_raw raw;
    raw.x = static_cast<unsigned short>(bits);
    return __half2float(__half(raw));
  }
};

template <__nv_fp8_interpretation_t Kind>
struct cuda_fp8 {
  static std::uint32_t narrow(float x, __nv_saturation_t s) {
    return __nv_cvt_float_to_fp8(x, s, Kind);
  }
  static float widen(std::uint32_t bits) {
    auto const byte = static_cast<__nv_fp8_storage_t>(bits);
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(byte, Kind)));
  }
};
using cuda_e4m3 = cuda_fp8<__NV_E4M3>;
using cuda_e5m2 = cuda_fp8<__NV_E5M2>;

/// The first float on which any conversion differs from CUDA's, or nothing differs.
testing::AssertionResult narrows_as_cuda(float x) {
  auto const differs = [x](char const* what, std::uint32_t ours, std::uint32_t theirs) {
    return testing::AssertionFailure()
           << what << " of float 0x" << std::hex << std::bit_cast<std::uint32_t>(x) << ": ours 0x"
           << ours << ", CUDA's 0x" << theirs;
  };
  auto const b = cuda_bf16::narrow(x), h = cuda_f16::narrow(x);
  auto const e4f = cuda_e4m3::narrow(x, __NV_SATFINITE), e4n = cuda_e4m3::narrow(x, __NV_NOSAT);
  auto const e5f = cuda_e5m2::narrow(x, __NV_SATFINITE), e5n = cuda_e5m2::narrow(x, __NV_NOSAT);
  if (to_bf16(x).bits != b) return differs("bf16", to_bf16(x).bits, b);
  if (to_f16(x).bits != h) return differs("f16", to_f16(x).bits, h);
  auto const our_e4f = to_e4m3(x, saturation::finite).bits;
  auto const our_e4n = to_e4m3(x, saturation::none).bits;
  auto const our_e5f = to_e5m2(x, saturation::finite).bits;
  auto const our_e5n = to_e5m2(x, saturation::none).bits;
  if (our_e4f != e4f) return differs("e4m3, saturated", our_e4f, e4f);
  if (our_e4n != e4n) return differs("e4m3", our_e4n, e4n);
  if (our_e5f != e5f) return differs("e5m2, saturated", our_e5f, e5f);
  if (our_e5n != e5n) return differs("e5m2", our_e5n, e5n);
  return testing::AssertionSuccess();
}

template <class T, class Cuda>
void expect_widens_as_cuda() {
  for (std::uint32_t bits = 0; bits < 1U << size_bits(elem_of<T>); ++bits) {
    float const ours = to_float(T{static_cast<decltype(T::bits)>(bits)});
    float const theirs = Cuda::widen(bits);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(ours), std::bit_cast<std::uint32_t>(theirs))
        << name(elem_of<T>) << " pattern 0x" << std::hex << bits;
  }
}

TEST(convert_cuda, widening_is_cudas_for_every_pattern) {
  expect_widens_as_cuda<bf16, cuda_bf16>();
  expect_widens_as_cuda<f16, cuda_f16>();
  expect_widens_as_cuda<e4m3, cuda_e4m3>();
  expect_widens_as_cuda<e5m2, cuda_e5m2>();
}

#if __has_include(<cuda_fp4.h>) && __has_include(<cuda_fp6.h>)
TEST(convert_cuda, formats_of_4_and_6_bits_and_powers_of_two) {
  tw_test::for_chosen_floats([](float x) {
    auto const same = [x](char const* what, std::uint32_t ours, std::uint32_t theirs) {
      if (ours != theirs)
        ADD_FAILURE() << what << " of " << x << ": ours " << ours << ", CUDA's " << theirs;
      return ours == theirs;
    };
    static bool failed = false;
    if (failed) return;
    failed =
        !same("e2m1", to_e2m1(x).bits, __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest)) ||
        !same("e2m3", to_e2m3(x).bits, __nv_cvt_float_to_fp6(x, __NV_E2M3, cudaRoundNearest)) ||
        !same("e3m2", to_e3m2(x).bits, __nv_cvt_float_to_fp6(x, __NV_E3M2, cudaRoundNearest)) ||
        !same("ue8m0", to_ue8m0_up(x).bits,
              __nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf));
  });
}
#endif

// The plain loops keep the assertion out of the hot path: EXPECT only where something differs.
TEST(convert_cuda, narrowing_is_cudas_for_the_chosen_floats) {
  bool same = true;
  tw_test::for_chosen_floats([&](float x) {
    if (same && !narrows_as_cuda(x)) {
      same = false;
      EXPECT_TRUE(narrows_as_cuda(x));
    }
  });
}

TEST(convert_cuda, narrowing_is_cudas_for_all_floats) {
  if (!tw_test::long_tests()) GTEST_SKIP() << "minutes long; set TW_LONG_TESTS=1";
  bool same = true;
  tw_test::for_all_floats([&](float x) {
    if (same && !narrows_as_cuda(x)) {
      same = false;
      EXPECT_TRUE(narrows_as_cuda(x));
    }
  });
}

}  // namespace

#else

TEST(convert_cuda, needs_the_cuda_toolkit) {
  GTEST_SKIP() << "cuda_bf16.h is not on the include path; convert_test.cpp holds the digests";
}

#endif
