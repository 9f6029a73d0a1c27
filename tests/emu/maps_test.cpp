// SPDX-License-Identifier: Apache-2.0
// maps_test.cpp  One tensor map for all memory, and maps that the device writes: right, and
//                diagnosed where an address is odd or a fence is missing.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tilewright/arch/select.hpp"
#include "tilewright/arch/tensor_map.hpp"
#include "tools/check/mutants/map_kernels.hpp"

namespace tw::test {
namespace {

constexpr int elems = 64 * 8;  // of a matrix

tensor_map_desc matrix_at(void* base) {
  tensor_map_desc d;
  d.base = base;
  d.dim[0] = d.box[0] = 64;
  d.dim[1] = d.box[1] = 8;
  d.stride_bytes[0] = 128;
  return d;
}

/// CTA i copies matrix i of the array to `to`, through one map.
struct copy_matrices {
  struct params {
    tensor_map map;
    void const* const* addresses;
    std::uint16_t* to;
    int column = 0, row = 0;  // where the box begins in its matrix
  };
  struct smem {
    alignas(128) std::uint16_t box[elems];
    mbarrier landed;
  };
  static constexpr int threads = 1, cluster = 1, smem_bytes = sizeof(smem);
  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    s.landed.init(1);
    fence_mbarrier_init();
    tma_place const at = tma_place_of(p.addresses[cta_id()]);
    s.landed.arrive_expect_tx(sizeof s.box);
    tma_load(s.box, p.map, s.landed, tma_coord{p.column, p.row, at.units, at.spans});
    s.landed.wait(0);
    for (int i = 0; i < elems; ++i) p.to[cta_id() * elems + i] = s.box[i];
  }
};

class AllMemory : public testing::Test {
 protected:
  static constexpr int batch = 20;
  static constexpr int apart = elems + 8;  // elements from a matrix to the next: 16 bytes more
  AllMemory() : from(std::size_t{apart} * batch), to(std::size_t{elems} * batch) {
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint16_t>(i * 7919);
    for (int i = 0; i < batch; ++i) addresses.push_back(from.data() + (batch - 1 - i) * apart);
  }
  emu::report run(int column = 0, int row = 0) {
    return emu::run(copy_matrices{}, batch,
                    {make_tensor_map(in_all_memory(matrix_at(nullptr)), target::emu),
                     addresses.data(), to.data(), column, row});
  }
  void expect_refused(std::string const& address) {
    auto const report = run();
    ASSERT_FALSE(report.clean());
    EXPECT_EQ(report.diagnoses.front().code, "E0013") << report.text();
    EXPECT_NE(report.text().find("begins at " + address), std::string::npos) << report.text();
  }

  std::vector<std::uint16_t> from, to;
  std::vector<void const*> addresses;
};

TEST_F(AllMemory, OneMapReachesEachMatrix) {
  auto const report = run();
  EXPECT_TRUE(report.clean()) << report.text();
  for (int i = 0; i < batch; ++i)
    for (int e = 0; e < elems; ++e)
      ASSERT_EQ(to[static_cast<std::size_t>(i * elems + e)],
                from[static_cast<std::size_t>((batch - 1 - i) * apart + e)]);
}

TEST_F(AllMemory, AnOddAddressIsDiagnosed) {
  addresses[3] = from.data() + 1;
  char text[32];
  std::snprintf(text, sizeof text, "%p", addresses[3]);
  expect_refused(text);
}

TEST_F(AllMemory, NullIsDiagnosed) {
  addresses[3] = nullptr;
  expect_refused("0, or 2^53");
}

/// An H100 stops with an illegal memory access then (docs/decisions/0026).
TEST_F(AllMemory, ABoxWithoutAnElementOfTheMatrixIsDiagnosed) {
  for (auto const& [column, row] : {std::pair{64, 0}, std::pair{0, 8}, std::pair{0, -8}}) {
    auto const report = run(column, row);
    ASSERT_FALSE(report.clean()) << column << " " << row;
    EXPECT_EQ(report.diagnoses.front().code, "E0023") << report.text();
    EXPECT_NE(report.text().find("no element of the matrix"), std::string::npos) << report.text();
  }
  EXPECT_TRUE(run(56, 7).clean());
  EXPECT_TRUE(run(-56, -7).clean());
}

TEST_F(AllMemory, PlacesAreInsideOfTheMap) {  // else a copy would be clipped without a word
  tensor_map_desc const d = in_all_memory({});
  for (std::uint64_t const address :
       {std::uint64_t{0}, std::uint64_t{15}, std::uint64_t{16}, std::uint64_t{17},
        (std::uint64_t{1} << 47) - 1, std::uint64_t{1} << 53, ~std::uint64_t{0}}) {
    tma_place const at = tma_place_of(reinterpret_cast<void const*>(address));
    EXPECT_TRUE(at.units >= 0 && at.units < d.dim[2]) << address;
    EXPECT_TRUE(at.spans >= 0 && at.spans < d.dim[3]) << address;
  }
}

/// The first diagnosis of the kernels that write maps and use them, one change apart from right.
std::string code_of(mutants::map_mutation broken) {
  using mutants::use_maps, mutants::write_maps;
  constexpr int matrices = write_maps::threads;
  std::vector<std::uint16_t> from(std::size_t{matrices} * use_maps::elems), to(from.size());
  std::vector<tensor_map> maps(matrices);
  std::vector<void const*> addresses;
  for (int i = 0; i < matrices; ++i) addresses.push_back(from.data() + i * use_maps::elems);
  mutants::map_params const p{make_tensor_map(matrix_at(from.data()), target::emu), maps.data(),
                              addresses.data(), to.data(), broken};
  emu::report r = emu::run(write_maps{}, 1, p);
  if (r.clean()) r = emu::run(use_maps{}, matrices, p);
  return r.clean() ? "" : r.diagnoses.front().code;
}

TEST(DeviceMaps, NeedBothFencesAndWholeAddresses) {
  using enum mutants::map_mutation;
  EXPECT_EQ(code_of(none), "");
  EXPECT_EQ(code_of(no_acquire), "E0049");
  EXPECT_EQ(code_of(other_map_acquired), "E0049");
  EXPECT_EQ(code_of(no_release), "E0050");
  EXPECT_EQ(code_of(odd_address), "E0013");
}

}  // namespace
}  // namespace tw::test
