// SPDX-License-Identifier: Apache-2.0
// gemm_json.hpp  A measured shape as a JSON record ("tilewright.bench.gemm/1").
#pragma once

#include <nlohmann/json.hpp>

#include "tools/command/bench/samples_json.hpp"
#include "tools/measure/result.hpp"
#include "tools/measure/support.hpp"

namespace tw::bench {

inline char const* to_text(outcome o) {
  return o == outcome::measured ? "measured" : o == outcome::unsupported ? "unsupported" : "failed";
}

inline nlohmann::json to_json(check_result const& c) {
  return {{"passed", c.passed},
          {"whole", c.whole},
          {"compared", c.compared},
          {"unwritten", c.unwritten},
          {"largest_error", c.largest_error},
          {"error_over_bound", c.error_over_bound},
          {"error_over_expected", c.error_over_expected},
          {"relative_rms", c.relative_rms},
          {"scales", c.scales},
          {"wrong_scales", c.wrong_scales},
          {"reference", "float64 sums of the operands, on the device"}};
}

inline nlohmann::json to_json(shape_result const& r, int sms) {
  auto const& s = r.shape;
  nlohmann::json out = {{"name", s.name},
                        {"category", s.category},
                        {"m", s.m},
                        {"n", s.n},
                        {"k", s.k},
                        {"dtype", s.dtype},
                        {"layout", s.layout},
                        {"batch", s.batch},
                        {"state", to_text(r.state)}};
  if (s.groups.count > 0) {
    out["groups"] = s.groups.count;
    out["group_axis"] = group_axis_names[static_cast<int>(s.groups.axis)];
    if (s.groups.sizes.empty())
      out["group_pattern"] = group_pattern_names[static_cast<int>(s.groups.pattern)];
    else
      out["group_m"] = s.groups.sizes;
  }
  if (!s.weights.empty()) out["weights"] = s.weights;
  if (!s.epilogue.empty()) out["epilogue"] = s.epilogue;
  if (!s.scale_d.text.empty()) out["scale_d"] = s.scale_d.text;
  if (!r.reason.empty()) out["reason"] = r.reason;
  if (r.state == outcome::unsupported) return out;

  work const w = {flop(s), compulsory_bytes(s), sms * 4096.0};
  out["flop"] = w.flop;
  out["compulsory_bytes"] = w.bytes;
  out["why"] = r.why;
  out["hints"] = r.hints;
  out["buffer_sets"] = r.buffer_sets;
  out["cycle_bytes"] = r.cycle_bytes;
  out["providers"] = nlohmann::json::array();
  for (auto const& p : r.providers) {
    nlohmann::json one = {
        {"provider", p.provider}, {"kernel", p.kernel}, {"check", to_json(p.check)}};
    if (!p.same_as.empty()) one["same_as"] = p.same_as;
    if (p.same_as.empty()) one["repeatable"] = p.repeatable;
    if (!p.bursts.empty()) one["burst"] = samples_json(p.bursts, w);
    if (!p.windows.empty()) one["sustained"] = samples_json(p.windows, w);
    out["providers"].push_back(std::move(one));
  }
  for (char const* baseline : {"cublaslt_heuristic", "cublaslt_tuned", "deepgemm"}) {
    if (r.find(baseline) == nullptr) continue;
    out["ratio"]["burst"][baseline] = speed_ratio(r, baseline, &provider_result::bursts);
    out["ratio"]["sustained"][baseline] = speed_ratio(r, baseline, &provider_result::windows);
  }
  for (auto const& t : r.tuning) out["tuning"].push_back({{"kernel", t.kernel}, {"us", t.us}});
  for (auto const& t : r.deepgemm) out["deepgemm"].push_back({{"kernel", t.kernel}, {"us", t.us}});
  for (auto const& p : r.plans)
    out["plans"].push_back({{"kernel", p.kernel},
                            {"swapped", p.swapped},
                            {"clusters", p.clusters},
                            {"shared_tiles", p.split_k_tiles},
                            {"sharers", p.split_k_clusters},
                            {"predicted_us", p.predicted_us},
                            {"us", p.us}});
  return out;
}

}  // namespace tw::bench
