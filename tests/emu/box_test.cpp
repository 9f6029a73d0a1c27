// SPDX-License-Identifier: Apache-2.0
// box_test.cpp  TMA box copies against a reference that moves one element at a time.
#include "emu/elements/box.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "tilewright/base/convert.hpp"

namespace tw::emu {
namespace {

using random = std::mt19937;
int pick(random& r, int first, int last) { return std::uniform_int_distribution(first, last)(r); }

struct box_case {
  tensor_map_desc map;
  int at[5] = {};
  std::uint32_t smem_address = 0;
  std::vector<std::uint64_t> memory;  // the tensor with its pitches; 16-byte aligned enough
  std::vector<std::byte> smem;        // the box and a margin on both sides

  std::byte* tensor() { return reinterpret_cast<std::byte*>(memory.data()); }
  std::byte* box() { return smem.data() + margin; }
  static constexpr int margin = 128;
};

/// Box extents are kept small by volume; coordinates put boxes inside, across and outside.
box_case random_case(random& r, std::vector<elem> const& types, bool inside) {
  box_case c;
  tensor_map_desc& m = c.map;
  m.type = types[static_cast<std::size_t>(pick(r, 0, static_cast<int>(types.size()) - 1))];
  m.rank = pick(r, 1, 5);
  m.swizzle = swizzle_mode(pick(r, 0, 4));
  int const size = size_bytes(m.type);
  int const span = m.swizzle == swizzle_mode::none ? 256 : swizzle_span_bytes(m.swizzle);
  m.box[0] = (pick(r, 0, 1) != 0 ? span : 16 * pick(r, 1, span / 16)) / size;
  for (int i = 1; i < m.rank; ++i) m.box[i] = pick(r, 1, m.rank == 2 ? 40 : 6);
  std::int64_t pitch = 0;
  for (int i = 0; i < m.rank; ++i) {
    m.dim[i] = inside ? m.box[i] + pick(r, 0, 3) : pick(r, 1, 2 * m.box[i]);
    c.at[i] = inside ? pick(r, 0, static_cast<int>(m.dim[i]) - m.box[i])
                     : pick(r, -m.box[i], static_cast<int>(m.dim[i]));
    if (i == 0) c.at[0] -= c.at[0] % (16 / size);
    pitch = i == 0 ? m.dim[0] * size : pitch * m.dim[i];
    pitch = (pitch + 15) / 16 * 16 + 16 * pick(r, 0, 2);
    if (i < 4) m.stride_bytes[i] = pitch;
  }
  c.memory.resize(static_cast<std::size_t>(pitch / 8 + 2));
  for (auto& word : c.memory) word = static_cast<std::uint64_t>(r()) << 32 | r();
  if (m.type == elem::tf32)  // half way between two neighbours
    for (auto& word : c.memory) word = (word & 0xFFFFE000FFFFE000U) | 0x0000100000001000U;
  m.base = c.tensor();
  c.smem_address = 0x400 + 1024 * static_cast<std::uint32_t>(pick(r, 0, 9));
  if (m.swizzle == swizzle_mode::none)
    c.smem_address += 16 * static_cast<std::uint32_t>(pick(r, 0, 9));
  c.smem.resize(static_cast<std::size_t>(box_smem_bytes(m) + 2 * box_case::margin));
  for (auto& b : c.smem) b = static_cast<std::byte>(r());
  return c;
}

/// Calls f(byte offset in the tensor or -1, byte offset in the box) for every element of the box.
/// whole_chunks: a row that ends inside a chunk of 16 bytes counts to the chunk's end, as stores
/// do.
void each_element(box_case const& c, std::function<void(std::int64_t, std::int64_t)> const& f,
                  bool whole_chunks = false) {
  tensor_map_desc const& m = c.map;
  int const size = size_bytes(m.type);
  std::int64_t const row_end =
      whole_chunks && c.at[0] < m.dim[0] ? (m.dim[0] * size + 15) / 16 * 16 / size : m.dim[0];
  int volume = 1;
  for (int i = 0; i < m.rank; ++i) volume *= m.box[i];
  bool const atoms_of_32 = m.swizzle == swizzle_mode::b128_base32;
  int const bits = m.swizzle == swizzle_mode::none ? 0
                   : atoms_of_32                   ? 3
                                                   : 4 - static_cast<int>(m.swizzle);
  int const pitch = bits == 0 ? m.box[0] * size : 16 << bits;
  for (int e = 0; e < volume; ++e) {
    std::int64_t tensor = 0;
    bool inside = true;
    for (int i = 0, rest = e; i < m.rank; rest /= m.box[i], ++i) {
      std::int64_t const x = c.at[i] + rest % m.box[i];
      inside = inside && x >= 0 && x < (i == 0 ? row_end : m.dim[i]);
      tensor += x * (i == 0 ? size : m.stride_bytes[i - 1]);
    }
    std::int64_t const plain =
        static_cast<std::int64_t>(c.smem_address) + e / m.box[0] * pitch + e % m.box[0] * size;
    std::int64_t const at =
        atoms_of_32 ? plain ^ (plain >> 7) % 4 << 5 : plain ^ ((plain >> 7) % (1 << bits) << 4);
    f(inside ? tensor : -1, at - static_cast<std::int64_t>(c.smem_address));
  }
}

std::vector<elem> const all_types{elem::f32,  elem::tf32, elem::f16, elem::bf16, elem::e4m3,
                                  elem::e5m2, elem::s32,  elem::s8,  elem::u8};

class boxes : public testing::TestWithParam<bool> {
 protected:
  template <class Check>
  void cases(std::vector<elem> const& types, int count, Check check) {
    random r(11);
    for (int i = 0; i < count; ++i) {
      box_case c = random_case(r, types, GetParam());
      SCOPED_TRACE("case " + std::to_string(i) + ": rank " + std::to_string(c.map.rank) + " " +
                   name(c.map.type) + " swizzle " + std::to_string(int(c.map.swizzle)));
      check(c);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
};

/// To 10 mantissa bits, nearest even.
void round_one(std::byte* at) {
  float x;
  std::memcpy(&x, at, 4);
  std::uint32_t bits = 0x7FFFE000;
  if (x == x) {
    std::uint32_t const magnitude = __builtin_bit_cast(std::uint32_t, x) & 0x7FFFFFFF;
    std::uint32_t const down = magnitude / 0x2000, rest = magnitude % 0x2000;
    bool const up = rest > 0x1000 || (rest == 0x1000 && down % 2 == 1);
    bits = (down + (up ? 1 : 0)) * 0x2000 | (__builtin_bit_cast(std::uint32_t, x) & 0x80000000);
  }
  std::memcpy(at, &bits, 4);
}

TEST_P(boxes, load_fills_the_box_and_nothing_else) {
  cases(all_types, 600, [](box_case& c) {
    std::vector<std::byte> want = c.smem;
    auto const size = static_cast<std::size_t>(size_bytes(c.map.type));
    each_element(c, [&](std::int64_t tensor, std::int64_t box) {
      std::byte* const to = want.data() + box_case::margin + box;
      if (tensor < 0)
        std::memset(to, 0, size);
      else
        std::memcpy(to, c.tensor() + tensor, size);
      if (c.map.type == elem::tf32) round_one(to);
    });
    load_box(c.map, c.at, c.box(), c.smem_address);
    ASSERT_EQ(c.smem, want);
  });
}

TEST_P(boxes, store_writes_the_chunks_that_begin_inside_and_nothing_else) {
  cases(all_types, 600, [](box_case& c) {
    std::vector<std::uint64_t> want = c.memory;
    auto const size = static_cast<std::size_t>(size_bytes(c.map.type));
    each_element(
        c,
        [&](std::int64_t tensor, std::int64_t box) {
          if (tensor >= 0)
            std::memcpy(reinterpret_cast<std::byte*>(want.data()) + tensor, c.box() + box, size);
        },
        true);
    store_box(c.map, c.at, c.box(), c.smem_address);
    ASSERT_EQ(c.memory, want);
  });
}

template <class T>
void add_one(std::byte* to, std::byte const* value) {
  T x, y;
  std::memcpy(&x, to, sizeof(T));
  std::memcpy(&y, value, sizeof(T));
  float const sum =
      to_float(x) + to_float(y);  // of two NaNs the hardware keeps one: canonical here
  x = from_float<T>(sum == sum ? sum : __builtin_bit_cast(float, 0x7FFFFFFFU));
  std::memcpy(to, &x, sizeof(T));
}

void add_one_integer(std::byte* to, std::byte const* value) {
  std::uint32_t x, y;
  std::memcpy(&x, to, 4);
  std::memcpy(&y, value, 4);
  x += y;
  std::memcpy(to, &x, 4);
}

TEST_P(boxes, reduce_add_adds_the_chunks_that_begin_inside_and_nothing_else) {
  cases({elem::f32, elem::f16, elem::bf16, elem::s32}, 300, [](box_case& c) {
    std::vector<std::uint64_t> want = c.memory;
    each_element(
        c,
        [&](std::int64_t tensor, std::int64_t box) {
          if (tensor < 0) return;
          std::byte* const to = reinterpret_cast<std::byte*>(want.data()) + tensor;
          if (c.map.type == elem::f32) add_one<float>(to, c.box() + box);
          if (c.map.type == elem::f16) add_one<f16>(to, c.box() + box);
          if (c.map.type == elem::bf16) add_one<bf16>(to, c.box() + box);
          if (c.map.type == elem::s32) add_one_integer(to, c.box() + box);
        },
        true);
    reduce_add_box(c.map, c.at, c.box(), c.smem_address);
    ASSERT_EQ(c.memory, want);
  });
}

TEST_P(boxes, coverage_counts_elements) {
  cases(all_types, 600, [](box_case& c) {
    int inside = 0, all = 0;
    each_element(c, [&](std::int64_t tensor, std::int64_t) {
      inside += tensor >= 0;
      ++all;
    });
    ASSERT_EQ(box_coverage(c.map, c.at), inside == all ? coverage::inside
                                         : inside > 0  ? coverage::clipped
                                                       : coverage::outside);
  });
}

INSTANTIATE_TEST_SUITE_P(box, boxes, testing::Bool(),
                         [](auto const& info) { return info.param ? "inside" : "ragged"; });

TEST(box, rows_narrower_than_the_swizzle_begin_at_whole_spans) {
  tensor_map_desc m;
  m.box[0] = 24;
  m.box[1] = 10;
  m.swizzle = swizzle_mode::b128;
  EXPECT_EQ(m.box_bytes(), 480);  // what the mbarrier counts
  EXPECT_EQ(box_smem_bytes(m), 1280);
  m.swizzle = swizzle_mode::none;
  EXPECT_EQ(box_smem_bytes(m), 480);
}

TEST(box, coordinates_that_trap) {
  tensor_map_desc m;
  m.type = elem::bf16;
  for (int x : {-16, -8, 0, 8, 24}) {
    int const at[2] = {x, -1}, inside[2] = {x, 1};
    EXPECT_EQ(coordinates_that_trap(m, at, false), nullptr) << x;
    EXPECT_NE(coordinates_that_trap(m, at, true), nullptr) << x;
    EXPECT_EQ(coordinates_that_trap(m, inside, true) == nullptr, x >= 0) << x;
  }
  for (int x : {-4, 1, 4, 12}) {
    int const at[2] = {x, 0};
    EXPECT_NE(coordinates_that_trap(m, at, false), nullptr) << x;
  }
}

TEST(box, threads_that_store_neighbouring_chunks_do_not_race) {
  // Each of 4 threads owns a tensor whose rows end where the next thread's begin, at a chunk of 16
  // bytes.
  constexpr int threads = 4, columns = 64, mine = 8;
  alignas(16) static std::uint16_t shared[columns];
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([t] {
      tensor_map_desc m;
      m.base = shared;
      m.rank = 1;
      m.dim[0] = mine * (t + 1);
      m.box[0] = 16;
      alignas(16) std::uint16_t box[16];
      for (auto& x : box) x = static_cast<std::uint16_t>(100 + t);
      // The box begins in the thread before; shift the base so that those elements are outside.
      m.base = shared + mine * t;
      m.dim[0] = mine;
      int const at[1] = {0};
      for (int i = 0; i < 2000; ++i)
        store_box(m, at, reinterpret_cast<std::byte const*>(box), 0x400);
    });
  for (auto& t : pool) t.join();
  for (int i = 0; i < threads * mine; ++i) EXPECT_EQ(shared[i], 100 + i / mine);
  for (int i = threads * mine; i < columns; ++i) EXPECT_EQ(shared[i], 0);
}

TEST(box, additions_of_several_threads_are_all_counted) {
  constexpr int threads = 4, rounds = 500;
  alignas(16) static float sums[8][64];
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([] {
      tensor_map_desc m;
      m.type = elem::f32;
      m.base = sums;
      m.dim[0] = 64;
      m.dim[1] = 8;
      m.stride_bytes[0] = 256;
      m.box[0] = 32;
      m.box[1] = 8;
      m.swizzle = swizzle_mode::b128;
      alignas(128) static float const ones[256] = {};
      std::vector<float> box(ones, ones + 256);
      for (float& x : box) x = 1;
      int const at[2] = {16, 0};
      for (int i = 0; i < rounds; ++i)
        reduce_add_box(m, at, reinterpret_cast<std::byte const*>(box.data()), 0x400);
    });
  for (auto& t : pool) t.join();
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 64; ++column)
      EXPECT_EQ(sums[row][column], column >= 16 && column < 48 ? threads * rounds : 0);
}

}  // namespace
}  // namespace tw::emu
