// SPDX-License-Identifier: Apache-2.0
// check_scales.cpp  A range of amax for each block, and the scales at its ends.
#include "tools/check/check_scales.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tilewright/problem/block_quantize.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/quantize.hpp"
#include "tilewright/problem/reference.hpp"

namespace tw {
namespace {

fused_terms float_terms(gemm_problem p) {
  p.d.type = elem::f32;
  p.scale_d.reset();
  return make_fused_terms(p);
}

}  // namespace

scale_check::scale_check(gemm_problem const& p, std::vector<std::int64_t> rows)
    : p_(p),
      rows_(std::move(rows)),
      terms_(float_terms(p)),
      blocks_(scale_blocks(p.scale_d->desc.block_k, result_cols(p.epilogue, p.n))),
      ranges_(rows_.size() * static_cast<std::size_t>(blocks_)) {}

void scale_check::add(std::size_t i, std::int64_t col, exact_fused const& x, double slack) {
  auto const block = static_cast<std::size_t>(scale_block(p_.scale_d->desc.block_k, col));
  amax_range& r = ranges_[i * static_cast<std::size_t>(blocks_) + block];
  expected_element const e = expect_fused(x, terms_);
  r.nan = r.nan || (is_block_result(p_) && !has_nan(p_.d.type) && std::isnan(e.value));
  if (e.far || (std::isfinite(e.value) && (e.plus_inf || e.minus_inf || e.nan))) r.any = false;
  if (!std::isfinite(e.value)) return;  // takes no part in amax
  r.low = std::max(r.low, std::fabs(e.value) - e.bound - slack);
  r.high = std::max(r.high, std::fabs(e.value) + e.bound + slack);
}

void scale_check::judge_blocks(gemm_operands const& o, check_report& report) const {
  block_format const f = result_format(p_);
  float const second = second_level(p_, o.scale_d, 0);  // p_ is a single matrix
  auto const decoded = [&](float amax) {
    std::uint8_t const bits = block_factor(f, amax, second);
    return f == block_format::nvfp4 ? to_float(ue4m3{bits}) : to_float(ue8m0{bits});
  };
  auto const next = [](double amax, float toward) {
    float const nearest = static_cast<float>(amax);
    bool const beyond = toward > 0 ? nearest < amax : nearest > amax;
    return beyond ? std::nextafter(nearest, toward) : nearest;
  };
  auto const count = [&](bool right) {
    ++report.scales;
    if (!right) ++report.wrong_scales;
  };
  amax_range all;
  for (std::size_t at = 0; at < ranges_.size(); ++at) {
    amax_range const& r = ranges_[at];
    all.any = all.any && r.any;
    all.low = std::max(all.low, r.low), all.high = std::max(all.high, r.high);
    if (!r.any) continue;
    std::int64_t const block = static_cast<std::int64_t>(at) % blocks_;
    std::int64_t const row = rows_[at / static_cast<std::size_t>(blocks_)];
    double const got =
        load_scale(p_.scale_d->desc, o.scale_d, row, block * p_.scale_d->desc.block_k);
    if (r.nan) {
      count(std::isnan(got));
      continue;
    }
    bool const zeros = r.low <= 0 && got == 1;  // a block without a finite element but zero
    double const low = r.low <= 0 ? 0 : decoded(next(r.low, 0.0F));
    count(zeros || (r.high > 0 && got >= low && got <= decoded(next(r.high, INFINITY))));
  }
  bool const whole = static_cast<std::int64_t>(rows_.size()) == p_.m;
  if (f != block_format::nvfp4 || !whole || !all.any) return;
  float const low = all.low <= 0 ? 0.0F : second_level_of(f, next(all.low, 0.0F));
  float const high = all.high <= 0 ? 1.0F : second_level_of(f, next(all.high, INFINITY));
  count((all.low <= 0 && second == 1.0F) || (second >= low && second <= high));
}

void scale_check::judge(gemm_operands const& o, check_report& report) const {
  if (is_block_result(p_)) return judge_blocks(o, report);
  output_scales const& s = *p_.scale_d;
  float const limit = quantize_limit(p_.d.type);
  auto const scale_of = [&](double amax, float toward) {
    float const nearest = static_cast<float>(amax);
    bool const beyond = toward > 0 ? nearest < amax : nearest > amax;
    return quantize_scale(beyond ? std::nextafter(nearest, toward) : nearest, limit,
                          s.power_of_two);
  };
  for (std::size_t at = 0; at < ranges_.size(); ++at) {
    amax_range const& r = ranges_[at];
    if (!r.any) continue;
    std::int64_t const block = static_cast<std::int64_t>(at) % blocks_;
    std::int64_t const row = rows_[at / static_cast<std::size_t>(blocks_)];
    std::int64_t const col = block * s.desc.block_k;
    double const got = load_scale(s.desc, o.scale_d, row, col);
    bool const zeros = r.low <= 0 && got == 1;  // a block without a finite element but zero
    double const low = r.low <= 0 ? 0x1p-126 : scale_of(r.low, 0.0F);
    bool const within = r.high > 0 && got >= low && got <= scale_of(r.high, INFINITY);
    ++report.scales;
    if (!zeros && !within) ++report.wrong_scales;
  }
}

}  // namespace tw
