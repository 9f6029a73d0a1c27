// SPDX-License-Identifier: Apache-2.0
// occupancy_report.cpp  One launch in detail, a table of several, the registers of a tile.
#include "tools/command/occupancy/occupancy_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tilewright/arch/limits.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tools/report/grouped.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

std::string counted(std::int64_t n, char const* noun) {
  return fmt::format("{} {}{}", grouped(n), noun, n == 1 ? "" : "s");
}

std::vector<char const*> limits_of(occupancy const& o) {
  std::vector<char const*> names;
  for (int i = 0; i < sm_resource_count; ++i)
    if (o.limited_by(static_cast<sm_resource>(i)))
      names.push_back(name_of(static_cast<sm_resource>(i)));
  return names;
}

occupancy changed(occupancy_row const& row, sm_limits const& sm, int registers,
                  std::int64_t smem_bytes) {
  cta_resources c = row.cta;
  c.registers += registers;
  c.smem_bytes += smem_bytes;
  return occupancy_of(c, sm);
}

/// "2 CTAs, 16 warps", or that it cannot be launched.
std::string held(occupancy const& o) {
  return o.ctas == 0 ? "cannot be launched"
                     : counted(o.ctas, "CTA") + ", " + counted(o.warps, "warp");
}

std::string resource_lines(occupancy_row const& row, occupancy const& o, sm_limits const& sm) {
  std::string text =
      fmt::format("{:<15} {:>10} {:>10} {:>7}\n", "resource", "of a CTA", "of an SM", "CTAs");
  auto const line = [&](sm_resource r, std::int64_t takes, std::int64_t has,
                        std::string const& note) {
    int const ctas = o.ctas_by[static_cast<std::size_t>(r)];
    text += fmt::format("{:<15} {:>10} {:>10} {:>7}{}{}\n", name_of(r), grouped(takes),
                        grouped(has), ctas == unlimited_ctas ? "-" : grouped(ctas),
                        o.limited_by(r) ? "  limits"
                        : note.empty()  ? ""
                                        : "        ",
                        note.empty() ? "" : "  " + note);
  };
  line(sm_resource::warps, o.warps_per_cta, sm.max_warps, "");
  std::int64_t const warp = std::int64_t{o.allocated_registers} * warp_threads;
  line(sm_resource::registers, warp * o.warps_per_cta, sm_limits::registers,
       row.cta.registers == o.allocated_registers
           ? ""
           : fmt::format("{} a thread are allocated, a multiple of {}", o.allocated_registers,
                         sm_limits::register_step / warp_threads));
  std::int64_t const added = o.allocated_smem_bytes - row.cta.smem_bytes;
  line(sm_resource::shared_memory, o.allocated_smem_bytes, sm.smem_bytes,
       added == 0
           ? ""
           : fmt::format("{} reserved by CUDA, rounded to {}",
                         grouped(sm.reserved_smem_bytes_per_cta), grouped(sm.smem_step_bytes)));
  line(sm_resource::ctas, 1, sm.max_ctas, "");
  if (row.cta.barriers > 0 && sm.max_barriers > 0)
    line(sm_resource::barriers, row.cta.barriers, sm.max_barriers, "");
  if (row.cta.tensor_columns > 0)
    line(sm_resource::tensor_memory, row.cta.tensor_columns, sm.tensor_columns(),
         "columns; an allocation waits until they are free");
  return text;
}

std::string why_not(occupancy_row const& row, occupancy const& o, sm_limits const& sm) {
  std::string text;
  for (int i = 0; i < sm_resource_count; ++i) {
    if (o.ctas_by[static_cast<std::size_t>(i)] != 0) continue;
    switch (static_cast<sm_resource>(i)) {
      case sm_resource::warps:
        text += fmt::format("  a CTA has at most {} threads\n",
                            grouped(sm_limits::max_threads_per_cta));
        break;
      case sm_resource::registers:
        text += fmt::format(
            "  {} warps with {} registers a thread need {}, an SM has {}\n", o.warps_per_cta,
            o.allocated_registers,
            grouped(std::int64_t{o.allocated_registers} * warp_threads * o.warps_per_cta),
            grouped(sm_limits::registers));
        break;
      case sm_resource::shared_memory:
        text += fmt::format("  {} bytes of shared memory, a CTA has at most {}\n",
                            grouped(row.cta.smem_bytes), grouped(sm.max_smem_bytes_per_cta));
        break;
      case sm_resource::tensor_memory:
        text += fmt::format("  {} columns of tensor memory, an SM has {}\n", row.cta.tensor_columns,
                            sm.tensor_columns());
        break;
      default: break;
    }
  }
  return text;
}

