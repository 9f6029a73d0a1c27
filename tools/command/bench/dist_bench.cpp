// SPDX-License-Identifier: Apache-2.0
// dist_bench.cpp  GEMMs over several GPUs: the layers, their table and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tilewright/dispatch/gemm.hpp"
#include "tools/command/bench/questions.hpp"
#include "tools/command/bench/table.hpp"
#include "tools/io/refuse.hpp"
#include "tools/measure/dist_lab.hpp"
#include "tools/measure/environment.hpp"
#include "tools/measure/statistics.hpp"
#include "tools/measure/watchdog.hpp"
#include "tools/request/device_choice.hpp"

namespace tw::bench {
namespace {

constexpr unsigned dist_limit_s = 540;

using dist::operation;

/// Layers of Llama models, divided over two GPUs.
std::vector<dist_shape> const layers = {
    {"70B qkv 64", operation::all_gather_gemm, 64, 5120, 8192},
    {"70B qkv 512", operation::all_gather_gemm, 512, 5120, 8192},
    {"70B qkv 2048", operation::all_gather_gemm, 2048, 5120, 8192},
    {"70B qkv 8192", operation::all_gather_gemm, 8192, 5120, 8192},
    {"70B gate+up 2048", operation::all_gather_gemm, 2048, 28672, 8192},
    {"405B qkv 4096", operation::all_gather_gemm, 4096, 9216, 16384},
    {"8B qkv 8192", operation::all_gather_gemm, 8192, 3072, 4096},
    {"70B o 64", operation::gemm_reduce_scatter, 64, 8192, 4096},
    {"70B o 512", operation::gemm_reduce_scatter, 512, 8192, 4096},
    {"70B o 2048", operation::gemm_reduce_scatter, 2048, 8192, 4096},
    {"70B o 8192", operation::gemm_reduce_scatter, 8192, 8192, 4096},
    {"70B down 2048", operation::gemm_reduce_scatter, 2048, 8192, 14336},
    {"405B o 4096", operation::gemm_reduce_scatter, 4096, 16384, 8192},
    {"8B o 8192", operation::gemm_reduce_scatter, 8192, 4096, 2048},
    {"70B o 16 all", operation::gemm_all_reduce, 16, 8192, 4096},
    {"70B o 64 all", operation::gemm_all_reduce, 64, 8192, 4096},
    {"70B o 2048 all", operation::gemm_all_reduce, 2048, 8192, 4096},
};

std::vector<dist_shape> chosen(dist_bench_options const& o) {
  std::vector<dist_shape> list;
  auto const among = [](std::vector<std::string> const& all, std::string const& one) {
    return all.empty() || std::find(all.begin(), all.end(), one) != all.end();
  };
  for (dist_shape const& s : layers)
    if (among(o.names, s.name) && among(o.ops, name(s.op))) list.push_back(s);
  if (list.empty())
    refuse("TW0615", "command line", "no layer of these names and operations", "one or more",
           fmt::format("the first layer is \"{}\"", layers[0].name));
  return list;
}

dist_method const* find(dist_row const& row, std::string const& method) {
  for (dist_method const& m : row.methods)
    if (m.name == method) return &m;
  return nullptr;
}
double time_of(dist_row const& row, std::string const& method) {
  dist_method const* const m = find(row, method);
  return m == nullptr ? not_measured : median(m->us);
}

/// The fastest of our paths.
dist_method const& best_of_ours(dist_row const& row) {
  dist_method const* best = nullptr;
  for (char const* const path : dist::path_names) {
    dist_method const* const m = find(row, path);
    if (m != nullptr && (best == nullptr || median(m->us) < median(best->us))) best = m;
  }
  return *best;
}

std::vector<column> const dist_columns = {{"layer", 17, true},
                                          {"operation", 14, true},
                                          {"M x N x K of a rank", 19, true},
                                          {"GEMM", 7},
                                          {"NCCL", 7},
                                          {"NCCL+cuBLASLt", 13},
                                          {"serial", 7},
                                          {"two-pieces", 10},
                                          {"pieces", 7},
                                          {"direct", 7},
                                          {"gated", 7},
                                          {"ratio", 6},
                                          {"result", 8, true}};

std::string dist_line(dist_row const& row) {
  dist_shape const& s = row.shape;
  double const alone = std::fmin(time_of(row, "GEMM alone"), time_of(row, "cuBLASLt alone"));
  double const baseline = time_of(row, "NCCL + cuBLASLt");
  double worst = 0;
  for (dist_method const& m : row.methods) worst = std::max(worst, m.error);
  return table_line(
      dist_columns,
      {s.name, name(s.op), fmt::format("{}x{}x{}", s.m, s.n, s.k), cell(alone, 1),
       cell(time_of(row, "NCCL alone"), 1), cell(baseline, 1), cell(time_of(row, "serial"), 1),
       cell(time_of(row, "two-pieces"), 1), cell(time_of(row, "pieces"), 1),
       cell(time_of(row, "direct"), 1), cell(time_of(row, "gated"), 1),
       cell(baseline / median(best_of_ours(row).us), 3),
       worst > 1      ? "WRONG"
       : row.in_graph ? "graph"
                      : "right"});
}

nlohmann::json json_of(dist_row const& row) {
  dist_shape const& s = row.shape;
  nlohmann::json methods = nlohmann::json::array();
  for (dist_method const& m : row.methods)
    methods.push_back({{"name", m.name}, {"us", m.us}, {"error", m.error}});
  return {
      {"name", s.name},        {"operation", name(s.op)},      {"m", s.m}, {"n", s.n}, {"k", s.k},
      {"graph", row.in_graph}, {"methods", std::move(methods)}};
}

}  // namespace

exit_status run_dist_bench(dist_bench_options const& o) {
  check_json_file(o.json_path);
  std::vector<dist_shape> const shapes = chosen(o);
  if (!gpu().usable) throw no_usable_gpu(gpu().why_not);
  watchdog const guard(dist_limit_s);
  auto const lab = open_dist_lab(o, shapes);
  device_facts const facts = lab->facts();
  fmt::print(
      "{} x {}, driver {}, NCCL {}{}\n"
      "microseconds, median of rounds, the slower rank; ratio: NCCL + cuBLASLt over our fastest "
      "path\n{}\n",
      lab->ranks(), facts.card, facts.driver, lab->nccl(),
      facts.cublaslt.empty() ? "" : ", cuBLASLt " + facts.cublaslt, table_head(dist_columns));
  nlohmann::json rows = nlohmann::json::array();
  std::vector<double> large, small;
  bool right = true;
  double most_us = 0;  // of a group of one, beyond its GEMM
  for (dist_shape const& s : shapes) {
    dist_row const row = lab->measure(s);
    fmt::print("{}\n", dist_line(row));
    std::fflush(stdout);
    for (dist_method const& m : row.methods) right = right && m.error <= 1;
    double const ratio = time_of(row, "NCCL + cuBLASLt") / median(best_of_ours(row).us);
    if (lab->ranks() == 1)
      most_us = std::max(most_us, time_of(row, "pieces") - time_of(row, "GEMM alone"));
    else if (!std::isnan(ratio))
      (s.m >= 512 ? large : small).push_back(ratio);
    rows.push_back(json_of(row));
  }
  if (lab->ranks() == 1)
    fmt::print("a group of one GPU takes at most {:.1f} us more than the GEMM alone\n", most_us);
  if (!large.empty())
    fmt::print("M >= 512: geometric mean {:.3f}, smallest {:.3f}, of {} layers\n",
               geometric_mean(large), smallest(large), large.size());
  if (!small.empty())
    fmt::print("M < 512: geometric mean {:.3f}, smallest {:.3f}, of {} layers\n",
               geometric_mean(small), smallest(small), small.size());
  if (!o.json_path.empty())
    write_json(o.json_path, {{"schema", "tilewright.bench.dist/1"},
                             {"environment", environment_json(o.commit)},
                             {"device", to_json(facts)},
                             {"ranks", lab->ranks()},
                             {"nccl", lab->nccl()},
                             {"quick", o.quick},
                             {"rows", std::move(rows)}});
  return right ? exit_status::done : exit_status::wrong;
}

}  // namespace tw::bench
