// SPDX-License-Identifier: Apache-2.0
// transpose.cpp  A transpose through shared memory in ordinary loads and stores, and its test.
#include "tilewright/arch/emu/plugin.hpp"

using namespace tw;

/// out(c, r) = in(r, c); CTA i turns the i-th tile of 32 x 32.
struct transpose {
  static constexpr int threads = 256, cluster = 1, tile = 32;
  struct smem {
    float rows[tile][tile + 1];  // one more column: no bank is met twice
  };
  static constexpr int smem_bytes = sizeof(smem);
  struct params {
    float const* in;  // (rows, cols)
    float* out;       // (cols, rows)
    int rows, cols;
    bool forget_the_barrier;
  };

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const across = p.cols / tile;
    int const row = cta_id() / across * tile, col = cta_id() % across * tile;
    int const x = thread_id() % tile, y = thread_id() / tile;
    for (int r = y; r < tile; r += threads / tile)
      s.rows[r][x] = p.in[(row + r) * p.cols + col + x];
    if (!p.forget_the_barrier) cta_sync();
    for (int r = y; r < tile; r += threads / tile)
      p.out[(col + r) * p.rows + row + x] = s.rows[x][r];
  }
};

void test_transpose(emu::trial& t) {
  auto const rows = t.extent(0), cols = t.extent(1);
  std::vector<float> in(static_cast<std::size_t>(rows * cols));
  for (float& x : in) x = t.small_fraction();
  float* const out = t.output<float>(rows * cols);

  int const ctas = static_cast<int>(rows / 32 * (cols / 32));
  t.run(transpose{}, ctas,
        {t.input(in), out, static_cast<int>(rows), static_cast<int>(cols), t.bug(1)});

  t.compare(out, rows * cols, [&](std::int64_t i) {
    return in[static_cast<std::size_t>(i % rows * cols + i / rows)];
  });
}

constexpr emu::plugin_shape shapes[] = {{{32, 32}}, {{64, 96}}, {{128, 32}}};
constexpr emu::plugin_bug bugs[] = {{"no-barrier", "no cta_sync between writing and reading"}};
constexpr emu::plugin_kernel kernels[] = {
    emu::test_of<test_transpose>("transpose", "rows,cols", shapes, bugs)};
constexpr emu::plugin own = emu::plugin_of(kernels);

extern "C" emu::plugin const* tilewright_plugin() { return &own; }
