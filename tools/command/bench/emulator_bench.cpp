// SPDX-License-Identifier: Apache-2.0
// emulator_bench.cpp  Cost of checking: a bf16 GEMM in the emulator on one core, without
//                     checks, with them, and with plain accesses intercepted too.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tilewright/base/convert.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tools/check/check.hpp"
#include "tools/check/mutants/mutants.hpp"
#include "tools/command/bench/questions.hpp"
#include "tools/measure/environment.hpp"

namespace tw::bench {
namespace {

/// Processor time of this thread in user mode: other programs on the machine disturb it little.
double user_ms() {
  rusage use{};
  getrusage(RUSAGE_THREAD, &use);
  return static_cast<double>(use.ru_utime.tv_sec) * 1e3 +
         static_cast<double>(use.ru_utime.tv_usec) * 1e-3;
}

/// D = A B with A row-major and B column-major, size x size x size.
class product {
 public:
  explicit product(int size) : size_(size) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> value(-1.0F, 1.0F);
    auto const elements = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
    for (auto* x : {&a_, &b_, &d_}) x->resize(elements);
    for (auto* x : {&a_, &b_})
      for (std::uint16_t& v : *x) v = to_bf16(value(random)).bits;
    problem_.m = problem_.n = problem_.k = size;
    problem_.a = problem_.d = {elem::bf16, order::row_major, size};
    problem_.b = {elem::bf16, order::col_major, size};
  }

  void run_shipped(emu::options const& o) { gemm_emulated(plan(), operands(), o); }

  /// The GEMM, tiles and clusters of run_shipped() by the kernel whose plain accesses are seen.
  /// Not run_shipped(): a program holds one copy of each inline function, and would intercept both.
  void run_intercepted(emu::options const& o) {
    mutants::run_reference_gemm(a_.data(), b_.data(), d_.data(), size_, o);
  }

  bool right() {
    bool const passed = check_gemm(problem_, operands(), 1e9).passed();
    std::ranges::fill(d_, std::uint16_t{0xFFFF});
    return passed;
  }

  std::string kernel() { return plan().kernel; }

 private:
  gemm_plan plan() {
    return plan_gemm(problem_, operands(), with_sm_count(known_device("h200"), 2));
  }
  gemm_operands operands() { return {a_.data(), b_.data(), nullptr, d_.data()}; }

  int size_;
  gemm_problem problem_;
  std::vector<std::uint16_t> a_, b_, d_;
};

struct emulator_row {
  char const* name;
  bool hazards, intercepted;
  std::vector<double> ms;  // user time of each run
  double least() const { return *std::ranges::min_element(ms); }
};

/// Refuses a result that is wrong: a time for nothing.
void run_once(product& p, emulator_row& r) {
  emu::options o;
  o.hazards = r.hazards;
  o.os_threads = 1;
  o.sms = 2;
  double const start = user_ms();
  if (r.intercepted)
    p.run_intercepted(o);
  else
    p.run_shipped(o);
  r.ms.push_back(user_ms() - start);
  if (!p.right()) throw std::runtime_error(fmt::format("wrong elements in a run '{}'", r.name));
}

}  // namespace

exit_status run_emulator_bench(emulator_bench_options const& o) {
  check_json_file(o.json_path);
  product p(o.size);
  std::vector<emulator_row> rows{{"values alone", false, false, {}},
                                 {"every check", true, false, {}}};
  if (mutants::plain_accesses_are_seen())
    rows.push_back({"every check, plain accesses too", true, true, {}});
  for (int i = 0; i < o.rounds; ++i)
    for (emulator_row& r : rows) run_once(p, r);

  fmt::print("bf16 {0} x {0} x {0} in the emulator, one core, user time, least of {1} runs; {2}\n",
             o.size, o.rounds, p.kernel());
  nlohmann::json list = nlohmann::json::array();
  for (emulator_row const& r : rows) {
    fmt::print("{:<34}{:>8.1f} ms {:>6.2f} x\n", r.name, r.least(), r.least() / rows[1].least());
    list.push_back({{"name", r.name}, {"least_ms", r.least()}, {"ms", r.ms}});
  }
  if (!o.json_path.empty())
    write_json(o.json_path, {{"schema", "tilewright.bench.emulator/1"},
                             {"environment", environment_json(o.commit)},
                             {"size", o.size},
                             {"kernel", p.kernel()},
                             {"rows", std::move(list)}});
  return exit_status::done;
}

}  // namespace tw::bench
