// SPDX-License-Identifier: Apache-2.0
// ranks_in_time.cpp  Plays the acts of all ranks, each after the acts that it waits for.
#include "tools/command/gemm/ranks_in_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>

namespace tw {
namespace {

using dist::act_kind;
using dist::recorded_act;

using flag_key = std::tuple<rank_flag, int, int>;  // in the arena of a rank, of a rank

/// A rank's place in its acts, and the ends of its launches and of its copies so far.
struct playing_rank {
  std::size_t next = 0, next_gate = 0;
  double launches = 0, copies = 0;
  bool in_launch = false;
  std::optional<std::size_t> stores;  // the block of the launch's stores
  std::vector<flag_key> stored;       // flags that the launch sets when it has stored to all
};

class call_replay {
 public:
  call_replay(std::vector<dist::recorded_acts> const& of_rank, call_rates const& rates)
      : recorded_(of_rank),
        rates_(rates),
        ranks_(of_rank.size()) {}

  std::vector<call_block> blocks() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int r = 0; r < static_cast<int>(ranks_.size()); ++r)
        while (play_next(r)) moved = true;
    }
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      if (ranks_[r].next < recorded_[r].acts.size())
        throw std::logic_error(
            fmt::format("recorded acts of rank {}: a wait without the flag that ended it", r));
    return blocks_;
  }

 private:
  playing_rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  void launch(int rank, call_act act, double cycles, dist::range rows = {},
              std::vector<int> peers = {}) {
    double& now = at(rank).launches;
    if (cycles > 0) blocks_.push_back({rank, act, false, now, now + cycles, rows, peers});
    now += std::max(0.0, cycles);
  }

  /// The end of the copies before these flags; nothing: one of them is not set yet.
  std::optional<double> end_of_flags(int rank, rank_flag kind, std::vector<int> const& peers) {
    double end = 0;
    for (int const peer : peers) {
      auto const it = flags_.find({kind, rank, peer});
      if (it == flags_.end()) return {};
      end = std::max(end, it->second);
    }
    return end;
  }
  bool wait(int rank, rank_flag kind, std::vector<int> const& peers) {
    auto const end = end_of_flags(rank, kind, peers);
    if (end) launch(rank, call_act::wait, *end - at(rank).launches, {}, peers);
    return end.has_value();
  }

  /// Tiles of the rank's rows, then of each peer's, after they have arrived.
  bool multiply_by_gate(int rank, recorded_act const& act) {
    std::size_t& gate = at(rank).next_gate;
    for (; gate < act.by_gate.size(); ++gate) {
      auto const& [from, rows] = act.by_gate[gate];
      if (from >= 0 && !wait(rank, rank_flag::sent, {from})) return false;
      launch(rank, call_act::gemm,
             static_cast<double>(act.cycles) * static_cast<double>(rows.size) /
                 static_cast<double>(act.rows.size),
             rows);
    }
    gate = 0;
    return true;
  }

  /// Stores of the launch that exchanges: one block.
  void store(int rank, double cycles, std::vector<int> const& peers) {
    playing_rank& r = at(rank);
    if (!r.stores) {
      r.stores = blocks_.size();
      launch(rank, call_act::copy, rates_.direct);
    }
    call_block& b = blocks_[*r.stores];
    b.end = r.launches += cycles;
    b.peers.insert(b.peers.end(), peers.begin(), peers.end());
  }
  void send(int rank, recorded_act const& act) {
    playing_rank& r = at(rank);
    auto const bytes = static_cast<double>(act.bytes);
    if (r.in_launch) return store(rank, bytes / rates_.direct_bytes, act.peers);
    double const end = r.copies + rates_.copy + bytes / rates_.copied_bytes;
    blocks_.push_back({rank, call_act::copy, true, r.copies, end, {}, act.peers});
    r.copies = end;
  }

  /// Is there a next act, and has it ended?
  bool play_next(int rank) {
    playing_rank& r = at(rank);
    std::vector<recorded_act> const& acts = recorded_[static_cast<std::size_t>(rank)].acts;
    if (r.next == acts.size()) return false;
    recorded_act const& act = acts[r.next];
    auto const bytes = static_cast<double>(act.bytes);
    switch (act.is) {
      case act_kind::gemm:
        if (act.by_gate.empty())
          launch(rank, call_act::gemm, static_cast<double>(act.cycles), act.rows);
        else if (!multiply_by_gate(rank, act))
          return false;
        break;
      case act_kind::add:
        launch(rank, call_act::add, rates_.add + bytes / rates_.added_bytes);
        break;
      case act_kind::copy:  // read and written
        if (r.in_launch)
          store(rank, 2 * bytes / rates_.added_bytes, {});
        else
          launch(rank, call_act::copy, rates_.copy + 2 * bytes / rates_.added_bytes);
        break;
      case act_kind::results: r.copies = std::max(r.copies, r.launches); break;
      case act_kind::send: send(rank, act); break;
      case act_kind::set:
        if (r.in_launch)
          r.stored.push_back({act.flag, act.peers[0], rank});
        else
          flags_[{act.flag, act.peers[0], rank}] = r.copies;
        break;
      case act_kind::wait:
        for (flag_key const& stored : r.stored) flags_[stored] = r.launches;
        r.stored.clear();
        if (!wait(rank, act.flag, act.peers)) return false;
        break;
      case act_kind::launch: r.in_launch = true, r.stores.reset(); break;
      case act_kind::launched: r.in_launch = false; break;
    }
    ++r.next;
    return true;
  }

  std::vector<dist::recorded_acts> const& recorded_;
  call_rates rates_;
  std::vector<playing_rank> ranks_;
  std::map<flag_key, double> flags_;  // when they are set
  std::vector<call_block> blocks_;
};

}  // namespace

