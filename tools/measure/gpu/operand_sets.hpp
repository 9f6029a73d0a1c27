// SPDX-License-Identifier: Apache-2.0
// operand_sets.hpp  Copies of A, B, C, D and their scales. Each launch takes the next copy, so that
// no launch finds its operands in the L2 cache.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/operand.hpp"
#include "tilewright/problem/weights_desc.hpp"
#include "tools/measure/gpu/buffer.hpp"
#include "tools/measure/gpu/data.hpp"
#include "tools/measure/gpu/verify.hpp"
#include "tools/measure/support.hpp"
#include "tools/measure/weights.hpp"

namespace tw::bench {

/// The GEMM with a D of bf16 instead of 8 bits with scales.
inline gemm_problem with_wide_d(gemm_problem p) {
  p.d.type = elem::bf16;
  p.scale_d.reset();
  return p;
}

class operand_sets {
 public:
  /// At least two sets, and `cycle_bytes` in all of them together (but 4096 sets at most), filled
  /// with random data. D has room for with_wide_d() too. `sizes`: of the groups of `p`. Throws
  /// `rejected` TW0714 when the device has too little memory.
  operand_sets(gemm_problem const& p, measure_options const& o, cudaStream_t stream,
               std::vector<std::int64_t> const& sizes = {}) {
    auto const bytes_of = [](std::int64_t rows, std::int64_t columns, elem e) {
      return padded((rows * columns * size_bits(e) + 7) / 8);
    };
    auto const stride = [&](std::int64_t matrices, std::int64_t rows, std::int64_t columns,
                            elem e) { return bytes_of(matrices * rows, columns, e); };
    elem const widest_d = p.scale_d ? elem::bf16 : p.d.type;
    std::int64_t const d_cols = result_cols(p.epilogue, p.n);
    a_bytes_ = stride(p.a_matrices(), p.m, p.k, p.a.type);
    plain_b_bytes_ = stride(p.b_matrices(), p.k, p.n, p.b.type);
    b_bytes_ = plain_b_bytes_;
    if (p.weights_b) b_bytes_ = padded(weights_desc{p.n, p.k, p.b_matrices(), p.weights_b}.bytes());
    d_bytes_ = stride(p.d_matrices(), p.m, d_cols, widest_d);
    c_bytes_ = p.c ? stride(p.d_matrices(), p.m, d_cols, p.c->type) : 0;
    for (operand_desc const& x : operands_of(p)) {
      for (role const of : a_and_b)
        if (x.is == scales_of(of)) scale_bytes_[of] = padded(x.bytes());
      if (x.is == role::scale_d) scale_d_bytes_ = padded(x.bytes());
    }
    double const set_bytes = static_cast<double>(a_bytes_ + b_bytes_ + c_bytes_ + d_bytes_ +
                                                 scale_bytes_.a + scale_bytes_.b + scale_d_bytes_);
    sets_ = static_cast<int>(std::clamp(std::ceil(o.cycle_bytes / set_bytes), 2.0, 4096.0));
    cycle_bytes_ = set_bytes * sets_;
    if (p.weights_b)
      plain_sets_ = static_cast<int>(std::clamp(
          std::ceil(o.cycle_bytes / static_cast<double>(plain_b_bytes_)), 2.0, 1.0 * sets_));
    double const all_sets =
        cycle_bytes_ + static_cast<double>(plain_b_bytes_) * static_cast<double>(plain_sets_);
    std::size_t free_bytes = 0, all_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
    if (all_sets > 0.95 * static_cast<double>(free_bytes))
      throw rejected({"TW0714", "device memory", std::to_string(free_bytes >> 20) + " MiB free",
                      std::to_string(static_cast<std::size_t>(all_sets / 0.95) >> 20) + " MiB",
                      ""});
    auto const count = static_cast<std::size_t>(sets_);
    a_ = device_buffer(a_bytes_ * count);
    b_ = device_buffer(b_bytes_ * count);
    d_ = device_buffer(d_bytes_ * count);
    auto const elems = [](device_buffer const& x, elem e) {
      return static_cast<std::int64_t>(x.bytes()) * 8 / size_bits(e);
    };
    if (p.c) {
      c_ = device_buffer(c_bytes_ * count);
      fill(c_.data(), elems(c_, p.c->type), p.c->type, o.data, 2 * o.seed + 2, stream);
    }
    for (operand_row const& r : operand_rows) {
      if (r.vector == nullptr || !(p.epilogue.*r.vector)) continue;
      elem const type = (p.epilogue.*r.vector).type;
      std::int64_t const each = p.groups ? p.groups->count : 1;
      vectors_[r.is] = device_buffer(bytes_of(each, std::max(p.m, p.n), type));
      std::uint64_t const other = r.is == role::bias ? 3 : 8 + static_cast<std::uint64_t>(r.is);
      fill(vectors_[r.is].data(), elems(vectors_[r.is], type), type, o.data, 2 * o.seed + other,
           stream);
    }
    for (role const x : a_and_b) scales_[x] = device_buffer(scale_bytes_[x] * count);
    scale_d_ = device_buffer(scale_d_bytes_ * count);
    auto const fill_all = [&](device_buffer const& x, elem type, std::uint64_t seed) {
      fill_scales(x.data(), elems(x, type), type, seed, stream);
    };
    for (role const x : a_and_b)
      if (auto const& s = scale(p, x))
        fill_all(scales_[x], s->type, 2 * o.seed + (x == role::a ? 4 : 5));
    given_d_ = p.scale_d && p.scale_d->given;
    if (given_d_) fill_all(scale_d_, elem::f32, 2 * o.seed + 6);
    if (is_block_scaled(p) && scale(p, role::a)->second_level) {
      second_level_ = device_buffer(sizeof(float));
      check(cudaMemcpy(second_level_.data(), &second_level, sizeof(float), cudaMemcpyHostToDevice),
            "copy of a second level");
    }
    if (p.batch > 1) make_addresses(p);
    workspace_ = device_buffer(
        static_cast<std::size_t>(gemm_workspace_bytes(p, {}) + 3 * (p.batch + 2) * 128));
    check(cudaMemsetAsync(workspace_.data(), 0, workspace_.bytes(), stream), "cudaMemset");
    fill(a_.data(), elems(a_, p.a.type), p.a.type, o.data, 2 * o.seed, stream);
    if (p.weights_b)
      make_weights(p, o.seed);
    else
      fill(b_.data(), elems(b_, p.b.type), p.b.type, o.data, 2 * o.seed + 1, stream);
    if (p.groups) make_groups(sizes);
  }

