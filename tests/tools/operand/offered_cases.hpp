// SPDX-License-Identifier: Apache-2.0
// offered_cases.hpp  Every combination of operand and result types, promotion, scales, orders and
//                    epilogue, and operands for one of them: numbers, NaN, infinities, subnormals,
//                    numbers that saturate D, scales of zero.
#pragma once

#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tilewright/base/elem_text.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tools/operand/random_elements.hpp"

namespace tw_test {

using namespace tw;

enum class epilogue_form { plain, add_c, bias_gelu, scales_relu_c, swiglu, aux };
inline constexpr int epilogue_forms = 6;
enum class result_scaling { none, given, row, block };

/// One combination. `other` as a scaling: no scales.
struct offered {
  elem a, b, d;
  gemm_precision precision = {};
  scaling scale_a = scaling::other, scale_b = scaling::other;
  elem scale_type = elem::f32;  // of blocks: f32, ue8m0, s32 (four ue8m0)
  epilogue_form epilogue = epilogue_form::plain;
  result_scaling scale_d = result_scaling::none;
  int orders = 0;  // bits: A, B, D are column-major

  std::string text() const {
    auto const kind = [](scaling s) { return s == scaling::other ? "none" : name(s); };
    auto const number = [](auto x) { return std::to_string(static_cast<int>(x)); };
    return std::string(name(a)) + " " + name(b) + " to " + name(d) + ", promoted " +
           number(precision.promote_k) + (precision.f16_sums ? ", f16 sums" : "") + ", scales " +
           kind(scale_a) + " " + kind(scale_b) + " " + name(scale_type) + ", epilogue " +
           number(epilogue) + ", scales of D " + number(scale_d) + ", orders " + number(orders);
  }
};

/// All of them, accepted or not. Each has one of the eight orders: they take turns.
inline std::vector<offered> all_combinations() {
  using enum elem;
  struct pair_of {
    scaling a, b;
    elem type = f32;
  };
  scaling const none = scaling::other, tensor = scaling::tensor, row = scaling::row,
                block = scaling::block_1x128, square = scaling::block_128x128;
  constexpr std::size_t without_blocks = 5;
  pair_of const pairs[] = {{none, none},     {tensor, tensor},       {row, row},
                           {tensor, none},   {row, tensor},          {block, square},
                           {block, block},   {square, block},        {square, square},
                           {block, none},    {none, square},         {row, block},
                           {square, tensor}, {block, square, ue8m0}, {block, block, s32}};
  struct operands {
    elem a, b;
  };
  operands const all[] = {{bf16, bf16}, {f16, f16},   {e4m3, e4m3}, {e4m3, e5m2},
                          {e5m2, e4m3}, {e5m2, e5m2}, {s8, s8},     {s8, u8},
                          {u8, s8},     {u8, u8},     {tf32, tf32}, {f32, f32}};
  std::vector<offered> found;
  for (operands const& ab : all) {
    bool const fp8 = is_fp8(ab.a);
    gemm_precision const other_sums[] = {
        {}, {.promote_k = 64}, {.promote_k = 0}, {}, {.f16_sums = true}};
    std::span<gemm_precision const> sums(other_sums, 1);
    if (fp8) sums = std::span(other_sums).first(3);
    if (ab.a == f16) sums = std::span(other_sums).last(2);
    std::span<pair_of const> scales(pairs);
    if (!fp8) scales = scales.first(without_blocks);
    for (elem const d : {bf16, f16, f32, e4m3, e5m2, s8, s32})
      for (gemm_precision const& precision : sums)
        for (pair_of const& s : scales)
          for (int e = 0; e < epilogue_forms; ++e)
            for (auto const of_d : {result_scaling::none, result_scaling::given,
                                    result_scaling::row, result_scaling::block}) {
              if (of_d != result_scaling::none && size_bytes(d) != 1) continue;
              if (of_d == result_scaling::none && d == s8) continue;  // always refused
              found.push_back({ab.a, ab.b, d, precision, s.a, s.b, s.type,
                               static_cast<epilogue_form>(e), of_d,
                               static_cast<int>(found.size() * 5 / 3 % 8)});
            }
  }
  return found;
}

/// A matrix of bytes; memory that no element has is NaN in every type.
struct plain_matrix {
  matrix_desc desc{};
  std::vector<std::byte> bytes;