call_rates rates_of(device const& whole, int sms, dist::link_rates const& links) {
  double const us = whole.max_clock_mhz;  // cycles of a microsecond
  double const part = static_cast<double>(sms) / whole.sm_count / us;
  return {links.copy_us * us,   links.bytes_per_us * part,
          links.direct_us * us, links.direct_bytes_per_us * part,
          links.add_us * us,    links.add_bytes_per_us * part};
}

std::vector<call_block> blocks_in_time(std::vector<dist::recorded_acts> const& of_rank,
                                       call_rates const& rates) {
  return call_replay(of_rank, rates).blocks();
}

double without_overlap(std::vector<call_block> const& blocks, int ranks) {
  std::vector<double> sums(static_cast<std::size_t>(ranks));
  for (call_block const& b : blocks)
    if (b.act != call_act::wait) sums[static_cast<std::size_t>(b.rank)] += b.end - b.begin;
  return *std::ranges::max_element(sums);
}

std::string ranks_svg(ranks_picture const& p, std::vector<dist::recorded_acts> const& of_rank) {
  std::vector<call_block> const blocks = blocks_in_time(of_rank, p.rates);
  auto const ranks = static_cast<int>(of_rank.size());
  double const sum = without_overlap(blocks, ranks);
  bool const stores = p.via == dist::path::direct;  // no copy engine is used
  bool cut_off = false;
  call_picture out;
  out.ranks = ranks, out.unit = "cycles", out.end = sum;
  for (int r = 0; r < ranks; ++r) {
    cut_off = cut_off || !of_rank[static_cast<std::size_t>(r)].cut_off.empty();
    if (std::ranges::any_of(blocks,
                            [&](call_block const& b) { return b.rank == r && b.by_engine; }))
      out.engines.push_back(r);
  }
  out.heading = {
      fmt::format(
          "{}{}{}, M = {}, N = {}, K = {}: the acts of {} emulated ranks, in cycles of a model "
          "(docs/several-gpus.md).",
          splits_k(p.op) ? "GEMM + " : "", name(p.op), splits_k(p.op) ? "" : " + GEMM", p.m, p.n,
          p.k, ranks),
      fmt::format(
          "A rank is {} of the {} SMs of an {}, with as large a part of its links: {} cycles "
          "for a {}, and {:.2f} bytes a cycle.",
          p.sms, p.of_sms, p.device_name, thousands(stores ? p.rates.direct : p.rates.copy),
          stores ? "launch that stores" : "copy",
          stores ? p.rates.direct_bytes : p.rates.copied_bytes),
      "The axis is as long as a rank would take without overlap. No measurement."};
  if (cut_off)
    out.heading.push_back("The recording of a GEMM was cut off: its block is too short.");
  out.panels.push_back({fmt::format("{}: {} cycles, {} without overlap", name(p.via),
                                    thousands(end_of(blocks)), thousands(sum)),
                        blocks});
  return call_svg(out);
}

}  // namespace tw
