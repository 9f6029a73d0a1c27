// SPDX-License-Identifier: Apache-2.0
// tcgen05_tf32_test.cpp  MN-major tf32 operands. TMA loads them with the swizzle of 128 bytes in
//                        atoms of 32 bytes, the layout algebra makes their descriptors, and the
//                        results are compared with float64.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tilewright/arch/select.hpp"
#include "tilewright/arch/tensor_map.hpp"
#include "tilewright/atom/descriptor.hpp"
#include "tilewright/atom/umma_idesc.hpp"
#include "tilewright/layout/tile_to_shape.hpp"

namespace tw::test {
namespace {

constexpr int max_rows = 256, tile_k = 32;  // 128 bytes along K
constexpr int span = 32;                    // elements of 128 bytes
constexpr int max_columns = 256;

struct tf32_operand {
  operand_major major;
  int rows;  // of M or N
  /// Shared-memory layout of the tile (M or N, K); spans of an MN-major one follow each other.
  layout tile() const {
    bool const mn = major == operand_major::mn;
    return tile_to_shape(smem_atom(major, mn ? smem_swizzle::b128_base32 : smem_swizzle::b128, 32),
                         make_shape(rows, tile_k), mn ? make_tree(1, 0) : make_tree(0, 1));
  }
  std::uint64_t step(std::uint32_t address, int k) const {
    return make_tcgen05_descriptor(places_of_operand(operand_step(tile(), 32, k), major, 32))
        .at(address);
  }
  int boxes() const { return major == operand_major::mn ? rows / span : 1; }
  tensor_map_desc map(float* from) const {
    bool const mn = major == operand_major::mn;
    tensor_map_desc d;
    d.base = from;
    d.type = elem::tf32;
    d.dim[0] = mn ? rows : tile_k;
    d.dim[1] = mn ? tile_k : rows;
    d.stride_bytes[0] = d.dim[0] * 4;
    d.box[0] = span;
    d.box[1] = static_cast<std::int32_t>(d.dim[1]);
    d.swizzle = mn ? swizzle_mode::b128_base32 : swizzle_mode::b128;
    return d;
  }
  /// Place of element (mn, k) in memory.
  std::size_t at(int mn, int k) const {
    return static_cast<std::size_t>(major == operand_major::mn ? k * rows + mn : mn * tile_k + k);
  }
};

struct tf32_probe {
  struct params {
    tensor_map a, b;
    int a_boxes, b_boxes;
    std::uint64_t a_steps[4], b_steps[4];  // descriptors of tiles at address 0
    std::uint32_t idesc;
    float* d;  // [128][max_columns]
    int m, n;
  };
  struct smem {
    alignas(1024) float a[max_rows * tile_k], b[max_rows * tile_k];
    mbarrier full, done;
    std::uint32_t at;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = sizeof(smem);

  static void load(float* to, tensor_map const& map, mbarrier& full, int boxes, int box_elements) {
    for (int i = 0; i < boxes; ++i)
      tma_load(to + i * box_elements, map, full, tma_coord{span * i, 0});
  }
  static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      s.full.init(1);
      s.done.init(1);
      fence_mbarrier_init();
    }
    if (warp_id() == 0) tmem_alloc(&s.at, max_columns);
    cta_sync();
    for (int c = 0; c < p.n; ++c)  // with M = 64 half of the lanes have no row
      tmem_store<tmem_shape::l32x32b, 1>(tmem_at(s.at, 32 * warp_id(), c), {{0}});
    tmem_wait_store();
    tcgen05_fence_before();
    cta_sync();
    tcgen05_fence_after();
    if (warp_id() == 0 && elect_one()) {
      s.full.arrive_expect_tx((p.m + p.n) * tile_k * 4);
      load(s.a, p.a, s.full, p.a_boxes, span * tile_k);
      load(s.b, p.b, s.full, p.b_boxes, span * tile_k);
      s.full.wait(0);
      for (int step = 0; step < 4; ++step)
        umma<umma_kind::tf32>(s.at, umma_desc{p.a_steps[step]} + static_cast<int>(smem_addr(s.a)),
                              umma_desc{p.b_steps[step]} + static_cast<int>(smem_addr(s.b)),
                              p.idesc, step > 0);
      umma_commit(s.done);
    }
    s.done.wait(0);
    tcgen05_fence_after();
    for (int c = 0; c < p.n; ++c) {
      auto v = tmem_load<tmem_shape::l32x32b, 1>(tmem_at(s.at, 32 * warp_id(), c));
      tmem_wait_load(v);
      p.d[thread_id() * max_columns + c] = tmem_float(v.r[0]);
    }
    cta_sync();
    if (warp_id() == 0) tmem_dealloc(s.at, max_columns);
  }
};

/// The operands of a run; `change` may plant a fault.
struct tf32_run {
  tf32_operand a, b;
  std::vector<float> a_values, b_values, d;
  tf32_probe::params p{};

