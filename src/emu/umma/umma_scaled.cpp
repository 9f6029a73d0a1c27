// SPDX-License-Identifier: Apache-2.0
// umma_scaled.cpp  Block-scaled multiplies, and copies from shared to tensor memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>

#include "emu/umma/umma.hpp"
#include "emu/umma/umma_element.hpp"
#include "emu/wgmma/product_isa.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw::emu {

namespace {

/// The number of each byte of a type of at most 8 bits; of ue4m3 the sign is ignored.
using byte_values = std::array<double, 256>;
byte_values const& values_of_bytes(elem type) {
  static auto const all = [] {
    std::array<byte_values, elem_count> tables = {};
    for (int e = 0; e < elem_count; ++e)
      for (std::uint32_t bits = 0; bits < 256; ++bits)
        if (auto const of = static_cast<elem>(e); size_bits(of) <= 8 && !is_integer(of)) {
          std::uint32_t const mask = (1U << size_bits(of)) - 1;
          tables[static_cast<std::size_t>(e)][bits] =
              of == elem::ue4m3
                  ? static_cast<double>(to_float(ue4m3{static_cast<std::uint8_t>(bits & 0x7F)}))
                  : static_cast<double>(umma_value(of, bits & mask));
        }
    return tables;
  }();
  return all[static_cast<std::size_t>(type)];
}

/// Values of an operand, [k][place]; which are zero, and whether all are finite.
struct scaled_operand {
  static constexpr int most_places = 256, most_k = 64;
  static constexpr int pitch = most_places + 8;  // lines of K in other sets of the cache
  alignas(64) double value[most_k][pitch];
  bool finite = true;

  void set(int k, int place, double x) {
    value[k][place] = x;
    finite = finite && std::isfinite(x);
  }
  /// Are all values of these places and elements of K zero?
  bool is_zero(int first_place, int places, int first_k, int count) const {
    for (int k = first_k; k < first_k + count; ++k)
      for (int i = first_place; i < first_place + places; ++i)
        if (value[k][i] != 0) return false;
    return true;
  }

  /// An operand of `rows` rows in shared memory, to the places from `first` on.
  void read(std::uint64_t descriptor, operand_major major, elem type, bool dense, bool negate,
            int first, int rows, int k, std::byte const* smem, std::uint32_t base) {
    operand_layout const l(as_wgmma_desc(descriptor), major);
    bool const k_major = major == operand_major::k;
    int const per_chunk = dense ? 32 : 16 / container_bytes(type);
    int const lines = k_major ? rows : k, along = k_major ? k : rows;
    int const bits = size_bits(type);
    double const sign = negate ? -1 : 1;
    byte_values const& number = values_of_bytes(type);
    for (int line = 0; line < lines; ++line)
      for (int at = 0; at < along; at += per_chunk) {
        std::uint32_t const address =
            swizzled(l.start + l.row_offset(static_cast<std::uint32_t>(line)) +
                         l.column_offset(static_cast<std::uint32_t>(at / per_chunk)),
                     l.swizzle);
        std::byte const* const chunk = smem + (address - base);
        double* to = k_major ? &value[at][first + line] : &value[line][first + at];
        std::ptrdiff_t const step = k_major ? pitch : 1;
        for (int i = 0; i < std::min(per_chunk, along - at); ++i, to += step) {
          auto const byte = static_cast<std::uint8_t>(chunk[bits == 4 ? i / 2 : i]);
          std::uint8_t const code = bits == 8   ? byte
                                    : bits == 4 ? byte >> 4 * (i % 2) & 0xF
                                                : narrow_bits(chunk, i, bits);
          *to = sign * number[code];
          finite = finite && std::isfinite(*to);
        }
      }
  }
  /// A in tensor memory, from the 8 columns at `address`.
  void read_tmem(tensor_memory& t, umma_shape const& s, std::uint32_t address) {
    auto const column = static_cast<int>(address & 0xFFFF);
    byte_values const& number = values_of_bytes(s.a);
    for (int lane = 0; lane < tmem_lanes; ++lane)
      for (int k = 0; k < s.k; ++k) {
        double const x = number[element_in_tmem(t, s.a, s.dense, lane, column, k)];
        set(k, lane, s.negate_a ? -x : x);
      }
  }
};

constexpr int lane_groups = tmem_lanes / lanes_of_group;
static_assert(lanes_of_group == lanes_of_part);

/// Scale factors: of A by lane, of B by column for each group of lanes.
struct scale_table {
  static constexpr int most_factors = 4;
  double a[most_factors][tmem_lanes];
  double b[most_factors][scaled_operand::most_places][lane_groups];
  bool finite = true;

