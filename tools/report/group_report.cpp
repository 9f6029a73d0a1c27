// SPDX-License-Identifier: Apache-2.0
// group_report.cpp  The time of each path, its parts and its limit.
#include "tools/report/group_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include <nlohmann/json.hpp>

namespace tw {
namespace {

/// "all-gather + GEMM", "GEMM + reduce-scatter".
std::string operation_text(dist::operation op) {
  return splits_k(op) ? fmt::format("GEMM + {}", name(op)) : fmt::format("{} + GEMM", name(op));
}

std::string ranks_text(dist::group_plan const& g) {
  std::string text = fmt::format("{} {}", g.ranks, g.ranks == 1 ? "GPU" : "GPUs");
  if (g.hosts > 1) text += fmt::format(" on {} hosts", g.hosts);
  return text;
}

/// The acts of rank 0; all ranks have equal numbers of rows.
std::vector<std::string> steps_of(dist::group_plan const& g) {
  if (g.ranks > dist::max_ranks) return {};
  return dist::steps_in_words(g.op, g.chosen, dist::shards::even(g.problem.m, g.ranks), 0,
                              !g.peers_write);
}

std::string us_text(double us) {
  return std::isnan(us) ? std::string("unknown") : fmt::format("{:.1f}", us);
}

}  // namespace

std::string group_plan_text(dist::group_plan const& g, device const& dev) {
  gemm_problem const& p = g.problem;
  bool const split = splits_k(g.op);
  std::string text =
      fmt::format("{}, {} like {}\nGEMM of a GPU: M = {}, N = {}, K = {}, {}\n\n",
                  operation_text(g.op), ranks_text(g), dev.name, p.m, p.n, p.k, g.whole.kernel);
  text += fmt::format(
      "GEMM      {:.1f} us in one launch; {:.1f} us of {} rows, {:.1f} us of the "
      "other rows\n",
      g.gemm_us, g.own_us, (p.m + g.ranks - 1) / g.ranks, g.rest_us);
  text += fmt::format("exchange  {} us: {:.1f} MB to each GPU in {} copies", us_text(g.exchange_us),
                      g.bytes / 1e6, g.ranks - 1);
  if (g.hosts > 1) text += fmt::format(", {:.1f} MB over the network", g.over_network_bytes / 1e6);
  if (g.later_us > 0) text += fmt::format("; {:.1f} us more for the results", g.later_us);
  text += "\n\npath             us   measured   limit\n";
  for (dist::path_time const& t : g.paths)
    text += fmt::format("{:<11} {:>7}   {:>8}   {}{}\n", name(t.via), us_text(t.us),
                        t.measured_us ? us_text(*t.measured_us) : "-", t.limit,
                        t.via == g.chosen ? "   <- chosen" : "");
  if (g.gated)
    text += fmt::format("\ngated     {}, {:.1f} us on one SM less\n", g.gated->kernel,
                        g.gated->predicted_us);
  if (!g.no_gate.empty()) text += fmt::format("{}no gate   {}\n", g.gated ? "" : "\n", g.no_gate);
  text += fmt::format("\n{}: {}\n", name(g.chosen), g.why);
  for (std::string const& step : steps_of(g)) text += "  " + step + "\n";
  if (g.ranks > 1 && g.peers_write)
    text += fmt::format("From {} of a GPU = {:.0f} on the GEMM takes as long as the exchange.\n",
                        split ? "K" : "N", g.hidden_from);
  if (g.hosts > 1) text += "On paper: no operation has run on more than one host.\n";
  return text;
}

nlohmann::ordered_json group_plan_json(dist::group_plan const& g, device const& dev) {
  using json = nlohmann::ordered_json;
  json paths = json::array();
  for (dist::path_time const& t : g.paths)
    paths.push_back({{"path", name(t.via)},
                     {"us", t.us},
                     {"measured_us", t.measured_us ? json(*t.measured_us) : json(nullptr)},
                     {"limit", t.limit}});
  return {{"device", dev.id},
          {"device_name", dev.name},
          {"op", name(g.op)},
          {"ranks", g.ranks},
          {"hosts", g.hosts},
          {"m", g.problem.m},
          {"n", g.problem.n},
          {"k", g.problem.k},
          {"kernel", g.whole.kernel},
          {"gemm_us", g.gemm_us},
          {"shard_us", g.own_us},
          {"rest_us", g.rest_us},
          {"exchange_us", g.exchange_us},
          {"later_us", g.later_us},
          {"bytes", g.bytes},
          {"network_bytes", g.over_network_bytes},
          {"hidden_from", g.hidden_from},
          {"paths", paths},
          {"gated_kernel", g.gated ? g.gated->kernel : ""},
          {"no_gate", g.no_gate},
          {"peers_write", g.peers_write},
          {"chosen", name(g.chosen)},
          {"steps", steps_of(g)},
          {"why", g.why}};
}

}  // namespace tw