  plain_matrix() = default;
  plain_matrix(elem type, order ord, std::int64_t rows, std::int64_t cols) {
    bool const by_rows = ord == order::row_major;
    desc = {type, ord, by_rows ? cols : rows};
    std::int64_t const count = rows * cols;
    bytes.assign(static_cast<std::size_t>(count * size_bytes(type)) + 16, std::byte{0xFF});
  }
  void put(std::int64_t row, std::int64_t col, std::uint32_t bits) {
    std::int64_t const i =
        desc.ord == order::row_major ? row * desc.pitch_elems + col : col * desc.pitch_elems + row;
    int const width = size_bytes(desc.type);
    std::memcpy(bytes.data() + i * width, &bits, static_cast<std::size_t>(width));
  }
};

/// Bits of NaN, infinities, subnormals and extremes.
inline std::vector<std::uint32_t> special_bits(elem type) {
  switch (type) {
    case elem::e4m3: return {0x7F, 0xFF, 0x01, 0x85, 0x7E};
    case elem::e5m2: return {0x7F, 0x7C, 0xFC, 0x01, 0x82, 0x7B};
    case elem::bf16: return {0x7FC0, 0x7F80, 0xFF80, 0x0001, 0x8003};
    case elem::f16: return {0x7E00, 0x7C00, 0xFC00, 0x0001, 0x8003, 0x7BFF};
    case elem::s8: return {0x80, 0x7F};
    case elem::u8: return {0xFF, 0x00};
    default: return {0x7FC00000, 0x7F800000, 0xFF800000, 0x00000100, 0x80001000};
  }
}

/// A GEMM of a combination with random extents, and its operands.
class offered_gemm {
 public:
  offered_gemm(offered const& c, std::mt19937_64& random) : random_(random) {
    auto const ord = [&](int bit) {
      return c.orders >> bit & 1 ? order::col_major : order::row_major;
    };
    bool const gate = c.epilogue == epilogue_form::swiglu;
    // B is column-major, as gates need it, three times of four.
    order const order_b = c.orders == 2 || c.orders == 5 ? order::row_major : order::col_major;
    m_ = any(1, 40), n_ = gate ? 16 * any(1, 20) : any(1, 300), k_ = any(1, 300);
    std::int64_t const cols = gate ? n_ / 2 : n_;
    a_ = filled(c.a, ord(0), m_, k_, true);
    b_ = filled(c.b, gate ? order::col_major : order_b, k_, n_, false);
    d_ = plain_matrix(c.d, ord(2), m_, cols);
    problem = {m_, n_, k_, a_.desc, b_.desc, d_.desc, std::nullopt, 1.0F, 0.0F};
    problem.precision = c.precision;
    operands = {a_.bytes.data(), b_.bytes.data(), nullptr, d_.bytes.data()};
    vectors_.resize(static_cast<std::size_t>(3 * std::max(m_, n_)));
    for (float& x : vectors_) x = scale();
    operands.bias = vectors_.data();
    operands.row_scale = vectors_.data() + std::max(m_, n_);
    operands.col_scale = vectors_.data() + 2 * std::max(m_, n_);
    choose_epilogue(c, cols);
    if (c.scale_a != scaling::other)
      problem.scale_a = scales_of({false, m_, k_}, c.scale_a, c.scale_type, scale_a_);
    if (c.scale_b != scaling::other)
      problem.scale_b = scales_of({true, n_, k_}, c.scale_b, c.scale_type, scale_b_);
    operands.scale_a = scale_a_.data(), operands.scale_b = scale_b_.data();
    choose_result_scales(c, cols);
  }
  offered_gemm(offered_gemm const&) = delete;
  offered_gemm& operator=(offered_gemm const&) = delete;

  gemm_problem problem;
  gemm_operands operands;

  /// The operands at addresses of a device: copy(memory) returns that of each.
  template <class Copy>
  gemm_operands moved(Copy const& copy) {
    auto const at = [&](auto& bytes) -> void* {
      return bytes.empty() ? nullptr : copy(std::as_writable_bytes(std::span(bytes)));
    };
    gemm_operands o;
    o.a = at(a_.bytes), o.b = at(b_.bytes), o.c = at(c_.bytes);
    o.d = at(d_.bytes), o.aux = at(aux_.bytes);
    auto* const vectors = static_cast<float*>(at(vectors_));
    std::int64_t const line = std::max(m_, n_);
    o.bias = vectors, o.row_scale = vectors + line, o.col_scale = vectors + 2 * line;
    o.scale_a = at(scale_a_), o.scale_b = at(scale_b_), o.scale_d = at(scale_d_);
    return o;
  }

