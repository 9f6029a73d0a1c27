// SPDX-License-Identifier: Apache-2.0
// product_bench.cpp  Times the two heavy parts of an emulated bf16 1024 x 1024 x 1024 GEMM on one
//                    core: wgmma arithmetic and TMA copies. Not part of the build; to run it:
// g++ -std=c++20 -O2 -Iinclude -Isrc tests/emu/product_bench.cpp src/emu/wgmma/*.cpp
//   src/emu/elements/{operand,box}.cpp -lfmt -o product_bench && ./product_bench
// Prints sums of least times of many runs, which other work on the machine disturbs little.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <vector>

#include "emu/elements/box.hpp"
#include "emu/wgmma/product.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::emu {
namespace {

constexpr int size = 1024, tile_m = 128, tile_n = 256, tile_k = 64, stages = 4;
constexpr std::uint32_t smem_base = 0x400, a_bytes = tile_m * tile_k * 2,
                        stage_bytes = a_bytes + tile_n * tile_k * 2;

/// One CTA after another, each with its k blocks in turn, as the kernel runs them. The sum of every
/// k block's least time.
template <class Block>
double least_ms(int repeats, Block block) {
  using clock = std::chrono::steady_clock;
  std::vector<clock::duration> least(size / tile_m * (size / tile_n) * (size / tile_k),
                                     clock::duration::max());
  for (int i = 0; i < repeats; ++i) {
    std::size_t index = 0;
    for (int m = 0; m < size; m += tile_m)
      for (int n = 0; n < size; n += tile_n)
        for (int k = 0; k < size; k += tile_k, ++index) {
          auto const start = clock::now();
          block(m, n, k, static_cast<std::uint32_t>(index % stages) * stage_bytes);
          least[index] = std::min(least[index], clock::now() - start);
        }
  }
  std::chrono::duration<double, std::milli> sum{};
  for (auto const& t : least) sum += t;
  return sum.count();
}

struct setting {
  char const* text;
  elem type;
  operand_major a, b;
};

void fill(std::vector<std::uint16_t>& v, elem type) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (auto& x : v)
    x = type == elem::bf16 ? to_bf16(normal(random)).bits : to_f16(normal(random)).bits;
}

smem_desc desc(std::uint32_t at, operand_major major) {
  if (major == operand_major::k) return make_smem_desc(at, 16, 1024, swizzle_mode::b128);
  return make_smem_desc(at, 8192, 1024, swizzle_mode::b128);  // [mn / 64][k][64]
}

tensor_map_desc map_of(std::vector<std::uint16_t>& v, elem type, int box_rows) {
  tensor_map_desc m;
  m.base = v.data();
  m.type = type;
  m.dim[0] = m.dim[1] = size;
  m.stride_bytes[0] = 2 * size;
  m.box[0] = tile_k;
  m.box[1] = box_rows;
  m.swizzle = swizzle_mode::b128;
  return m;
}

void run(setting const& s, int repeats) {
  std::vector<std::uint16_t> a(size * size), b(size * size), memory(stages * stage_bytes / 2 + 512);
  fill(a, s.type);
  fill(b, s.type);
  fill(memory, s.type);
  auto const address = reinterpret_cast<std::uintptr_t>(memory.data());
  auto* const smem = reinterpret_cast<std::byte*>((address + 1023) / 1024 * 1024);
  std::vector<float> d(2 * 64 * tile_n);

  auto const copy = [&](int m, int n, int k, std::uint32_t stage) {
    int const a_at[] = {k, m}, b_at[] = {k, n};
    load_box(map_of(a, s.type, tile_m), a_at, smem + stage, smem_base + stage);
    load_box(map_of(b, s.type, tile_n), b_at, smem + stage + a_bytes, smem_base + stage + a_bytes);
  };
  auto const multiply = [&](int, int, int k, std::uint32_t stage) {
    for (int group = 0; group < 2; ++group) {
      wgmma_step_data steps[4];
      for (int i = 0; i < 4; ++i)
        steps[i] = {
            false, nullptr,
            desc(smem_base + stage + static_cast<std::uint32_t>(group * 8192), s.a) +
                (s.a == operand_major::k ? 32 : 2048) * i,
            desc(smem_base + stage + a_bytes, s.b) + (s.b == operand_major::k ? 32 : 2048) * i,
            k > 0 || i > 0};
      auto const wrong =
          run_wgmma_group(d.data() + group * 64 * tile_n,
                          {s.type, s.type, elem::f32, integer_overflow::wrap, s.a, s.b, tile_n},
                          steps, 4, smem, smem_base, stages * stage_bytes);
      if (wrong) std::printf("%s\n", wrong->c_str());
    }
  };
  std::printf("%-22s", s.text);
  for (auto isa : {product_isa::avx512, product_isa::avx2, product_isa::portable}) {
    if (!product_isa_available(isa)) continue;
    select_product_isa(isa);
    std::printf(" %9.2f", least_ms(isa == product_isa::portable ? 4 : repeats, multiply));
    std::fflush(stdout);
  }
  select_product_isa(product_isa::automatic);
  std::printf(" %9.2f", least_ms(repeats, copy));
  std::printf(" %9.2f\n", least_ms(repeats, [&](int m, int n, int k, std::uint32_t stage) {
                copy(m, n, k, stage);
                multiply(m, n, k, stage);
              }));
}

}  // namespace
}  // namespace tw::emu

int main() {
  using namespace tw;
  using namespace tw::emu;
  std::printf("%-22s %9s %9s %9s %9s %9s   (ms)\n", "1024^3", "avx512", "avx2", "portable", "TMA",
              "both");
  run({"bf16 A K, B K", elem::bf16, operand_major::k, operand_major::k}, 60);
  run({"bf16 A M, B N", elem::bf16, operand_major::mn, operand_major::mn}, 30);
  run({"f16 A K, B K", elem::f16, operand_major::k, operand_major::k}, 30);
}
