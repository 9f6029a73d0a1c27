// SPDX-License-Identifier: Apache-2.0
// tune_ranks.cpp  The laboratory of `bench dist`, without a baseline.
#include "tools/command/tune/tune_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/dist/gemm.hpp"
#include "tilewright/dist/path_table.hpp"
#include "tools/measure/dist_lab.hpp"
#include "tools/measure/statistics.hpp"
#include "tools/measure/watchdog.hpp"
#include "tools/report/json_output.hpp"
#include "tools/request/device_choice.hpp"

namespace tw {

exit_status tune_ranks(std::vector<gemm_size> const& sizes, dist::operation op, int ranks,
                       bool as_json) {
  std::vector<bench::dist_shape> shapes;
  for (gemm_size const& s : sizes)
    shapes.push_back({fmt::format("{}x{}x{}", s.m, s.n, s.k), op, s.m, s.n, s.k});
  if (!gpu().usable) throw no_usable_gpu(gpu().why_not);
  constexpr unsigned limit_s = 3600;
  bench::watchdog const guard(limit_s);
  bench::dist_bench_options o;
  o.ranks = ranks, o.baseline = "none";
  auto const lab = bench::open_dist_lab(o, shapes);
  nlohmann::json all = nlohmann::json::array();
  bool right = true;
  for (bench::dist_shape const& s : shapes) {
    bench::dist_row const row = lab->measure(s);
    std::vector<dist::stored_path> right_ones;
    for (bench::dist_method const& m : row.methods) {
      auto const* const found =
          std::find(std::begin(dist::path_names), std::end(dist::path_names), m.name);
      if (found == std::end(dist::path_names)) continue;
      right = right && m.error <= 1;
      if (m.error <= 1)
        right_ones.push_back(
            {static_cast<dist::path>(found - std::begin(dist::path_names)), bench::median(m.us)});
    }
    if (right_ones.empty()) continue;
    dist::stored_path const fastest =
        *std::ranges::min_element(right_ones, {}, &dist::stored_path::us);
    bool const gathers = !splits_k(op);
    dist::path_key const key{op, lab->ranks(), elem::bf16, s.m, gathers ? s.k : s.n, gpu().name};
    nlohmann::json paths = nlohmann::json::object();
    for (dist::stored_path const& x : right_ones) {
      store_path(key, x.via, x.us);
      paths[name(x.via)] = x.us;
    }
    all.push_back({{"name", s.name},
                   {"path", name(fastest.via)},
                   {"us", fastest.us},
                   {"paths", std::move(paths)}});
    if (!as_json)
      fmt::print("{:<24} {:<14} {} GPUs   {:<10} {:.1f} us\n", s.name, name(op), lab->ranks(),
                 name(fastest.via), fastest.us);
  }
  if (as_json)
    print_json("tilewright.tune.ranks/1", {{"op", name(op)},
                                           {"ranks", lab->ranks()},
                                           {"file", dist::path_table_file()},
                                           {"tuned", std::move(all)}});
  return right ? exit_status::done : exit_status::wrong;
}

}  // namespace tw
