// SPDX-License-Identifier: Apache-2.0
// group_report.cpp  The time of each path, its parts and its limit.
#include "tools/report/group_report.hpp"

#include <nlohmann/json.hpp>

namespace tw {

nlohmann::ordered_json group_plan_json(dist::group_plan const& g) {
  using json = nlohmann::ordered_json;
  json paths = json::array();
  for (dist::path_time const& t : g.paths)
    paths.push_back({{"path", name(t.via)},
                     {"us", t.us},
                     {"measured_us", t.measured_us ? json(*t.measured_us) : json(nullptr)},
                     {"limit", t.limit}});
  json rows = json::array();
  for (int i = 0; i < g.rows.ranks(); ++i) rows.push_back(g.rows.of(i).size);
  return {{"device", g.device_id},
          {"device_name", g.device_name},
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
          {"nccl_us", g.nccl_us},
          {"addition_us", g.addition_us},
          {"later_us", g.later_us},
          {"bytes", g.bytes},
          {"network_bytes", g.over_network_bytes},
          {"hidden_from", g.hidden_from},
          {"paths", paths},
          {"gated_kernel", g.gated ? g.gated->kernel : ""},
          {"no_gate", g.no_gate},
          {"peers_write", g.peers_write},
          {"chosen", name(g.chosen)},
          {"by_nccl", g.by_nccl},
          {"rows", rows},
          {"rank", g.rank},
          {"steps", g.steps},
          {"why", g.why}};
}

}  // namespace tw