std::string effect_lines(occupancy_row const& row, occupancy const& o, sm_limits const& sm) {
  std::string text = "\neffect of\n";
  auto const line = [&](std::string const& what, occupancy const& x) {
    text += fmt::format("  {:<34} {}{}\n", what, held(x), x.ctas == o.ctas ? ", as many" : "");
  };
  line("one register more a thread", changed(row, sm, 1, 0));
  line("one register fewer a thread", changed(row, sm, -1, 0));
  if (row.stage_bytes > 0) {
    line(fmt::format("one stage more, {} bytes", grouped(row.stage_bytes)),
         changed(row, sm, 0, row.stage_bytes));
    if (row.cta.smem_bytes >= row.stage_bytes)
      line("one stage fewer", changed(row, sm, 0, -row.stage_bytes));
  }
  occupancy_steps const s = steps_of(row.cta, sm);
  text += fmt::format("as many CTAs    up to {} registers a thread and {} bytes of shared memory\n",
                      s.max_registers, grouped(s.max_smem_bytes));
  std::string more;
  if (s.registers_for_more > 0) more = fmt::format("at most {} registers", s.registers_for_more);
  if (s.smem_bytes_for_more >= 0)
    more += fmt::format("{}at most {} bytes of shared memory", more.empty() ? "" : ", or ",
                        grouped(s.smem_bytes_for_more));
  text += fmt::format("one CTA more    {}\n",
                      more.empty() ? "by no change of registers or shared memory alone" : more);
  return text;
}

/// Clusters that run at once: a cluster's CTAs are on SMs of one GPC, which not all SMs divide.
std::int64_t clusters_of(device const& d, int cluster, int ctas) {
  std::int64_t const sms = cluster <= 2   ? d.sm_count
                           : cluster == 3 ? d.sms_in_clusters_of_3
                                          : d.sms_in_clusters_of_4;
  return sms * ctas / cluster;
}

std::string one_text(occupancy_row const& row, occupancy_answer const& a) {
  sm_limits const& sm = *a.sm;
  occupancy const o = occupancy_of(row.cta, sm);
  std::string text;
  if (!row.kernel.empty()) text += fmt::format("kernel          {}\n", row.kernel);
  text += fmt::format("launch          {} threads, {} registers, {} bytes of shared memory{}\n",
                      row.cta.threads, row.cta.registers, grouped(row.cta.smem_bytes),
                      row.cta.cluster == 1 ? "" : fmt::format(", clusters of {}", row.cta.cluster));
  text += fmt::format("device          {}, compute capability {}.{}\n", a.device_name,
                      sm.compute_capability / 10, sm.compute_capability % 10);
  if (o.ctas == 0)
    text += "of an SM        0 CTAs: it cannot be launched\n";
  else
    text += fmt::format("of an SM        {} of {}: {:.1f} %\nlimited by      {}\n", held(o),
                        sm.max_warps, 100 * o.share(sm), fmt::join(limits_of(o), " and "));
  if (a.whole && o.ctas > 0) {
    text +=
        fmt::format("of the device   {}", counted(std::int64_t{o.ctas} * a.whole->sm_count, "CTA"));
    if (row.cta.cluster > 1)
      text += fmt::format(", at most {}",
                          counted(clusters_of(*a.whole, row.cta.cluster, o.ctas), "cluster"));
    text += fmt::format(" on {} SMs\n", a.whole->sm_count);
  }
  if (row.sums > 0)
    text += fmt::format("accumulators    {} registers of a thread that multiplies\n", row.sums);
  if (row.stages > 0)
    text += fmt::format("stages          {} of {} bytes\n", row.stages, grouped(row.stage_bytes));
  text += "\n" + resource_lines(row, o, sm);
  if (o.ctas == 0) text += "\ncannot be launched\n" + why_not(row, o, sm);
  return text + (o.ctas == 0 ? "" : effect_lines(row, o, sm));
}

