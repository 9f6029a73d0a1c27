// SPDX-License-Identifier: Apache-2.0
// options.hpp  How an emulated launch runs, and what it reports.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tw::emu {

/// When asynchronous work (TMA copies, wgmma groups) completes.
enum class async_policy : std::uint8_t {
  eager,   // at once
  lazy,    // only when no thread can run
  random,  // by seed
};

struct options {
  async_policy policy = async_policy::eager;
  std::uint64_t seed = 1;
  bool random_warps = false;  // warp order by seed instead of round robin
  int os_threads = 0;         // 0: one per core
  int sms = 0;                // SMs of the emulated device; 0: enough for the OS threads
  int live_clusters = 0;      // clusters live at once per OS thread; 0: all of the launch
  double expected_macs = 0;   // multiply-adds of the whole launch, for `progress`
  std::function<void(double)> progress;  // share of expected_macs done; from any OS thread
};

/// What the kernel did wrong: a code Ennnn (docs/errors), its name and a report.
struct diagnosis {
  std::string code;
  std::string kind;
  std::string text;
};

/// Thrown by launch when the kernel broke a rule. what() holds the reports.
class fault : public std::runtime_error {
 public:
  explicit fault(std::vector<diagnosis> d);
  std::vector<diagnosis> const& diagnoses() const { return diagnoses_; }

 private:
  std::vector<diagnosis> diagnoses_;
};

}  // namespace tw::emu
