// SPDX-License-Identifier: Apache-2.0
// transpose.cpp  The transpose as a plugin for `tilewright check`: data, launch, right result.
#include "transpose.hpp"

#include "tilewright/arch/emu/plugin.hpp"

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
