// SPDX-License-Identifier: Apache-2.0
// kernel_explanation.cpp  From the configuration of a kernel to the columns of tensor memory.
#include "tools/kernel_explanation.hpp"

#include <fmt/format.h>

#include "family/sm100_gemm/instances.hpp"
#include "family/sm100_scaled/instances.hpp"
#include "tilewright/arch/tensor_memory.hpp"
#include "tilewright/family/family.hpp"
#include "tilewright/tensor/tmem_size.hpp"
#include "tools/grouped.hpp"
#include "tools/io/refuse.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

constexpr int multiply_warp = 1, first_epilogue_warp = 2, epilogue_warps = 4;  // roles.hpp
constexpr int stage_row_bytes = 128, multiply_row_bytes = 32;                  // of an operand

std::string columns_text(int first, int count) {
  return fmt::format("{}-{}", first, first + count - 1);
}

std::string lanes_text(tensor_user const& u) { return columns_text(u.first_lane, u.lanes); }

/// Accumulators from column 0 on, each as wide as the tile.
void add_accumulators(kernel_explanation& e, int count, int tile_n, bool gated) {
  for (int i = 0; i < count; ++i) {
    std::string content = fmt::format("accumulator {}, float32", i);
    if (i == 0)
      content += gated ? fmt::format(
                             ": row i of the CTA in lane i, {} gates, then the {} columns "
                             "that they multiply",
                             tile_n / 2, tile_n / 2)
                       : ": row i of the CTA in lane i, column n of the tile in column n";
    e.parts.push_back({i * tile_n, tile_n, content});
  }
}

void add_users(kernel_explanation& e, int ctas, bool scaled) {
  e.users.push_back(
      {multiply_warp, 0, tmem_lanes,
       fmt::format("allocates; one thread{} issues tcgen05.{}",
                   ctas == 2 ? " of the pair's even CTA" : "", scaled ? "cp and .mma" : "mma")});
  for (int i = 0; i < epilogue_warps; ++i) {
    int const warp = first_epilogue_warp + i, lane = 32 * (warp % 4);
    e.users.push_back(
        {warp, lane, 32,
         fmt::format("tcgen05.ld.32x32b of the accumulators: rows {} to {} of the CTA", lane,
                     lane + 31)});
  }
}

std::string tile_of_kernel(int m, int n, int k, int ctas) {
  return fmt::format("{} x {} of A B in {}, steps of {} along K", m, n,
                     ctas == 2 ? "a CTA pair" : "a CTA", k);
}

void add_plain(kernel_explanation& e, sm100_config const& c) {
  e.tile = tile_of_kernel(c.tile_m(), c.tile_n, c.tile_k(), c.ctas);
  add_accumulators(e, c.accumulators(), c.tile_n, c.gated());
  if (c.block_scales)
    e.parts.push_back({c.accumulators() * c.tile_n, c.tile_n,
                       "float32 sums of the tile, which the epilogue stores and loads again"});
  add_users(e, c.ctas, false);
  e.pictures.push_back(fmt::format("tmem.d.{}cta.m{}n{}", c.ctas, c.tile_m(), c.tile_n));
}

void add_scaled(kernel_explanation& e, block_scaled_config const& c) {
  e.tile = tile_of_kernel(c.tile_m(), c.tile_n, c.tile_k(), c.ctas);
  add_accumulators(e, c.accumulators(), c.tile_n, c.gated());
  int const a_at = c.accumulators() * c.tile_n, a_columns = scale_columns_of_128_rows * c.atoms();
  int const b_block = scale_columns_of_128_rows * c.n_atoms();  // of 4 factors of each column
  auto const factors_text = [&](char operand, int columns) {
    return fmt::format("scale factors of {}, {} for {} elements: {} columns for 4 factors of a row",
                       operand, name(c.scale), c.block, columns);
  };
  e.parts.push_back({a_at, a_columns, factors_text('A', scale_columns_of_128_rows)});
  e.parts.push_back({a_at + a_columns, b_block * c.atoms(), factors_text('B', b_block)});
  int const k_extent = umma_k(c.kind()), factors = k_extent / c.block;
  for (int step = 0; step < stage_row_bytes / multiply_row_bytes; ++step) {
    int const atom = step * factors / 4;
    e.steps.push_back({step * k_extent, k_extent, a_at + scale_columns_of_128_rows * atom,
                       scale_columns_of_128_rows, a_at + a_columns + atom * b_block,
                       (c.tile_n + 31) / 32, step * factors % 4});
  }
  if (c.tile_n % 128 != 0)
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
}

