// SPDX-License-Identifier: Apache-2.0
// rank_mutants.cpp  The mutants of ranks on several devices.
#include <memory>

#include "tilewright/arch/emu/devices.hpp"
#include "tools/check/mutants/mutants.hpp"
#include "tools/check/mutants/rank_kernels.hpp"
#include "tools/check/mutants/reported_run.hpp"

namespace tw::mutants {

namespace {

struct rank_memory {
  alignas(64) std::uint32_t own[64], received[64], sum[64];
  alignas(64) std::uint64_t flag;
};

outcome run_push(int which, emu::options const& o) {
  auto const ranks = std::make_unique<rank_memory[]>(2);
  auto const what = static_cast<rank_mutation>(which);
  bool const window = what != rank_mutation::outside_of_the_window;
  rank_params p[2];
  emu::device_layout layout;
  for (int r = 0; r < 2; ++r) {
    rank_memory &mine = ranks[r], &peer = ranks[1 - r];
    for (std::uint32_t i = 0; i < 64; ++i) mine.own[i] = 100 * static_cast<std::uint32_t>(r) + i;
    p[r] = {mine.own, peer.received, &peer.flag, &mine.flag, mine.received, mine.sum, what};
    layout.memory.push_back({r, mine.own, sizeof mine.own});
    layout.memory.push_back({r, mine.received, sizeof mine.received, window});
    layout.memory.push_back({r, mine.sum, sizeof mine.sum});
    layout.memory.push_back({r, &mine.flag, sizeof mine.flag, true});
  }
  outcome out;
  out.diagnoses = reported(o, [&](emu::options const& with) {
                    emu::launch_on_devices<rank_push>(1, p, with, layout);
                  }).diagnoses;
  if (!out.diagnoses.empty()) return out;
  for (int r = 0; r < 2; ++r)
    for (std::uint32_t i = 0; i < 64; ++i) out.wrong_elements += ranks[r].sum[i] != 100 + 2 * i;
  return out;
}

struct gate_memory {
  alignas(64) std::uint32_t source[256], received[256], d[256];
  alignas(64) std::uint64_t outgoing, flag;
};

outcome run_gate(int which, emu::options const& o) {
  auto const m = std::make_unique<gate_memory>();
  auto const what = static_cast<rank_mutation>(which);
  for (std::uint32_t i = 0; i < 256; ++i) m->source[i] = i + 1;
  m->outgoing = 1;
  gate_params const p[1] = {{&m->flag, m->received, m->d, what}};
  emu::device_layout layout;
  layout.memory = {{0, m->received, sizeof m->received, true}, {0, &m->flag, sizeof m->flag, true}};
  emu::copy_queue queue;
  queue.device = 1;
  queue.copies.push_back({m->source, m->received, sizeof m->received});
  queue.copies.push_back({&m->outgoing, &m->flag, sizeof m->flag, true});
  if (what == rank_mutation::next_call_too_early)
    queue.copies.push_back({m->source, m->received, sizeof m->received});
  layout.queues = {queue};
  outcome out;
  out.diagnoses = reported(o, [&](emu::options const& with) {
                    emu::launch_on_devices<rank_gate>(1, p, with, layout);
                  }).diagnoses;
  if (!out.diagnoses.empty()) return out;
  for (std::uint32_t i = 0; i < 256; ++i) out.wrong_elements += m->d[i] != i + 1;
  return out;
}

}  // namespace

std::span<mutant const> rank_mutants() {
  using enum rank_mutation;
  using codes = std::vector<std::string_view>;
  static auto const push = [](rank_mutation what, std::string_view name, std::string_view change,
                              codes c) {
    return mutant{"rank_push", name, change, std::move(c), run_push, static_cast<int>(what)};
  };
  static auto const gate = [](rank_mutation what, std::string_view name, std::string_view change,
                              codes c) {
    return mutant{"rank_gate", name, change, std::move(c), run_gate, static_cast<int>(what)};
  };
  static std::vector<mutant> const list{
      push(none, "", "", {}),
      push(flag_without_release, "flag-without-release",
           "the flag in the peer's memory is stored without release", {"E0042"}),
      push(release_of_gpu_scope, "release-of-gpu-scope", "the release ends at the device",
           {"E0130"}),
      push(flag_without_acquire, "flag-without-acquire", "the flag is read without acquire",
           {"E0042"}),
      push(acquire_of_gpu_scope, "acquire-of-gpu-scope", "the acquire ends at the device",
           {"E0130"}),
      push(not_awaited, "not-awaited", "no wait for the peer's flag", {"E0042", "E0131"}),
      push(flag_before_the_stores, "flag-before-the-stores",
           "no cta_sync between the stores of all threads and the flag", {"E0042", "E0131"}),
      push(read_before_the_flag, "read-before-the-flag",
           "no cta_sync between the wait of one thread and the reads of all", {"E0042", "E0131"}),
      push(buffer_reused, "buffer-reused",
           "the buffer is written again before its reader has ended", {"E0131", "E0042"}),
      push(flag_never_set, "flag-never-set", "no rank sets the flag of its peer", {"E0133"}),
      push(outside_of_the_window, "outside-of-the-window",
           "the receive buffer is not in the window that peers address", {"E0132"}),
      gate(none, "", "", {}),
      gate(no_proxy_fence, "no-proxy-fence",
           "no fence_proxy_async_global between the acquire and the TMA load", {"E0044"}),
      gate(flag_without_acquire, "flag-without-acquire", "the gate's load is relaxed", {"E0042"}),
      gate(not_awaited, "not-awaited", "no wait at the gate", {"E0042", "E0131"}),
      gate(next_call_too_early, "next-call-too-early",
           "the copies of the next call begin before this call has ended", {"E0131", "E0042"}),
  };
  return list;
}

}  // namespace tw::mutants