  int count() const { return sets_; }
  /// The second levels of A and B multiplied; 1 where the operands have none.
  float second_levels() const {
    return second_level_.bytes() > 0 ? second_level * second_level : 1.0F;
  }
  double cycle_bytes() const { return cycle_bytes_; }

  gemm_operands at(int set) const {
    auto const i = static_cast<std::size_t>(set);
    gemm_operands o;
    o.a = a_.data() + i * a_bytes_;
    o.b = b_.data() + i * b_bytes_;
    o.d = d_.data() + i * d_bytes_;
    if (c_bytes_ > 0) o.c = c_.data() + i * c_bytes_;
    for (operand_row const& r : operand_rows)
      if (r.vector != nullptr) set_address(o, r.is, vectors_[r.is].data());
    for (role const x : a_and_b) {
      if (scale_bytes_[x] > 0)
        set_address(o, scales_of(x), scales_[x].data() + i * scale_bytes_[x]);
      if (second_level_.bytes() > 0) set_address(o, second_level_of(x), second_level_.data());
    }
    if (groups_.bytes() > 0) o.groups = groups_.data();
    if (scale_d_bytes_ > 0) o.scale_d = scale_d_.data() + i * scale_d_bytes_;
    if (addresses_.bytes() > 0) {
      auto* const of_set = reinterpret_cast<void**>(addresses_.data()) + i * 3 * batch_;
      o.a_array = of_set;
      o.b_array = of_set + batch_;
      o.d_array = of_set + 2 * batch_;
    }
    o.workspace = workspace_.data();  // launches follow each other
    o.workspace_bytes = static_cast<std::int64_t>(workspace_.bytes());
    return o;
  }

  /// The operands of with_decoded_b(): a B of prepared weights is decoded.
  gemm_operands decoded_at(int set) const {
    gemm_operands o = at(set);
    if (plain_sets_ > 0)
      o.b = plain_b_.data() + static_cast<std::size_t>(set % plain_sets_) * plain_b_bytes_;
    return o;
  }

  /// All bits of every D and of its computed scales become ones: a NaN in each type of 8 bits or
  /// more.
  void poison(cudaStream_t stream) const {
    check(cudaMemsetAsync(d_.data(), 0xFF, d_.bytes(), stream), "cudaMemset");
    if (scale_d_bytes_ > 0 && !given_d_)
      check(cudaMemsetAsync(scale_d_.data(), 0xFF, scale_d_.bytes(), stream), "cudaMemset");
  }
  result_sets results() const { return {d_.data(), d_bytes_, sets_}; }

 private:
  static constexpr float second_level = 0.5F;  // of NVFP4's A and of its B

