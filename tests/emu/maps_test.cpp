// SPDX-License-Identifier: Apache-2.0
// maps_test.cpp  Tensor maps that the device writes: right with both fences, diagnosed without.
#include <gtest/gtest.h>

#include <vector>

#include "tilewright/arch/tensor_map.hpp"
#include "tilewright/kernel/batch_maps.hpp"

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

/// batch_maps without its release.
struct forgets_release : batch_maps {
  TW_DEVICE static void run(params const& p) {
    int const i = thread_id();
    if (i >= p.batch) return;
    p.operand[0].maps[i] = p.operand[0].like;
    tensor_map_set_address(p.operand[0].maps[i], p.operand[0].addresses[i]);
  }
};

class Maps : public testing::Test {
 protected:
  static constexpr int batch = 150;  // more than a CTA of batch_maps writes
  Maps() : maps(batch), from(std::size_t{elems} * batch), to(from.size()) {
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint16_t>(i * 7919);
    for (int i = 0; i < batch; ++i) addresses.push_back(from.data() + (batch - 1 - i) * elems);
    tensor_map_desc d;
    d.base = from.data();
    d.dim[0] = 64, d.dim[1] = 8;
    d.stride_bytes[0] = 128;
    d.box[0] = 64, d.box[1] = 8;
    like = make_tensor_map(d, target::emu);
  }
  batch_maps::params preparation() {
    return {
        {{like, maps.data(), addresses.data()}, {like, nullptr, nullptr}, {like, nullptr, nullptr}},
        batch};
  }
  std::string code_of(emu::report const& r) { return r.clean() ? "" : r.diagnoses.front().code; }

  std::vector<tensor_map> maps;
  std::vector<std::uint16_t> from, to;
  std::vector<void const*> addresses;
  tensor_map like;
};

TEST_F(Maps, EachProductHasItsMatrix) {
  EXPECT_TRUE(emu::run(batch_maps{}, batch_maps::ctas(batch), preparation()).clean());
  auto const report = emu::run(copy_matrices<true>{}, batch, {maps.data(), to.data()});
  EXPECT_TRUE(report.clean()) << report.text();
  for (int i = 0; i < batch; ++i)
    for (int e = 0; e < elems; ++e)
      ASSERT_EQ(to[static_cast<std::size_t>(i * elems + e)],
                from[static_cast<std::size_t>((batch - 1 - i) * elems + e)]);
}

TEST_F(Maps, AMapThatWasNotAcquiredIsDiagnosed) {
  emu::run(batch_maps{}, batch_maps::ctas(batch), preparation());
  auto const report = emu::run(copy_matrices<false>{}, batch, {maps.data(), to.data()});
  EXPECT_EQ(code_of(report), "E0049") << report.text();
}

TEST_F(Maps, AMapThatWasNotReleasedIsDiagnosed) {
  EXPECT_EQ(code_of(emu::run(forgets_release{}, 1, preparation())), "E0050");
}

TEST_F(Maps, AnAddressThatTmaCannotUseIsDiagnosed) {
  addresses[3] = from.data() + 1;
  auto const report = emu::run(batch_maps{}, batch_maps::ctas(batch), preparation());
  EXPECT_EQ(code_of(report), "E0013") << report.text();
}

}  // namespace
}  // namespace tw::test