/// Columns that are allocated and have no use.
void add_rest(kernel_explanation& e) {
  if (e.parts.empty()) return;
  int const used = e.parts.back().first + e.parts.back().columns;
  if (used < e.cta.tensor_columns)
    e.parts.push_back({used, e.cta.tensor_columns - used, "not used"});
}

kernel_explanation explanation_of(gemm_family const& family, int kernel) {
  kernel_explanation e;
  e.kernel = family.name(kernel);
  e.family = family.id();
  auto const resources = family.resources(kernel);
  if (!resources)
    refuse("TW0652", "kernel " + e.kernel, "a family that does not state its resources",
           "a kernel whose family states them");
  e.cta = resources->cta;
  e.stages = resources->stages;
  e.stage_bytes = resources->stage_bytes;
  auto const i = static_cast<std::size_t>(kernel);
  if (e.family == "sm100_gemm") add_plain(e, sm100_gemm_family::instances()[i].config);
  if (e.family == "sm100_scaled") add_scaled(e, sm100_scaled_family::instances()[i].config);
  add_rest(e);
  return e;
}

}  // namespace

std::optional<kernel_explanation> explain_kernel(std::string const& name) {
  for (gemm_family const* const family : families())
    for (int i = 0; i < family->kernel_count(); ++i)
      if (family->name(i) == name) return explanation_of(*family, i);
  return std::nullopt;
}

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (gemm_family const* const family : families())
    for (int i = 0; i < family->kernel_count(); ++i) names.push_back(family->name(i));
  return names;
}

std::string explanation_text(kernel_explanation const& e) {
  std::string out = fmt::format("kernel          {}\n", e.kernel);
  if (!e.tile.empty()) out += fmt::format("tile            {}\n", e.tile);
  out += fmt::format("launch          {} threads{}\n", e.cta.threads,
                     e.cta.cluster > 1 ? fmt::format(", clusters of {}", e.cta.cluster) : "");
  out += fmt::format("shared memory   {} bytes{}\n", grouped(e.cta.smem_bytes),
                     e.stages > 0 ? fmt::format(", {} stages of {} bytes among them", e.stages,
                                                grouped(e.stage_bytes))
                                  : "");
  if (e.cta.tensor_columns == 0) return out + "tensor memory   none\n";
  out += fmt::format("tensor memory   {} of {} columns are allocated\n", e.cta.tensor_columns,
                     tmem_columns);
  if (e.parts.empty()) return out;
  out += "\n  columns   content\n";
  for (tensor_part const& p : e.parts)
    out += fmt::format("  {:<9} {}\n", columns_text(p.first, p.columns), p.content);
  out += "\n  warp  lanes   access\n";
  for (tensor_user const& u : e.users)
    out += fmt::format("  {:<5} {:<7} {}\n", u.warp, lanes_text(u), u.access);
  if (!e.steps.empty()) {
    out += "\n  multiply of a stage   factors of A   factors of B   id\n";
    for (scale_step const& s : e.steps)
      out += fmt::format("  {:<21} {:<14} {:<14} {}\n", "k " + columns_text(s.k, s.k_extent),
                         columns_text(s.a_column, s.a_columns),
                         columns_text(s.b_column, s.b_columns), s.id);
    if (!e.note.empty()) out += "  " + e.note + "\n";
  }
  out += "\npictures, with --print html -o FILE:\n";
  for (std::string const& name : e.pictures) out += fmt::format("  tilewright layout {}\n", name);
  return out;
}

json explanation_json(kernel_explanation const& e) {
  json j{{"kernel", e.kernel},
         {"family", e.family},
         {"threads", e.cta.threads},
         {"cluster", e.cta.cluster},
         {"smem_bytes", e.cta.smem_bytes},
         {"stages", e.stages},
         {"stage_bytes", e.stage_bytes},
         {"tensor_columns", e.cta.tensor_columns},
         {"tensor_memory", json::array()},
         {"warps", json::array()},
         {"scale_factors", json::array()},
         {"tile", e.tile},
         {"note", e.note},
         {"pictures", e.pictures}};
  for (tensor_part const& p : e.parts)
    j["tensor_memory"].push_back(
        {{"first_column", p.first}, {"columns", p.columns}, {"content", p.content}});
  for (tensor_user const& u : e.users)
    j["warps"].push_back(
        {{"warp", u.warp}, {"first_lane", u.first_lane}, {"lanes", u.lanes}, {"access", u.access}});
  for (scale_step const& s : e.steps)
    j["scale_factors"].push_back({{"k", s.k},
                                  {"k_extent", s.k_extent},
                                  {"a_column", s.a_column},
                                  {"a_columns", s.a_columns},
                                  {"b_column", s.b_column},
                                  {"b_columns", s.b_columns},
                                  {"id", s.id}});
  return j;
}

}  // namespace tw
