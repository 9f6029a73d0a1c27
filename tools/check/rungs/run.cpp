// SPDX-License-Identifier: Apache-2.0
// run.cpp  Runs of the rungs in the emulator, checked against sums in float64.
#include "tools/check/rungs/run.hpp"

#include <chrono>
#include <random>
#include <span>

#include "tools/check/rungs/guarded_bytes.hpp"

namespace ladder {

namespace {

constexpr bf16 untouched{0x7FC1};  // a NaN that no kernel computes

int padded(int extent) { return (extent + 7) / 8 * 8; }

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

product::product(int m, int n, int k, std::uint64_t seed)
    : m_(m),
      n_(n),
      k_(k),
      lda_(padded(k)),
      ldd_(padded(n)) {
  std::mt19937_64 random(seed);
  auto const fill = [&](std::vector<bf16>& x, int rows) {
    x.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(lda_));
    for (bf16& e : x) e = to_bf16(static_cast<float>(static_cast<int>(random() % 17) - 8) / 8);
  };
  fill(a_, m);
  fill(b_, n);
  std::vector<double> wide(b_.size());
  for (std::size_t i = 0; i < b_.size(); ++i) wide[i] = to_float(b_[i]);
  std::vector<double> row(static_cast<std::size_t>(lda_));
  d_.assign(static_cast<std::size_t>(m) * static_cast<std::size_t>(ldd_), untouched);
  for (int i = 0; i < m; ++i) {
    for (int x = 0; x < k; ++x) row[x] = to_float(a_[static_cast<std::size_t>(i) * lda_ + x]);
    for (int j = 0; j < n; ++j) {
      double const* const column = wide.data() + static_cast<std::size_t>(j) * lda_;
      double sums[4] = {};  // exact in any order
      for (int x = 0; x < k; ++x) sums[x % 4] += row[x] * column[x];
      d_[static_cast<std::size_t>(i) * ldd_ + j] =
          to_bf16(static_cast<float>(sums[0] + sums[1] + sums[2] + sums[3]));
    }
  }
}

std::int64_t product::wrong(bf16 const* d, bool padding) const {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < d_.size(); ++i)
    if (padding || static_cast<int>(i % static_cast<std::size_t>(ldd_)) < n_)
      count += d[i].bits != d_[i].bits ? 1 : 0;
  return count;
}

run_result checked(product const& x, emu::options o, bool padding, launcher const& launch) {
  auto const bytes_of = [](std::vector<bf16> const& v) {
    auto const bytes = std::as_bytes(std::span(v));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  auto const at = [](guarded_bytes const& bytes) { return reinterpret_cast<bf16*>(bytes.data()); };
  guarded_bytes const a(bytes_of(x.a()), o), b(bytes_of(x.b()), o);
  guarded_bytes const d(
      bytes_of(std::vector<bf16>(
          static_cast<std::size_t>(x.m()) * static_cast<std::size_t>(x.ldd()), untouched)),
      o);
  run_result result;
  auto const start = std::chrono::steady_clock::now();
  result.report = launch(at(a), at(b), at(d), o);
  result.seconds = seconds_since(start);
  if (result.report.clean()) result.wrong = x.wrong(at(d), padding);
  return result;
}

namespace {

/// The bug of one run.
class planting {
 public:
  explicit planting(bug b) { planted = b; }
  ~planting() { planted = bug::none; }
};

}  // namespace

run_result run(rung const& r, product const& x, bug planted_bug, emu::options o, int sms) {
  o.sms = sms;
  planting const this_one(planted_bug);
  return checked(x, o, r.keeps_padding, [&](bf16* a, bf16* b, bf16* d, emu::options const& with) {
    return r.run({a, b, d, x.m(), x.n(), x.k(), x.lda(), x.lda(), x.ldd(), sms, target::emu}, with);
  });
}

}  // namespace ladder