 private:
  std::int64_t any(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  float scale() {
    if (any(0, 11) == 0) return 0;
    return std::ldexp(1.0F + static_cast<float>(any(0, 99)) / 100, static_cast<int>(any(-3, 3)));
  }

  /// Of every operand most lines are numbers and some subnormals; one has everything else.
  plain_matrix filled(elem type, order ord, std::int64_t rows, std::int64_t cols, bool is_a) {
    plain_matrix x(type, ord, rows, cols);
    std::normal_distribution<float> normal;
    auto const special = special_bits(type);
    std::int64_t const odd = any(0, 2) != 0 ? any(0, (is_a ? rows : cols) - 1) : -1;
    std::int64_t const large = any(0, (is_a ? rows : cols) - 1);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < cols; ++c) {
        std::int64_t const line = is_a ? r : c;
        float const f = normal(random_) * (line == large ? 64.0F : any(0, 19) == 0 ? 0.0F : 1.0F);
        std::uint32_t bits = bits_of_normal(type, f);
        if (line == odd && any(0, 30) == 0) bits = special[random_() % special.size()];
        x.put(r, c, bits);
      }
    return x;
  }

  void choose_epilogue(offered const& c, std::int64_t cols) {
    using enum epilogue_form;
    gemm_epilogue& e = problem.epilogue;
    bool const with_c = c.epilogue == add_c || c.epilogue == scales_relu_c;
    if (with_c) {
      c_ = filled(elem::f32, order::row_major, m_, cols, true);
      problem.c = c_.desc, problem.beta = -0.75F, operands.c = c_.bytes.data();
    }
    if (c.epilogue == add_c) problem.alpha = 1.5F;
    if (c.epilogue == bias_gelu) e.bias = along::cols, e.act = activation::gelu_tanh;
    if (c.epilogue == scales_relu_c) {
      // Scales of A and B that are vectors too are multiplied with them in the main loop or not.
      e.row_scale = c.scale_a == scaling::other ? along::rows : along::none,
      e.col_scale = c.scale_b == scaling::other ? along::cols : along::none;
      e.bias = along::rows, e.act = activation::relu, e.c_last = true;
    }
    if (c.epilogue == swiglu) {
      e.act = activation::silu, e.gate = any(0, 1) != 0 ? gating::split : gating::interleaved;
      e.bias = along::cols, problem.alpha = 0.25F;
    }
    if (c.epilogue == aux) {
      e.bias = along::cols, e.act = activation::relu;
      aux_ = plain_matrix(c.d, d_.desc.ord, m_, n_);
      problem.aux = aux_.desc, operands.aux = aux_.bytes.data();
    }
  }

  scale_desc scales_of(scaled_operand const& x, scaling kind, elem type,
                       std::vector<std::byte>& memory) {
    bool const blocks = kind == scaling::block_1x128 || kind == scaling::block_128x128;
    std::vector<scale_convention> all = scale_conventions(x, blocks ? type : elem::f32);
    std::erase_if(all, [&](scale_convention const& c) { return c.kind != kind; });
    scale_desc const s = all[random_() % all.size()].desc;
    memory.assign(static_cast<std::size_t>(4 * scale_extent(s, x.outer, x.k)) + 16, std::byte{0});
    for (std::size_t i = 0; i + 4 <= memory.size(); i += 4) {
      float const f = scale();
      std::uint32_t word = __builtin_bit_cast(std::uint32_t, f);
      if (s.type == elem::ue8m0)
        word = 0x7C7C7C7CU + static_cast<std::uint32_t>(random_() & 0x03030303U);
      std::memcpy(memory.data() + i, &word, 4);
    }
    return s;
  }

  void choose_result_scales(offered const& c, std::int64_t cols) {
    if (c.scale_d == result_scaling::none) return;
    output_scales s;
    s.given = c.scale_d == result_scaling::given;
    scaling const kind = c.scale_d == result_scaling::row ? scaling::row : scaling::block_1x128;
    scaled_operand const over{false, m_, cols};
    if (!s.given) {
      elem const type =
          c.scale_d == result_scaling::block && any(0, 2) == 0 ? elem::ue8m0 : elem::f32;
      std::vector<scale_convention> all = scale_conventions(over, type);
      std::erase_if(all, [&](scale_convention const& x) { return x.kind != kind; });
      s.desc = all[random_() % all.size()].desc;
      s.power_of_two = type == elem::ue8m0 || any(0, 1) != 0;
    }
    scale_d_.assign(static_cast<std::size_t>(4 * scale_extent(s.desc, m_, cols)) + 16,
                    std::byte{0});
    float const given = 0.37F;
    if (s.given) std::memcpy(scale_d_.data(), &given, sizeof given);
    problem.scale_d = s;
    operands.scale_d = scale_d_.data();
  }

  std::mt19937_64& random_;
  std::int64_t m_ = 0, n_ = 0, k_ = 0;
  plain_matrix a_, b_, c_, d_, aux_;
  std::vector<float> vectors_;
  std::vector<std::byte> scale_a_, scale_b_, scale_d_;
};

}  // namespace tw_test
