// SPDX-License-Identifier: Apache-2.0
// maps_test.cpp  Tensor maps that the device writes: right with both fences, diagnosed without.
#include <gtest/gtest.h>

#include <vector>

#include "tilewright/arch/select.hpp"
#include "tilewright/arch/tensor_map.hpp"

namespace tw::test {
namespace {

constexpr int elems = 64 * 8;  // of a matrix

/// CTA i copies matrix i, that its map in global memory describes, to `to`.
template <bool Acquires>
struct copy_matrices {
  struct params {
    tensor_map const* maps;
    std::uint16_t* to;
  };
  struct smem {
    alignas(128) std::uint16_t box[elems];
    mbarrier landed;
  };
  static constexpr int threads = 32, cluster = 1, smem_bytes = sizeof(smem);
  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
      if constexpr (Acquires) tensor_map_acquire(p.maps[cta_id()]);
      s.landed.arrive_expect_tx(sizeof s.box);
      tma_load(s.box, p.maps[cta_id()], s.landed, tma_coord<2>{{0, 0}});
      s.landed.wait(0);
      for (int i = 0; i < elems; ++i) p.to[cta_id() * elems + i] = s.box[i];
    }
  }
};

/// Writes a map for each matrix: copies of `like` with its address.
template <bool Releases>
struct write_maps {
  struct params {
    tensor_map like;
    tensor_map* maps;
    void const* const* addresses;
    int matrices;
  };
  static constexpr int threads = 128, cluster = 1, smem_bytes = 0;
  TW_DEVICE static void run(params const& p) {
    int const i = cta_id() * threads + thread_id();
    if (i >= p.matrices) return;
    p.maps[i] = p.like;
    tensor_map_set_address(p.maps[i], p.addresses[i]);
    if constexpr (Releases) tensor_map_release();
  }
};

/// CTA i copies matrix i of the array to `to`, through one map over all memory.
struct copy_by_place {
  struct params {
    tensor_map map;
    void const* const* addresses;
    std::uint16_t* to;
  };
  using smem = copy_matrices<true>::smem;
  static constexpr int threads = 32, cluster = 1, smem_bytes = sizeof(smem);
  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    if (thread_id() == 0) {
      s.landed.init(1);
      fence_mbarrier_init();
      tma_place const at = tma_place_of(p.addresses[cta_id()]);
      s.landed.arrive_expect_tx(sizeof s.box);
      tma_load(s.box, p.map, s.landed, tma_coord{0, 0, at.units, at.spans});
      s.landed.wait(0);
      for (int i = 0; i < elems; ++i) p.to[cta_id() * elems + i] = s.box[i];
    }
  }
};

class Maps : public testing::Test {
 protected:
  static constexpr int batch = 150;  // more than a CTA of write_maps writes
  Maps() : maps(batch), from(std::size_t{elems} * batch), to(from.size()) {
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint16_t>(i * 7919);
    for (int i = 0; i < batch; ++i) addresses.push_back(from.data() + (batch - 1 - i) * elems);
    like = make_tensor_map(matrix(), target::emu);
  }
  tensor_map_desc matrix() {
    tensor_map_desc d;
    d.base = from.data();
    d.dim[0] = 64, d.dim[1] = 8;
    d.stride_bytes[0] = 128;
    d.box[0] = 64, d.box[1] = 8;
    return d;
  }
  void expect_copies() const {
    for (int i = 0; i < batch; ++i)
      for (int e = 0; e < elems; ++e)
        ASSERT_EQ(to[static_cast<std::size_t>(i * elems + e)],
                  from[static_cast<std::size_t>((batch - 1 - i) * elems + e)]);
  }
  static constexpr int writers = (batch + 127) / 128;
  write_maps<true>::params preparation() { return {like, maps.data(), addresses.data(), batch}; }
  copy_by_place::params all_memory() {
    return {make_tensor_map(in_all_memory(matrix()), target::emu), addresses.data(), to.data()};
  }
  std::string code_of(emu::report const& r) { return r.clean() ? "" : r.diagnoses.front().code; }

  std::vector<tensor_map> maps;
  std::vector<std::uint16_t> from, to;
  std::vector<void const*> addresses;
  tensor_map like;
};

TEST_F(Maps, EachProductHasItsMatrix) {
  EXPECT_TRUE(emu::run(write_maps<true>{}, writers, preparation()).clean());
  auto const report = emu::run(copy_matrices<true>{}, batch, {maps.data(), to.data()});
  EXPECT_TRUE(report.clean()) << report.text();
  expect_copies();
}

TEST_F(Maps, AMapThatWasNotAcquiredIsDiagnosed) {
  emu::run(write_maps<true>{}, writers, preparation());
  auto const report = emu::run(copy_matrices<false>{}, batch, {maps.data(), to.data()});
  EXPECT_EQ(code_of(report), "E0049") << report.text();
}

TEST_F(Maps, AMapThatWasNotReleasedIsDiagnosed) {
  write_maps<false>::params const p{like, maps.data(), addresses.data(), batch};
  EXPECT_EQ(code_of(emu::run(write_maps<false>{}, writers, p)), "E0050");
}

TEST_F(Maps, AnAddressThatTmaCannotUseIsDiagnosed) {
  addresses[3] = from.data() + 1;
  auto const report = emu::run(write_maps<true>{}, writers, preparation());
  EXPECT_EQ(code_of(report), "E0013") << report.text();
}

TEST_F(Maps, OneMapReachesAMatrixAnywhere) {
  auto const report = emu::run(copy_by_place{}, batch, all_memory());
  EXPECT_TRUE(report.clean()) << report.text();
  expect_copies();
}

TEST_F(Maps, APlaceBetweenMultiplesOf16BytesIsDiagnosed) {
  addresses[3] = from.data() + 1;
  auto const report = emu::run(copy_by_place{}, batch, all_memory());
  EXPECT_EQ(code_of(report), "E0013") << report.text();
  EXPECT_NE(report.text().find("TMA cannot address a matrix that begins at"), std::string::npos);
}

}  // namespace
}  // namespace tw::test