  tf32_run(operand_major of_a, operand_major of_b, int m, int n)
      : a{of_a, m},
        b{of_b, n},
        a_values(static_cast<std::size_t>(m * tile_k)),
        b_values(static_cast<std::size_t>(n * tile_k)),
        d(128 * max_columns) {
    std::mt19937 random(static_cast<unsigned>(m + n));
    for (std::vector<float>* const x : {&a_values, &b_values})
      for (float& v : *x) v = static_cast<float>(static_cast<int>(random() % 513) - 256) / 64.0F;
    p = {make_tensor_map(a.map(a_values.data()), target::emu),
         make_tensor_map(b.map(b_values.data()), target::emu),
         a.boxes(),
         b.boxes(),
         {},
         {},
         umma_idesc{.a_format = idesc_format(mma_type::tf32),
                    .b_format = idesc_format(mma_type::tf32),
                    .a_major = of_a,
                    .b_major = of_b,
                    .n = n,
                    .m = m}
             .bits(),
         d.data(),
         m,
         n};
    for (int step = 0; step < 4; ++step) {
      p.a_steps[step] = a.step(0, step);
      p.b_steps[step] = b.step(0, step);
    }
  }
  emu::report run() { return emu::run(tf32_probe{}, 1, p); }
};

void check_tf32(operand_major of_a, operand_major of_b, int m, int n) {
  SCOPED_TRACE(testing::Message() << "A " << static_cast<int>(of_a) << " B "
                                  << static_cast<int>(of_b) << " M " << m << " N " << n);
  tf32_run r(of_a, of_b, m, n);
  emu::report const report = r.run();
  ASSERT_TRUE(report.clean()) << report.text();
  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;  // exact in float32 too
      for (int k = 0; k < tile_k; ++k)
        sum += static_cast<double>(r.a_values[r.a.at(i, k)]) *
               static_cast<double>(r.b_values[r.b.at(j, k)]);
      int const lane = m == 64 ? i / 16 * 32 + i % 16 : i;
      float const got = r.d[static_cast<std::size_t>(lane * max_columns + j)];
      if (static_cast<double>(got) != sum && ++wrong <= 3)
        ADD_FAILURE() << i << ", " << j << ": " << got << ", not " << sum;
    }
}

TEST(Tf32MnMajor, MultipliesWhatTmaBrings) {
  constexpr auto k = operand_major::k, mn = operand_major::mn;
  for (int const m : {64, 128})
    for (int const n : {32, 96, 256}) {
      check_tf32(k, k, m, n);
      check_tf32(mn, k, m, n);
      check_tf32(k, mn, m, n);
      check_tf32(mn, mn, m, n);
    }
}

TEST(Tf32MnMajor, AnotherSwizzleOfTheMapIsReported) {
  tf32_run r(operand_major::mn, operand_major::k, 128, 32);
  tensor_map_desc d = r.a.map(r.a_values.data());
  d.swizzle = swizzle_mode::b128;
  r.p.a = make_tensor_map(d, target::emu);
  emu::report const report = r.run();
  EXPECT_TRUE(report.has("E0037")) << report.text();
  EXPECT_NE(report.text().find("128 bytes in atoms of 32; TMA wrote it with 128."),
            std::string::npos)
      << report.text();
}

TEST(Tf32MnMajor, LayoutTypesThatPtxDoesNotHaveAreRefused) {
  constexpr std::uint64_t type_1 = std::uint64_t{1} << 61, type_2 = std::uint64_t{2} << 61;
  tf32_run mn(operand_major::mn, operand_major::k, 128, 32);
  for (std::uint64_t& x : mn.p.a_steps) x ^= type_1 | type_2;  // 128 bytes in chunks of 16
  emu::report const wide = mn.run();
  EXPECT_TRUE(wide.has("E0103")) << wide.text();
  EXPECT_NE(wide.text().find("b128_base32"), std::string::npos) << wide.text();
  tf32_run k(operand_major::k, operand_major::k, 128, 32);
  for (std::uint64_t& x : k.p.a_steps) x ^= type_1 | type_2;
  emu::report const narrow = k.run();
  EXPECT_TRUE(narrow.has("E0103")) << narrow.text();
  EXPECT_NE(narrow.text().find("MN-major operands of 32 bits"), std::string::npos) << narrow.text();
}

TEST(Tf32MnMajor, GroupsOfFourRowsAreTheStrideOffset) {
  tf32_run r(operand_major::mn, operand_major::mn, 128, 64);
  umma_desc const a{r.p.a_steps[0]};
  EXPECT_EQ(a.layout_type(), 1);
  EXPECT_EQ(a.stride_bytes(), 4U * 128U);
  EXPECT_EQ(a.leading_bytes(), 4U * span * tile_k);
  EXPECT_EQ(umma_desc{r.p.a_steps[1]}.address(), 8U * 128U);
  EXPECT_EQ(make_umma_desc(0, 4U * span * tile_k, 4U * 128U, swizzle_mode::b128_base32).bits,
            r.p.a_steps[0]);
  for (std::uint64_t& x : r.p.b_steps)  // groups of 8, as chunks of 16 bytes have them
    x = (x & ~(std::uint64_t{0x3FFF} << 32)) | std::uint64_t{8 * 128 / 16} << 32;
  EXPECT_FALSE(r.run().clean());
}

}  // namespace
}  // namespace tw::test
