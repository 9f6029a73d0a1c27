// SPDX-License-Identifier: Apache-2.0
// launch_mutants.cpp  The mutants of cluster launch control.
#include "tools/check/mutants/launch_kernels.hpp"
#include "tools/check/mutants/mutants.hpp"
#include "tools/check/mutants/reported_run.hpp"

namespace tw::mutants {

namespace {

outcome run_launches(int which, emu::options const& given) {
  constexpr int ctas = 10 * cancelled_work::cluster;
  std::vector<int> done(ctas);
  emu::options o = given;
  o.live_clusters = 2;
  outcome out;
  out.diagnoses =
      reported_run(cancelled_work{}, ctas, {done.data(), static_cast<launch_mutation>(which)}, o)
          .diagnoses;
  if (!out.diagnoses.empty()) return out;
  for (int const times : done) out.wrong_elements += times != 1;
  return out;
}

}  // namespace

std::span<mutant const> launch_mutants() {
  using enum launch_mutation;
  static auto const row = [](launch_mutation what, std::string_view name, std::string_view change,
                             std::vector<std::string_view> codes) {
    return mutant{"cancelled_work", name,         change,
                  std::move(codes), run_launches, static_cast<int>(what)};
  };
  static std::vector<mutant> const list{
      row(none, "", "", {}),
      row(answer_not_awaited, "answer-not-awaited", "the answer is read without a wait for it",
          {"E0024", "E0026", "E0029"}),
      row(request_after_failure, "request-after-failure",
          "a cluster requests another one after a failed answer", {"E0120"}),
      row(bytes_not_expected, "bytes-not-expected", "no barrier expects the 16 bytes of an answer",
          {"E0015", "E0026", "E0029"}),
      row(leader_expects_alone, "leader-expects-alone",
          "the barrier of the CTA that requests expects them alone", {"E0015", "E0026", "E0029"}),
      row(no_fence_before_request, "no-fence-before-request",
          "no fence_proxy_async between the reading of an answer and the next request", {"E0025"}),
      row(no_barrier_before_request, "no-barrier-before-request",
          "no cluster_sync between the reading of an answer and the next request", {"E0024"}),
      row(cta_of_failed_answer, "cta-of-failed-answer", "the CTA of a failed answer is read",
          {"E0121"}),
  };
  return list;
}

}  // namespace tw::mutants
