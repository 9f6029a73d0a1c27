// SPDX-License-Identifier: Apache-2.0
// plugin_library.hpp  A shared library with kernels under test, and one run of one of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tilewright/arch/emu/plugin.hpp"
#include "tools/check/hazards/finding.hpp"
#include "tools/check/hazards/request.hpp"

namespace tw::hazards {

/// Stays loaded until the process ends.
class plugin_library {
 public:
  /// Refuses: TW0631 cannot be loaded, TW0632 no entry, TW0633 of another version, TW0638 a list
  /// of kernels that cannot be run, TW0640 one that crashes or takes too long while it is loaded.
  plugin_library(std::string const& path, request const& how);

  std::span<emu::plugin_kernel const> kernels() const;
  bool on_gpu() const { return face_->on_gpu != 0; }
  std::string const& path() const { return path_; }

  /// One run; what it shows is added to `result`. bug: 0 or a number from 1. Refuses (TW0637) when
  /// the harness itself fails; where it crashes, the process ends with TW0639 as its last words.
  void run(emu::plugin_kernel const& k, run_key const& key, int bug, request const& how,
           kernel_result& result) const;

 private:
  std::string path_;
  emu::plugin const* face_ = nullptr;
};

}  // namespace tw::hazards
