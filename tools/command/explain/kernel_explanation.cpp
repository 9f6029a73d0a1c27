// SPDX-License-Identifier: Apache-2.0
// kernel_explanation.cpp  The statements of a family about a kernel, as text and JSON.
#include "tools/command/explain/kernel_explanation.hpp"

#include <fmt/format.h>

#include "tilewright/family/family.hpp"
#include "tilewright/tensor/tmem_size.hpp"
#include "tools/io/refuse.hpp"
#include "tools/report/grouped.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

std::string columns_text(int first, int count) {
  return fmt::format("{}-{}", first, first + count - 1);
}

std::string lanes_text(tensor_user const& u) { return columns_text(u.first_lane, u.lanes); }

/// Columns that are allocated and have no use.
void add_rest(kernel_explanation& e) {
  std::vector<tensor_part>& parts = e.memory.parts;
  if (parts.empty()) return;
  int const used = parts.back().first + parts.back().columns;
  if (used < e.cta.tensor_columns) parts.push_back({used, e.cta.tensor_columns - used, "not used"});
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
  e.memory = family.memory(kernel);
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
  if (!e.memory.tile.empty()) out += fmt::format("tile            {}\n", e.memory.tile);
  out += fmt::format("launch          {} threads{}\n", e.cta.threads,
                     e.cta.cluster > 1 ? fmt::format(", clusters of {}", e.cta.cluster) : "");
  out += fmt::format("shared memory   {} bytes{}\n", grouped(e.cta.smem_bytes),
                     e.stages > 0 ? fmt::format(", {} stages of {} bytes among them", e.stages,
                                                grouped(e.stage_bytes))
                                  : "");
  if (e.cta.tensor_columns == 0) return out + "tensor memory   none\n";
  out += fmt::format("tensor memory   {} of {} columns are allocated\n", e.cta.tensor_columns,
                     tmem_columns);
  if (e.memory.parts.empty()) return out;
  out += "\n  columns   content\n";
  for (tensor_part const& p : e.memory.parts)
    out += fmt::format("  {:<9} {}\n", columns_text(p.first, p.columns), p.content);
  out += "\n  warp  lanes   access\n";
  for (tensor_user const& u : e.memory.users)
    out += fmt::format("  {:<5} {:<7} {}\n", u.warp, lanes_text(u), u.access);
  if (!e.memory.steps.empty()) {
    out += "\n  multiply of a stage   factors of A   factors of B   id\n";
    for (scale_step const& s : e.memory.steps)
      out += fmt::format("  {:<21} {:<14} {:<14} {}\n", "k " + columns_text(s.k, s.k_extent),
                         columns_text(s.a_column, s.a_columns),
                         columns_text(s.b_column, s.b_columns), s.id);
    if (!e.memory.note.empty()) out += "  " + e.memory.note + "\n";
  }
  out += "\npictures, with --print html -o FILE:\n";
  for (std::string const& name : e.memory.pictures)
    out += fmt::format("  tilewright layout {}\n", name);
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
         {"tile", e.memory.tile},
         {"note", e.memory.note},
         {"pictures", e.memory.pictures}};
  for (tensor_part const& p : e.memory.parts)
    j["tensor_memory"].push_back(
        {{"first_column", p.first}, {"columns", p.columns}, {"content", p.content}});
  for (tensor_user const& u : e.memory.users)
    j["warps"].push_back(
        {{"warp", u.warp}, {"first_lane", u.first_lane}, {"lanes", u.lanes}, {"access", u.access}});
  for (scale_step const& s : e.memory.steps)
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