std::string table_text(occupancy_answer const& a) {
  sm_limits const& sm = *a.sm;
  std::string text = fmt::format("{}, compute capability {}.{}: {} warps and {} CTAs of an SM\n\n",
                                 a.device_name, sm.compute_capability / 10,
                                 sm.compute_capability % 10, sm.max_warps, sm.max_ctas);
  text += fmt::format("{:>9} {:>7} {:>9} {:>5} {:>6} {:>9}  {}\n", "registers", "threads", "smem",
                      "CTAs", "warps", "occupancy", "limited by");
  bool beyond = false;
  for (occupancy_row const& row : a.rows) {
    occupancy const o = occupancy_of(row.cta, sm);
    beyond = beyond || row.cta.registers > sm_limits::max_registers;
    std::string const limits =
        o.ctas == 0 ? "cannot be launched" : fmt::format("{}", fmt::join(limits_of(o), ", "));
    text += fmt::format("{:>9} {:>7} {:>9} {:>5} {:>6} {:>7.1f} %  {}{}\n", row.cta.registers,
                        row.cta.threads, grouped(row.cta.smem_bytes), o.ctas, o.warps,
                        100 * o.share(sm), limits, row.kernel.empty() ? "" : "  " + row.kernel);
  }
  if (beyond)
    text += fmt::format(
        "\nA program names at most {} registers; 256 is what is allocated for 249 to 255.\n",
        sm_limits::max_registers);
  return text;
}

struct divided_tile {
  fragment_registers by_warpgroup, by_warp;
};
divided_tile divide(tile_budget const& t) {
  int const bits = traits_of(t.ab).bits, warps = 4;
  std::int64_t const rows = t.m / t.warpgroups;
  return {fragments_of(rows, t.n, t.k, bits, warpgroup_threads),
          fragments_of(rows / warps, t.n, t.k, bits, warp_threads)};
}

/// Columns of tensor memory of the sums: a column has 128 rows.
std::int64_t tensor_columns_of(tile_budget const& t) { return (t.m + 127) / 128 * t.n; }

std::string left_text(int taken, char const* cure) {
  int const left = sm_limits::max_registers - taken;
  return left < 0 ? fmt::format("They do not fit: {}.\n", cure)
                  : fmt::format("{} remain for addresses and the epilogue.\n", left);
}

/// The registers, or columns of tensor memory, that the device's multiply takes.
std::string multiply_text(tile_budget const& t, divided_tile const& d, sm_limits const& sm) {
  if (int const columns = sm.tensor_columns(); columns > 0)
    return fmt::format(
               "\ntcgen05.mma reads B, and A too, from shared memory and adds in tensor memory: {} "
               "of\n"
               "{} columns. Registers hold the accumulators that an epilogue reads at a time.\n",
               tensor_columns_of(t), columns) +
           (tensor_columns_of(t) > columns ? "They do not fit: a smaller tile, or a pair of CTAs.\n"
                                           : "");
  bool const has_wgmma = sm.compute_capability / 10 == 9;
  if (!has_wgmma)
    return fmt::format(
               "\nmma.sync takes A and B from registers: a warp holds the right column, {} of {}\n"
               "registers. A warp that holds fewer columns of B needs fewer.\n",
               d.by_warp.total(), sm_limits::max_registers) +
           left_text(d.by_warp.total(), "divide the columns among warps, or take a smaller tile");
  return fmt::format(
             "\nA warp alone would need all of B; four warps divide it. wgmma reads B, and A too, "
             "from\n"
             "shared memory: the accumulators are what remains, {} of {} registers.\n",
             d.by_warpgroup.sums, sm_limits::max_registers) +
         left_text(d.by_warpgroup.sums, "more warpgroups, or a smaller tile");
}

std::string tile_text(tile_budget const& t, sm_limits const& sm) {
  divided_tile const d = divide(t);
  std::string text = fmt::format(
      "tile            {}x{}x{} {}, {}: registers of a thread\n\n{:<15} {:>22} {:>22}\n", t.m, t.n,
      t.k, name(t.ab), counted(t.warpgroups, "warpgroup"), "", "rows of a warpgroup",
      "rows of a warp");
  auto const line = [&](char const* what, int warpgroup, int warp) {
    text += fmt::format("{:<15} {:>22} {:>22}\n", what, warpgroup, warp);
  };
  line("accumulators", d.by_warpgroup.sums, d.by_warp.sums);
  line("A", d.by_warpgroup.a, d.by_warp.a);
  line("B", d.by_warpgroup.b, d.by_warp.b);
  line("together", d.by_warpgroup.total(), d.by_warp.total());
  return text + multiply_text(t, d, sm);
}

