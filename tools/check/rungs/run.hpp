// SPDX-License-Identifier: Apache-2.0
// run.hpp  Runs of the rungs in the emulator, checked against sums in float64.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tools/check/rungs/rungs.hpp"

namespace ladder {

/// Operands of M x N x K, and D rounded once from float64. The operands are multiples of 1/8 up to
/// 1, so that all sums are exact and D has one right value.
class product {
 public:
  product(int m, int n, int k, std::uint64_t seed);

  int m() const { return m_; }
  int n() const { return n_; }
  int k() const { return k_; }
  /// Elements of D that differ from the reference; with `padding` those that follow its rows too.
  std::int64_t wrong(bf16 const* d, bool padding) const;
  std::vector<bf16> const& a() const { return a_; }
  std::vector<bf16> const& b() const { return b_; }
  int lda() const { return lda_; }  // of A and of B
  int ldd() const { return ldd_; }

 private:
  int m_, n_, k_, lda_, ldd_;
  std::vector<bf16> a_, b_, d_;
};

struct run_result {
  emu::report report;
  std::optional<std::int64_t> wrong;  // elements; without a value where the run was stopped
  double seconds = 0;

  bool correct() const { return wrong == 0 && report.clean(); }
};

/// Launches a kernel over a, b and d.
using launcher = std::function<emu::report(bf16* a, bf16* b, bf16* d, emu::options const& o)>;
/// Runs it over guarded copies of the operands, and compares D.
run_result checked(product const& x, emu::options o, bool padding, launcher const& launch);

/// Runs a rung with every check of the emulator on. sms: of the emulated device.
run_result run(rung const& r, product const& x, bug planted_bug, emu::options o, int sms);
/// Rung 12: the kernel that the library plans for the problem.
run_result run_library(product const& x, emu::options o, std::string& kernel);

/// Rung 15: ladder/blackwell/nvfp4_gemm.hpp over operands with exact sums, D in float32.
run_result run_nvfp4(int m, int n, int k, emu::options o);
/// Its M, N and K are multiples of these.
std::array<int, 3> nvfp4_tile();

/// The experiment side/fp8_scales beside rung 3: e4m3 with scales of 1 x 128, exact sums.
run_result run_fp8_scales(int m, int n, int k, emu::options o);
std::array<int, 3> fp8_scales_tile();

/// SMs of the emulated device: few, so that a persistent CTA has several tiles.
inline constexpr int emulated_sms = 4;

}  // namespace ladder