  static std::size_t padded(std::int64_t bytes) {
    return (static_cast<std::size_t>(bytes) + 1023) / 1024 * 1024;
  }

  static void copy(device_buffer const& to, std::size_t at, void const* from, std::size_t bytes) {
    check(cudaMemcpy(to.data() + at, from, bytes, cudaMemcpyDefault), "copy of an operand");
  }

  /// Weights, prepared and decoded, which all sets repeat.
  void make_weights(gemm_problem const& p, std::uint64_t seed) {
    weights_desc const w{p.n, p.k, p.b_matrices(), p.weights_b};
    bench_weights const& made = random_bench_weights(w, p.b.type, seed);
    plain_b_ = device_buffer(plain_b_bytes_ * static_cast<std::size_t>(plain_sets_));
    copy(b_, 0, made.header.data(), made.header.size());
    device_buffer const first(made.blocks.size());
    copy(first, 0, made.blocks.data(), first.bytes());
    device_buffer const decoded(made.decoded.size());
    copy(decoded, 0, made.decoded.data(), decoded.bytes());
    auto const row_bytes = static_cast<std::size_t>(w.k_blocks() * w.format.block_bytes());
    for (std::int64_t i = 0; i < w.matrices; ++i) {
      auto const rotation = static_cast<std::size_t>(rotation_of(w, i));
      auto const matrix = static_cast<std::size_t>(i);
      std::size_t const blocks = row_bytes * static_cast<std::size_t>(w.n / weight_block);
      rotate(b_, weights_header_bytes + matrix * first.bytes(), first, blocks,
             rotation / weight_block * row_bytes);
      rotate(plain_b_, matrix * decoded.bytes(), decoded, decoded.bytes(),
             rotation * static_cast<std::size_t>(w.k * size_bytes(p.b.type)));
    }
    for (int i = 1; i < sets_; ++i)
      copy(b_, static_cast<std::size_t>(i) * b_bytes_, b_.data(), b_bytes_);
    for (int i = 1; i < plain_sets_; ++i)
      copy(plain_b_, static_cast<std::size_t>(i) * plain_b_bytes_, plain_b_.data(), plain_b_bytes_);
  }

  /// Copies `from`; its first `bytes` are rotated to the left by `by`.
  static void rotate(device_buffer const& to, std::size_t at, device_buffer const& from,
                     std::size_t bytes, std::size_t by) {
    copy(to, at, from.data() + by, bytes - by);
    if (by > 0) copy(to, at + bytes - by, from.data(), by);
    if (from.bytes() > bytes) copy(to, at + bytes, from.data() + bytes, from.bytes() - bytes);
  }

  /// Ends of the groups.
  void make_groups(std::vector<std::int64_t> const& sizes) {
    std::vector<std::int32_t> ends;
    std::int64_t end = 0;
    for (std::int64_t const size : sizes) ends.push_back(static_cast<std::int32_t>(end += size));
    groups_ = device_buffer(ends.size() * sizeof ends[0]);
    copy(groups_, 0, ends.data(), groups_.bytes());
  }

  /// For each set the addresses of its matrices of A, B and D.
  void make_addresses(gemm_problem const& p) {
    batch_ = static_cast<std::size_t>(p.batch);
    std::vector<void*> host;
    for (int set = 0; set < sets_; ++set) {
      gemm_operands const o = at(set);
      auto const add = [&](void const* base, matrix_desc const& m) {
        for (std::int64_t i = 0; i < p.batch; ++i)
          host.push_back(static_cast<char*>(const_cast<void*>(base)) + i * m.batch_stride_bytes());
      };
      add(o.a, p.a);
      add(o.b, p.b);
      add(o.d, p.d);
    }
    addresses_ = device_buffer(host.size() * sizeof(void*));
    check(cudaMemcpy(addresses_.data(), host.data(), addresses_.bytes(), cudaMemcpyHostToDevice),
          "copy of addresses");
  }

  std::size_t batch_ = 0;
  device_buffer addresses_;
  std::size_t a_bytes_ = 0, b_bytes_ = 0, c_bytes_ = 0, d_bytes_ = 0;
  std::size_t plain_b_bytes_ = 0;  // of a B that is not prepared
  int plain_sets_ = 0;             // copies of prepared weights that are decoded
  ab_table<std::size_t> scale_bytes_;
  std::size_t scale_d_bytes_ = 0;
  bool given_d_ = false;
  int sets_ = 0;
  double cycle_bytes_ = 0;
  role_table<device_buffer> vectors_;
  ab_table<device_buffer> scales_;
  device_buffer a_, b_, c_, d_, plain_b_, groups_, scale_d_, second_level_, workspace_;
};

}  // namespace tw::bench