json row_json(occupancy_row const& row, occupancy_answer const& a) {
  sm_limits const& sm = *a.sm;
  occupancy const o = occupancy_of(row.cta, sm);
  json by;
  for (int i = 0; i < sm_resource_count; ++i) {
    int const ctas = o.ctas_by[static_cast<std::size_t>(i)];
    std::string name = name_of(static_cast<sm_resource>(i));
    if (name == "shared memory") name = "shared_memory";
    if (name == "CTAs") name = "ctas";
    if (name == "tensor memory") name = "tensor_memory";
    by[name] = ctas == unlimited_ctas ? json() : json(ctas);
  }
  json r{{"kernel", row.kernel.empty() ? json() : json(row.kernel)},
         {"registers", row.cta.registers},
         {"threads", row.cta.threads},
         {"smem_bytes", row.cta.smem_bytes},
         {"cluster", row.cta.cluster},
         {"barriers", row.cta.barriers},
         {"tensor_columns", row.cta.tensor_columns},
         {"ctas", o.ctas},
         {"warps", o.warps},
         {"occupancy", o.share(sm)},
         {"limits", limits_of(o)},
         {"ctas_by", by},
         {"allocated_registers", o.allocated_registers},
         {"allocated_smem_bytes", o.allocated_smem_bytes},
         {"one_register_more", changed(row, sm, 1, 0).ctas},
         {"one_register_fewer", changed(row, sm, -1, 0).ctas}};
  bool const stages = row.stage_bytes > 0;
  r["stage_bytes"] = stages ? json(row.stage_bytes) : json();
  r["one_stage_more"] = stages ? json(changed(row, sm, 0, row.stage_bytes).ctas) : json();
  r["one_stage_fewer"] = stages && row.cta.smem_bytes >= row.stage_bytes
                             ? json(changed(row, sm, 0, -row.stage_bytes).ctas)
                             : json();
  occupancy_steps const s = steps_of(row.cta, sm);
  bool const launches = o.ctas > 0;
  r["max_registers"] = launches ? json(s.max_registers) : json();
  r["max_smem_bytes"] = launches ? json(s.max_smem_bytes) : json();
  r["registers_for_more"] = s.registers_for_more > 0 ? json(s.registers_for_more) : json();
  r["smem_bytes_for_more"] = s.smem_bytes_for_more >= 0 ? json(s.smem_bytes_for_more) : json();
  r["accumulators"] = row.sums > 0 ? json(row.sums) : json();
  r["device_ctas"] = a.whole ? json(std::int64_t{o.ctas} * a.whole->sm_count) : json();
  r["device_clusters"] = a.whole ? json(clusters_of(*a.whole, row.cta.cluster, o.ctas)) : json();
  return r;
}

json tile_json(tile_budget const& t, sm_limits const& sm) {
  divided_tile const d = divide(t);
  auto const registers = [](fragment_registers const& f) {
    return json{{"accumulators", f.sums}, {"a", f.a}, {"b", f.b}, {"total", f.total()}};
  };
  return {{"m", t.m},
          {"n", t.n},
          {"k", t.k},
          {"dtype", name(t.ab)},
          {"warpgroups", t.warpgroups},
          {"by_warpgroup", registers(d.by_warpgroup)},
          {"by_warp", registers(d.by_warp)},
          {"max_registers", sm_limits::max_registers},
          {"tensor_columns", sm.tensor_columns() > 0 ? json(tensor_columns_of(t)) : json()}};
}

}  // namespace

std::string occupancy_text(occupancy_answer const& a) {
  std::string text;
  if (!a.rows.empty()) text = a.one ? one_text(a.rows.front(), a) : table_text(a);
  if (a.tile) text += (text.empty() ? "" : "\n") + tile_text(*a.tile, *a.sm);
  return text;
}

json occupancy_json(occupancy_answer const& a) {
  sm_limits const& sm = *a.sm;
  json rows = json::array();
  for (occupancy_row const& row : a.rows) rows.push_back(row_json(row, a));
  return {{"device", a.device_name},
          {"compute_capability",
           fmt::format("{}.{}", sm.compute_capability / 10, sm.compute_capability % 10)},
          {"sm",
           {{"warps", sm.max_warps},
            {"ctas", sm.max_ctas},
            {"registers", sm_limits::registers},
            {"register_step", sm_limits::register_step},
            {"smem_bytes", sm.smem_bytes},
            {"smem_step_bytes", sm.smem_step_bytes},
            {"reserved_smem_bytes_per_cta", sm.reserved_smem_bytes_per_cta},
            {"max_smem_bytes_per_cta", sm.max_smem_bytes_per_cta}}},
          {"launches", rows},
          {"tile", a.tile ? tile_json(*a.tile, sm) : json()}};
}

}  // namespace tw
