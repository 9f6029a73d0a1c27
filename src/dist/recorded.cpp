// SPDX-License-Identifier: Apache-2.0
// recorded.cpp  Hands each act on to a rank in host memory, and writes it down.
#include "dist/recorded.hpp"

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/dist/schedule.hpp"

namespace tw::dist {
namespace {

/// The row of a matrix at an address.
std::int64_t row_at(matrix_desc const& m, void const* base, void const* at) {
  auto const bytes = static_cast<std::byte const*>(at) - static_cast<std::byte const*>(base);
  return m.ord == order::row_major ? bytes / m.pitch_bytes() : bytes * 8 / size_bits(m.type);
}

class recorded_rank final : public group::membership {
 public:
  recorded_rank(group const& of, operation op, gemm_slice const& call, recorded_acts& to)
      : membership(of.rank(), of.ranks(), of.state().options()),
        group_(of),
        of_(of.state()),
        op_(op),
        call_(call),
        to_(to) {}

  bool on_gpu() const override { return of_.on_gpu(); }
  std::shared_ptr<gemm_plan const> plan(gemm_problem const& p, gemm_operands const& o,
                                        call_options const& how) const override {
    return of_.plan(p, o, how);
  }
  std::shared_ptr<gemm_plan const> plan_gated(gemm_problem const& p, gemm_operands const& o,
                                              call_options const& how) const override {
    return of_.plan_gated(p, o, how);
  }
  void begin(std::string const& problem, call_options const& how, beginning by) override {
    call_options mine = how;
    mine.emulator.record = &trace_;
    of_.begin(problem, mine, by);
    count_call();
  }
  void end(std::string const& failed) override { of_.end(failed); }
  void tell_refusal(std::uint64_t refusals, std::string const& why) override {
    of_.tell_refusal(refusals, why);
  }
  std::byte* buffer(int rank) const override { return of_.buffer(rank); }
  std::byte* next_buffer(int rank) const override { return of_.next_buffer(rank); }

  void multiply(gemm_plan const& plan, gemm_operands const& o) override {
    of_.multiply(plan, o);
    write_gemm(plan, o);
  }
  void multiply_gated(gemm_plan const& plan, gemm_operands const& o, gate_form gate) override {
    of_.multiply_gated(plan, o, gate);
    recorded_act& act = write_gemm(plan, o);
    for (int i = 0; i < ranks(); ++i) {
      int const from = sender(ranks(), rank(), i);
      auto const at = static_cast<std::size_t>(from);
      std::int64_t const first = gate.first_row[at];
      act.by_gate.push_back({i == 0 ? -1 : from, {first, gate.first_row[at + 1] - first}});
    }
  }
  void add(add_partials_params const& p) override {
    of_.add(p);
    std::int64_t const d_cols = p.gated ? p.cols / 2 : p.cols;
    std::int64_t const bits =
        std::int64_t{p.count} * p.cols * size_bits(p.type) + d_cols * size_bits(p.d.type);
    write({.is = act_kind::add, .bytes = p.rows * bits / 8});
  }
  void copy(void const* from, void* to, lines const& l) override {
    of_.copy(from, to, l);
    if (l.count * l.bytes > 0) write({.is = act_kind::copy, .bytes = l.count * l.bytes});
  }
  void results_are_there() override {
    of_.results_are_there();
    write({act_kind::results});
  }
  void send(void const* from, std::byte* to, lines const& l) override {
    of_.send(from, to, l);
    if (l.count * l.bytes > 0)
      write({.is = act_kind::send, .peers = {owner_of(to)}, .bytes = l.count * l.bytes});
  }
  void set(rank_flag kind, int peer) override {
    of_.set(kind, peer);
    write({act_kind::set, kind, {peer}});
  }
  void wait(rank_flag kind, std::vector<int> const& from, awaited const& before) override {
    of_.wait(kind, from, before);
    if (!from.empty()) write({act_kind::wait, kind, from});
  }
  void run(exchange const& x) override {
    write({act_kind::launch});
    membership::run(x);
    write({act_kind::launched});
  }
  void break_all(std::string const& why) override { of_.break_all(why); }
  bool broken() const override { return of_.broken(); }
  void check() const override { of_.check(); }

 private:
  recorded_act& write(recorded_act act) { return to_.acts.emplace_back(std::move(act)); }

  /// D of an all-gather lies in the memory of the caller, of a sum A does.
  recorded_act& write_gemm(gemm_plan const& plan, gemm_operands const& o) {
    emu::timeline const t = emu::timeline_of(trace_);
    if (!t.cut_off.empty()) to_.cut_off = t.cut_off;
    std::int64_t const first = splits_k(op_) ? row_at(call_.problem.a, call_.operands.a, o.a)
                                             : row_at(call_.problem.d, call_.operands.d, o.d);
    return write({.is = act_kind::gemm, .cycles = t.cycles, .rows = {first, plan.problem.m}});
  }
  int owner_of(std::byte const* at) const {
    for (int r = 0; r < ranks(); ++r)
      if (at >= buffer(r) && at < buffer(r) + buffer_bytes(options())) return r;
    return -1;
  }

  group group_;  // keeps of_ alive
  membership& of_;
  operation op_;
  gemm_slice const& call_;
  recorded_acts& to_;
  emu::trace trace_;
};

}  // namespace

group recorded(group const& of, operation op, gemm_slice const& call, recorded_acts& to) {
  return group(std::make_shared<recorded_rank>(of, op, call, to));
}

}  // namespace tw::dist
