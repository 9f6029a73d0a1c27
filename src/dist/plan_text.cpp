// SPDX-License-Identifier: Apache-2.0
// plan_text.cpp  A plan over several GPUs in words: the time of each path, its parts and its limit.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "tilewright/dist/plan.hpp"
#include "tilewright/problem/accept.hpp"

namespace tw::dist {
namespace {

/// "all-gather + GEMM", "GEMM + reduce-scatter".
std::string operation_text(operation op) {
  return splits_k(op) ? fmt::format("GEMM + {}", name(op)) : fmt::format("{} + GEMM", name(op));
}

std::string ranks_text(group_plan const& g) {
  std::string text = fmt::format("{} {}", g.ranks, g.ranks == 1 ? "GPU" : "GPUs");
  if (g.hosts > 1) text += fmt::format(" on {} hosts", g.hosts);
  return text;
}

/// The rank whose steps follow.
std::string rank_text(group_plan const& g) {
  std::vector<std::int64_t> rows;
  for (int r = 0; r < g.ranks; ++r) rows.push_back(g.rows.of(r).size);
  return fmt::format("Steps of rank {} of {}, which have {} rows:\n", g.rank, g.ranks,
                     fmt::join(rows, ", "));
}

std::string us_text(double us) {
  return std::isnan(us) ? std::string("unknown") : fmt::format("{:.1f}", us);
}

}  // namespace

std::string to_text(group_plan const& g) {
  gemm_problem const& p = g.problem;
  bool const split = splits_k(g.op);
  std::string text = fmt::format("{}, {} like {}\nGEMM of a GPU: M = {}, N = {}, K = {}, {}\n\n",
                                 operation_text(g.op), ranks_text(g), g.device_name, p.m, p.n, p.k,
                                 computes_nothing(p) ? "no kernel" : g.whole.kernel);
  text += fmt::format(
      "GEMM      {:.1f} us in one launch; {:.1f} us of {} rows, {:.1f} us of the "
      "other rows\n",
      g.gemm_us, g.own_us, (p.m + g.ranks - 1) / g.ranks, g.rest_us);
  text += fmt::format("exchange  {} us: {:.1f} MB to each GPU in {} copies; {} us by NCCL",
                      us_text(g.exchange_us), g.bytes / 1e6, g.ranks - 1, us_text(g.nccl_us));
  if (g.hosts > 1) text += fmt::format(", {:.1f} MB over the network", g.over_network_bytes / 1e6);
  if (g.later_us > 0)
    text += fmt::format(
        "\nnot hidden {:.1f} us: launches{}{}", g.later_us,
        g.addition_us > 0 ? fmt::format(", the addition of {:.1f} us", g.addition_us) : "",
        g.op == operation::gemm_all_reduce ? ", the exchange of the results" : "");
  text += "\n\npath             us   measured   limit\n";
  for (path_time const& t : g.paths)
    text += fmt::format("{:<11} {:>7}   {:>8}   {}{}\n", name(t.via), us_text(t.us),
                        t.measured_us ? us_text(*t.measured_us) : "-", t.limit,
                        t.via == g.chosen ? "   <- chosen" : "");
  if (g.gated)
    text += fmt::format("\ngated     {}, {:.1f} us on one SM less\n", g.gated->kernel,
                        g.gated->predicted_us);
  if (!g.no_gate.empty()) text += fmt::format("{}no gate   {}\n", g.gated ? "" : "\n", g.no_gate);
  text += fmt::format("\n{}: {}\n", name(g.chosen), g.why);
  if (g.of_group) text += rank_text(g);
  for (std::string const& step : g.steps) text += "  " + step + "\n";
  if (g.ranks > 1 && g.peers_write && g.hidden_from > 0)
    text += fmt::format("From {} of a GPU = {:.0f} on the GEMM takes as long as the exchange.\n",
                        split ? "K" : "N", g.hidden_from);
  if (g.hosts > 1) text += "On paper: no operation has run on more than one host.\n";
  return text;
}

}  // namespace tw::dist
