// SPDX-License-Identifier: Apache-2.0
// tcgen05_memory.cpp  From the configuration of a Blackwell kernel to the columns of tensor memory.
#include "family/tcgen05_memory.hpp"

#include <fmt/format.h>

#include "tilewright/arch/tensor_memory.hpp"
#include "tilewright/kernel/sm100/cta.hpp"
#include "tilewright/tensor/tmem_size.hpp"

namespace tw {

namespace {

/// Accumulators, each as wide as the tile.
template <class Config>
void add_accumulators(kernel_memory& e, Config const& c) {
  int const tile_n = c.tile_n;
  for (int i = 0; i < c.accumulators(); ++i) {
    std::string content = fmt::format("accumulator {}, float32", i);
    if (i == 0)
      content += c.gated() ? fmt::format(
                                 ": row i of the CTA in lane i, {} gates, then the {} columns "
                                 "that they multiply",
                                 tile_n / 2, tile_n / 2)
                           : ": row i of the CTA in lane i, column n of the tile in column n";
    e.parts.push_back({c.accumulator_column(i), tile_n, content});
  }
}

void add_users(kernel_memory& e, int ctas, bool scaled) {
  e.users.push_back(
      {sm100_cta::multiply_warp, 0, tmem_lanes,
       fmt::format("allocates; one thread{} issues tcgen05.{}",
                   ctas == 2 ? " of the pair's even CTA" : "", scaled ? "cp and .mma" : "mma")});
  for (int i = 0; i < sm100_cta::epilogue_warps; ++i) {
    int const warp = sm100_cta::first_epilogue_warp + i, lane = sm100_cta::first_row(warp);
    constexpr int lanes = sm100_cta::warp_rows;
    e.users.push_back(
        {warp, lane, lanes,
         fmt::format("tcgen05.ld.32x32b of the accumulators: rows {} to {} of the CTA", lane,
                     lane + lanes - 1)});
  }
}

std::string tile_of_kernel(int m, int n, int k, int ctas) {
  return fmt::format("{} x {} of A B in {}, steps of {} along K", m, n,
                     ctas == 2 ? "a CTA pair" : "a CTA", k);
}

}  // namespace

kernel_memory memory_of(sm100_config const& c) {
  kernel_memory e;
  e.tile = tile_of_kernel(c.tile_m(), c.tile_n, c.tile_k(), c.ctas);
  add_accumulators(e, c);
  if (c.block_scales)
    e.parts.push_back({c.sums_column(), c.tile_n,
                       "float32 sums of the tile, which the epilogue stores and loads again"});
  add_users(e, c.ctas, false);
  e.pictures.push_back(fmt::format("tmem.d.{}cta.m{}n{}", c.ctas, c.tile_m(), c.tile_n));
  return e;
}

kernel_memory memory_of(block_scaled_config const& c) {
  kernel_memory e;
  e.tile = tile_of_kernel(c.tile_m(), c.tile_n, c.tile_k(), c.ctas);
  add_accumulators(e, c);
  int const a_at = c.a_factors_column(), b_at = c.b_factors_column();
  int const b_block = scale_columns_of_128_rows * c.n_atoms();  // of 4 factors of each column
  auto const factors_text = [&](char operand, int columns) {
    return fmt::format("scale factors of {}, {} for {} elements: {} columns for 4 factors of a row",
                       operand, name(c.scale), c.block, columns);
  };
  e.parts.push_back({a_at, b_at - a_at, factors_text('A', scale_columns_of_128_rows)});
  e.parts.push_back({b_at, b_block * c.atoms(), factors_text('B', b_block)});
  int const column_rows = c.atom_rows / scale_columns_of_128_rows;
  int const k_extent = umma_k(c.kind()), factors = k_extent / c.block;
  for (int step = 0; step < sm100_cta::stage_multiplies; ++step) {
    int const atom = step * factors / c.atom_factors;
    e.steps.push_back({step * k_extent, k_extent, a_at + scale_columns_of_128_rows * atom,
                       scale_columns_of_128_rows, b_at + atom * b_block,
                       (c.tile_n + column_rows - 1) / column_rows,
                       step * factors % c.atom_factors});
  }
  if (c.tile_n % c.atom_rows != 0)
    e.note = "tiles that begin in the middle of 128 columns of B: two columns further on";
  add_users(e, c.ctas, true);
  char const* const kind = c.kind() == umma_kind::mxf8f6f4 ? "mxf8f6f4"
                           : c.kind() == umma_kind::mxf4   ? "mxf4"
                                                           : "mxf4nvf4";
  for (std::string const& what :
       {fmt::format("d.{}cta.m{}n{}", c.ctas, c.tile_m(), c.tile_n),
        fmt::format("sfa.{}cta.m{}.{}", c.ctas, c.tile_m(), kind),
        fmt::format("sfb.{}cta.m{}n{}.{}", c.ctas, c.tile_m(), c.tile_n, kind)})
    e.pictures.push_back("tmem." + what);
  return e;
}

}  // namespace tw