  void read(tensor_memory& t, umma_shape const& s, umma_call const& call) {
    byte_values const& number = values_of_bytes(s.scale);
    auto const factor = [&](std::uint32_t word, int i) {
      double const x = number[word >> 8 * i & 0xFF];
      finite = finite && std::isfinite(x);
      return x;
    };
    for (int f = 0; f < s.factors(); ++f) {
      for (int lane = 0; lane < tmem_lanes; ++lane)
        a[f][lane] =
            factor(factors_at(t, call.sfa, lane % s.rows(), lane / lanes_of_group), s.sfa_id + f);
      for (int n = 0; n < s.n; ++n)
        for (int g = 0; g < lane_groups; ++g)
          b[f][n][g] = factor(factors_at(t, call.sfb, s.row_of_sfb(n), g), s.sfb_id + f);
    }
  }
};

/// Sums of a column for 32 lanes; -0.0 becomes 0.0.
void load_sums(double* __restrict sum, std::uint32_t const* __restrict d) {
  float x[lanes_of_part];
  std::memcpy(x, d, sizeof x);
  for (int r = 0; r < lanes_of_part; ++r) sum[r] = static_cast<double>(x[r]) + 0.0;
}
void add_scaled(double* __restrict sum, double const* __restrict part,
                double const* __restrict of_a, double of_b) {
  for (int r = 0; r < lanes_of_part; ++r) sum[r] += part[r] * (of_a[r] * of_b);
}
void store_sums(std::uint32_t* __restrict d, double const* __restrict sum) {
  for (int r = 0; r < lanes_of_part; ++r) {
    auto const x = static_cast<float>(sum[r]);
    d[r] = std::isnan(x) ? 0x7FFFFFFFU : __builtin_bit_cast(std::uint32_t, x);
  }
}

struct scaled_scratch {
  scaled_operand a, b;
  scale_table scales;
  alignas(64) double part[columns_of_part][lanes_of_part], sum[columns_of_part][lanes_of_part];
};

}  // namespace

void run_umma_scaled(tensor_memory& t, umma_shape const& s, umma_call const& call,
                     umma_memory const& smem) {
  int const rows = s.rows(), of_cta = s.columns_of_b(), factors = s.factors();
  int const column = static_cast<int>(call.d & 0xFFFF);
  static thread_local std::unique_ptr<scaled_scratch> const scratch =
      std::make_unique<scaled_scratch>();
  // By lane: of a pair with M = 128 both halves of the lanes have the same rows.
  scaled_operand &a = scratch->a, &b = scratch->b;
  scale_table& scales = scratch->scales;
  auto& part = scratch->part;
  auto& sum = scratch->sum;
  a.finite = b.finite = scales.finite = true;
  if (call.a_in_tmem)
    a.read_tmem(t, s, static_cast<std::uint32_t>(call.a));
  else
    for (int first = 0; first < tmem_lanes; first += rows)
      a.read(call.a, s.a_major, s.a, s.dense, s.negate_a, first, rows, s.k, smem.own, smem.base);
  for (int c = 0; c < s.ctas; ++c)
    b.read(call.b, s.b_major, s.b, s.dense, s.negate_b, c * of_cta, of_cta, s.k, smem.b[c],
           smem.base);
  scales.read(t, s, call);
  // The sum of products with a zero operand is 0.0, and so it is with finite factors: it does not
  // change a sum that is not -0.0.
  bool const may_skip = a.finite && b.finite && scales.finite;
  bool a_is_zero[lane_groups];
  for (int g = 0; g < lane_groups; ++g)
    a_is_zero[g] = may_skip && a.is_zero(lanes_of_group * g, lanes_of_group, 0, s.k);
  product_version const& version = used_product();
  for (int n = 0; n < s.n; n += columns_of_part) {
    bool const upper = s.in_upper_lanes(n);
    int const at = column + (upper ? n - s.n / 2 : n);
    bool const b_is_zero = may_skip && b.is_zero(n, columns_of_part, 0, s.k);
    for (int g = (upper ? rows : 0) / lanes_of_group; g * lanes_of_group < (upper ? 2 : 1) * rows;
         ++g) {
      int const first = lanes_of_group * g;
      for (int c = 0; c < columns_of_part; ++c) {
        if (call.accumulate)
          load_sums(sum[c], &t.at(first, at + c));
        else
          std::fill_n(sum[c], lanes_of_part, 0.0);
      }
      for (int f = 0; f < factors && !a_is_zero[g] && !b_is_zero; ++f) {
        version.sum_products(part[0], &a.value[f * s.block][first], scaled_operand::pitch,
                             &b.value[f * s.block][n], scaled_operand::pitch, s.block);
        for (int c = 0; c < columns_of_part; ++c) {
          add_scaled(sum[c], part[c], &scales.a[f][first], scales.b[f][n + c][g]);
        }
      }
      for (int c = 0; c < columns_of_part; ++c) store_sums(&t.at(first, at + c), sum[c]);
    }
  }
}

void run_copy(tensor_memory& t, tmem_copy_call const& call, std::byte const* smem,
              std::uint32_t base) {
  tmem_area const to = copied_areas(call).front();
  for (int r = 0; r < tmem_copy_rows(call.shape); ++r)
    for (int c = 0; c < tmem_copy_chunks(call.shape); ++c) {
      std::byte const* const from = smem + (copy_source(call, r, c) - base);
      std::byte bytes[16];
      std::memcpy(bytes, from, 16);
      int const narrow = call.unpack == tmem_unpack::b4 ? 4 : 6;
      if (call.unpack != tmem_unpack::none)
        for (int i = 0; i < 16; ++i)
          bytes[i] =
              static_cast<std::byte>(narrow_bits(from, i, narrow) << lowest_bit_in_tmem(narrow));
      for (int w = 0; w < 4; ++w)
        for (int i = 0; i < tmem_copy_repeats(call.shape); ++i)
          std::memcpy(&t.at(tmem_copy_lane(call.shape, r, i), to.column + 4 * c + w),
                      bytes + std::ptrdiff_t{4} * w, 4);
    }
}

}  // namespace tw::emu
