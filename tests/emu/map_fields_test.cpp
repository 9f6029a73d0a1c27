// SPDX-License-Identifier: Apache-2.0
// map_fields_test.cpp  A grouped copy of ragged matrices through one tensor map that a warp
//                      rewrites in shared memory for each group, as a grouped GEMM does; and what
//                      is said of it where a step is missing.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tilewright/arch/select.hpp"
#include "tilewright/arch/tensor_map.hpp"

namespace tw::test {
namespace {

enum class broken {
  nothing,
  no_acquire,
  changed_in_flight,
  used_in_shared_memory,
  odd_stride,
  odd_rank,
  wide_box
};

struct matrix {
  float* at;
  int rows, columns;  // columns: a multiple of 4
};

/// A CTA of one warp: each matrix of the list goes to shared memory in boxes of 16 rows of 32,
/// zeros beyond its end, and its sum to `sums`.
struct grouped_sums {
  struct params {
    tensor_map like;  // f32, boxes of 16 x 32
    tensor_map* scratch;
    matrix const* list;
    float* sums;
    int count;
    broken how;
  };
  static constexpr int rows = 16, columns = 32;
  struct smem {
    alignas(128) float box[rows][columns];
    alignas(128) tensor_map map;
    mbarrier landed;
    float sum[32];
  };
  static constexpr int threads = 32, cluster = 1, smem_bytes = sizeof(smem);

  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    int const lane = lane_id();
    if (lane == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
      s.map = p.like;
    }
    warp_sync();
    std::uint32_t phase = 0;
    for (int g = 0; g < p.count; ++g) {
      matrix const& m = p.list[g];
      constexpr auto in_shared = map_space::shared;
      if (lane == 0) {
        tensor_map_set_address_shared(s.map, m.at);
        tensor_map_set_dim<0, in_shared>(s.map, static_cast<std::uint32_t>(m.columns));
        tensor_map_set_dim<1, in_shared>(s.map, static_cast<std::uint32_t>(m.rows));
        tensor_map_set_stride<0, in_shared>(
            s.map, static_cast<std::uint64_t>(m.columns * 4 + (p.how == broken::odd_stride)));
        if (p.how == broken::odd_rank) tensor_map_set_rank<in_shared>(s.map, 6);
        if (p.how == broken::wide_box) tensor_map_set_box<0, in_shared>(s.map, 3);
      }
      warp_sync();
      tensor_map_copy_release(*p.scratch, s.map);
      if (p.how != broken::no_acquire) tensor_map_acquire(*p.scratch);
      warp_sync();
      float sum = 0;
      for (int r = 0; r < m.rows; r += rows)
        for (int c = 0; c < m.columns; c += columns) {
          if (lane == 0) {
            s.landed.arrive_expect_tx(sizeof s.box);
            tma_load(s.box, p.how == broken::used_in_shared_memory ? s.map : *p.scratch, s.landed,
                     tma_coord{c, r});
            if (p.how == broken::changed_in_flight)
              tensor_map_set_dim<1>(*p.scratch, static_cast<std::uint32_t>(m.rows));
          }
          s.landed.wait(phase);
          phase ^= 1U;
          for (int i = 0; i < rows; ++i) sum += s.box[i][lane];
          warp_sync();
        }
      s.sum[lane] = sum;
      warp_sync();
      if (lane == 0) {
        float all = 0;
        for (float const x : s.sum) all += x;
        p.sums[g] = all;
      }
      warp_sync();
    }
    if (p.how == broken::changed_in_flight) tensor_map_release();
  }
};

class MapFields : public testing::TestWithParam<emu::async_policy> {
 protected:
  MapFields() {
    for (auto const& [rows, columns] : {std::pair{5, 36}, {16, 32}, {33, 4}, {1, 64}}) {
      data.emplace_back(static_cast<std::size_t>(rows * columns));
      for (std::size_t i = 0; i < data.back().size(); ++i)
        data.back()[i] = static_cast<float>(static_cast<int>(i * 7919 % 255) - 127);
      list.push_back({data.back().data(), rows, columns});
      want.push_back(0);
      for (float const x : data.back()) want.back() += x;
    }
  }
  emu::report run(broken how) {
    tensor_map_desc d;
    d.base = list[0].at;
    d.type = elem::f32;
    d.dim[0] = d.box[0] = 32;
    d.dim[1] = d.box[1] = 16;
    d.stride_bytes[0] = 128;
    emu::options o;
    o.policy = GetParam();
    o.os_threads = 1;
    sums.assign(list.size(), -1);
    return emu::run(grouped_sums{}, 1,
                    {make_tensor_map(d, target::emu), &scratch, list.data(), sums.data(),
                     static_cast<int>(list.size()), how},
                    o);
  }
  void expect(broken how, std::string const& code, std::string const& part) {
    emu::report const r = run(how);
    ASSERT_FALSE(r.clean());
    EXPECT_EQ(r.diagnoses.front().code, code) << r.text();
    EXPECT_NE(r.text().find(part), std::string::npos) << r.text();
  }

  alignas(128) tensor_map scratch{};
  std::vector<std::vector<float>> data;
  std::vector<matrix> list;
  std::vector<float> want, sums;
};

TEST_P(MapFields, RaggedGroupsGoThroughOneMap) {
  emu::report const r = run(broken::nothing);
  EXPECT_TRUE(r.clean()) << r.text();
  EXPECT_EQ(sums, want);
}
TEST_P(MapFields, UseWithoutAcquire) {
  expect(broken::no_acquire, "E0049", "no thread of its CTA has acquired");
}
TEST_P(MapFields, ChangeWhileACopyIsUnderWay) {
  expect(broken::changed_in_flight, "E0042", "read as a tensor map by a TMA copy");
}
TEST_P(MapFields, UseInSharedMemory) {
  expect(broken::used_in_shared_memory, "E0055", "A TMA operation's tensor map");
}
TEST_P(MapFields, ValuesThatTmaCannotUse) {
  expect(broken::odd_stride, "E0013", "strides are multiples of 16 bytes");
  expect(broken::odd_rank, "E0013", "a tensor has 1 to 5 dimensions, not 6");
  expect(broken::wide_box, "E0013", "describes nothing that TMA can copy");
}
INSTANTIATE_TEST_SUITE_P(Policies, MapFields,
                         testing::Values(emu::async_policy::eager, emu::async_policy::lazy,
                                         emu::async_policy::random));

}  // namespace
}  // namespace tw::test
