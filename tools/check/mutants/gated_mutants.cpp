// SPDX-License-Identifier: Apache-2.0
// gated_mutants.cpp  The GEMM with a gate before its loads, and its mutants.
#include "tools/check/mutants/gated_gemm.hpp"
#include "tools/check/mutants/mutants.hpp"
#include "tools/check/mutants/reported_run.hpp"

namespace tw::mutants {

namespace {

struct no_wait : gate_steps {
  TW_DEVICE static bool wait(rank_wait const&, int) { return true; }
};
struct no_acquire : gate_steps {
  TW_DEVICE static bool wait(rank_wait const& w, int rank) {
    while (!epoch_reached(epoch_of(load_relaxed<scope::sys>(&w.flags[rank * w.stride])),
                          epoch_of(w.mine)))
      backoff();
    return true;
  }
};
struct acquire_of_gpu_scope : gate_steps {
  TW_DEVICE static bool wait(rank_wait const& w, int rank) {
    while (!epoch_reached(epoch_of(load_acquire<scope::gpu>(&w.flags[rank * w.stride])),
                          epoch_of(w.mine)))
      backoff();
    return true;
  }
};
struct no_fence : gate_steps {
  TW_DEVICE static void let_tma_see() {}
};

template <class Steps, bool NextCall = false>
outcome run(int, emu::options const& o) {
  gated_product p({70, 0, 122});
  p.next_call = NextCall;
  outcome out;
  out.diagnoses =
      reported(o, [&](emu::options const& with) { p.run<Steps>(1, 7, with); }).diagnoses;
  if (out.diagnoses.empty()) out.wrong_elements = p.wrong_elements();
  return out;
}

}  // namespace

std::span<mutant const> gated_mutants() {
  static std::vector<mutant> const list{
      {"gated_gemm", "", "", {}, run<gate_steps>},
      {"gated_gemm", "no-wait", "no wait at the gate", {"E0042", "E0131"}, run<no_wait>},
      {"gated_gemm", "no-acquire", "the gate's load is relaxed", {"E0042"}, run<no_acquire>},
      {"gated_gemm",
       "acquire-of-gpu-scope",
       "the acquire at the gate ends at the device",
       {"E0130"},
       run<acquire_of_gpu_scope>},
      {"gated_gemm",
       "no-proxy-fence",
       "no fence_proxy_async_global after the gate",
       {"E0044"},
       run<no_fence>},
      {"gated_gemm",
       "next-call-too-early",
       "the copies of the next call into the same buffer begin before this call has ended",
       {"E0131", "E0042"},
       run<gate_steps, true>},
  };
  return list;
}

}  // namespace tw::mutants
