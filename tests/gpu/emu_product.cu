// SPDX-License-Identifier: Apache-2.0
// emu_product.cu  One wgmma step on a GPU and in the emulator's arithmetic: the same bits for all
//                 majors and swizzles, A from shared memory and registers. Elements are multiples
//                 of 1/128, so sums are exact in any order. Exit 0 done, 1 wrong, 77 no Hopper.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "emu/wgmma/product.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/convert.hpp"

namespace {

using namespace tw;

constexpr int image_bytes = 192 * 1024, cases = 96;
constexpr std::uint32_t smem_base = 0x400;  // where dynamic shared memory begins; the kernel checks

int failures = 0;

void must(cudaError_t e, char const* what) {
  if (e == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(e));
  std::exit(1);
}

struct step {
  smem_desc a, b;
};

/// CTA i computes steps[i] on the same image of shared memory.
template <elem AB, operand_major A, operand_major B, int N, bool Registers>
struct one_step {
  struct params {
    uint4 const* image;
    step const* steps;
    b32<4> const* a_regs;
    float* d;  // [case][N][64]
    int* wrong_base;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = image_bytes;

  __device__ static void run(params const& p) {
    auto& smem = dynamic_smem<uint4[image_bytes / 16]>();
    for (int i = thread_id(); i < image_bytes / 16; i += threads) smem[i] = p.image[i];
    if (smem_addr(&smem) != smem_base) *p.wrong_base = 1;
    fence_proxy_async();
    cta_sync();
    step const s = p.steps[cta_id()];
    accumulator<N> acc;
    wgmma_fence(acc);
    if constexpr (Registers)
      wgmma<AB, B>(acc, p.a_regs[thread_id()], s.b, false);
    else
      wgmma<AB, A, B>(acc, s.a, s.b, false);
    wgmma_commit();
    wgmma_wait<0>(acc);
    float* const d = p.d + cta_id() * 64 * N;
    int const t = thread_id();
    TW_UNROLL
    for (int i = 0; i < N / 2; ++i)
      d[64 * (8 * (i >> 2) + 2 * (t & 3) + (i & 1)) + 16 * (t / 32) + t % 32 / 4 +
        8 * ((i >> 1) & 1)] = acc[i];
  }
};

template <class T>
T* upload(std::vector<T> const& v) {
  void* p = nullptr;
  must(cudaMalloc(&p, v.size() * sizeof(T)), "cudaMalloc");
  must(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
  return static_cast<T*>(p);
}

using random_engine = std::mt19937;
int pick(random_engine& r, int first, int last) {
  return std::uniform_int_distribution(first, last)(r);
}

template <elem AB>
std::uint16_t fraction(random_engine& r) {
  float const x = static_cast<float>(pick(r, -128, 127)) / 128.0F;
  return AB == elem::bf16 ? to_bf16(x).bits : to_f16(x).bits;
}

/// kind 0: in tiles of whole atoms. 1: the offsets of such tiles, any start. 2: any offsets, too.
/// The GPU swizzles addresses, not positions in a tile, so all of them mean something.
smem_desc random_desc(random_engine& r, operand_major major, int extent, int kind) {
  auto const mode = swizzle_mode(pick(r, 0, 3));
  auto const span = static_cast<std::uint32_t>(swizzle_span_bytes(mode));
  auto const any = [&](int last) { return 16 * static_cast<std::uint32_t>(pick(r, 0, last)); };
  auto const rows = static_cast<std::uint32_t>(extent);
  std::uint32_t const start =
      kind == 0 ? 1024 * static_cast<std::uint32_t>(pick(r, 1, 60)) : 0x400 + any(3000);
  if (kind == 2) return make_smem_desc(start, any(99), any(99), mode);
  if (major == operand_major::k && mode == swizzle_mode::none)
    return make_smem_desc(start, rows * 16, 128, mode);
  if (major == operand_major::k)
    return make_smem_desc(start + (kind == 0 ? any(static_cast<int>(span) / 32 - 1) * 2 : 0), 16,
                          8 * span, mode);
  if (mode == swizzle_mode::none) return make_smem_desc(start, 128, 1024, mode);
  return make_smem_desc(start, 64 * span, 8 * span, mode);
}

template <elem AB, operand_major A, operand_major B, int N, bool Registers = false>
void compare() {
  random_engine r(N);
  std::vector<std::uint16_t> image(image_bytes / 2);
  for (auto& x : image) x = fraction<AB>(r);
  std::vector<b32<4>> a_regs(128);
  for (auto& v : a_regs)
    for (auto& word : v.r)
      word = fraction<AB>(r) | static_cast<std::uint32_t>(fraction<AB>(r)) << 16;
  std::vector<step> steps(cases);
  for (int i = 0; i < cases; ++i)
    steps[i] = {random_desc(r, A, 64, i % 3), random_desc(r, B, N, i % 3)};

  using kernel = one_step<AB, A, B, N, Registers>;
  std::vector<float> got(static_cast<std::size_t>(cases) * 64 * N);
  std::vector<int> wrong_base(1);
  typename kernel::params p{reinterpret_cast<uint4 const*>(upload(image)), upload(steps),
                            upload(a_regs), upload(got), upload(wrong_base)};
  must(launch<kernel>(cases, p, nullptr), "launch");
  must(cudaMemcpy(got.data(), p.d, got.size() * sizeof(float), cudaMemcpyDeviceToHost), "kernel");
  must(cudaMemcpy(wrong_base.data(), p.wrong_base, 4, cudaMemcpyDeviceToHost), "kernel");
  if (wrong_base[0] != 0) {
    std::printf("dynamic shared memory does not begin at 0x400\n");
    ++failures;
  }
  int wrong = 0;
  for (int i = 0; i < cases; ++i) {
    constexpr wgmma_form form{AB, AB, elem::f32, integer_overflow::wrap, A, B, N};
    std::vector<float> want(64 * N, -1.0F);
    emu::wgmma_step_data const s{Registers, a_regs[0].r, steps[i].a, steps[i].b, false};
    auto const error = emu::run_wgmma_group(want.data(), form, &s, 1,
                                            reinterpret_cast<std::byte const*>(image.data()),
                                            smem_base, image_bytes);
    float const* const card = got.data() + static_cast<std::size_t>(i) * 64 * N;
    if (!error && std::memcmp(want.data(), card, want.size() * sizeof(float)) == 0) continue;
    if (++wrong > 3) continue;
    std::printf(
        "%s N %d majors %d %d, A in registers %d, descriptors %016llx %016llx: %s\n", name(AB), N,
        int(A), int(B), int(Registers), static_cast<unsigned long long>(steps[i].a.bits),
        static_cast<unsigned long long>(steps[i].b.bits), error ? error->c_str() : "other bits");
  }
  failures += wrong;
  for (void const* q : {static_cast<void const*>(p.image), static_cast<void const*>(p.steps),
                        static_cast<void const*>(p.a_regs), static_cast<void const*>(p.d),
                        static_cast<void const*>(p.wrong_base)})
    must(cudaFree(const_cast<void*>(q)), "cudaFree");
}

template <elem AB, int N>
void majors() {
  constexpr auto k = operand_major::k, mn = operand_major::mn;
  compare<AB, k, k, N>();
  compare<AB, k, mn, N>();
  compare<AB, mn, k, N>();
  compare<AB, mn, mn, N>();
  compare<AB, k, k, N, true>();
  compare<AB, k, mn, N, true>();
}

}  // namespace

int main() {
  cudaDeviceProp device{};
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || device.major != 9) return 77;
  majors<elem::bf16, 8>();
  majors<elem::bf16, 24>();
  majors<elem::bf16, 136>();
  majors<elem::bf16, 256>();
  majors<elem::f16, 64>();
  majors<elem::f16, 200>();
  std::printf("%s\n", failures == 0 ? "ok" : "FAILED");
  return failures == 0 ? 0 : 1;
}
