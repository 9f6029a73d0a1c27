// SPDX-License-Identifier: Apache-2.0
// copy_names_test.cpp  Copies, descriptors and TMA parameters as expressions.
#include "tilewright/atom/copy_names.hpp"
#include "tilewright/atom/call.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "layout/operations.hpp"
#include "tilewright/base/check.hpp"

namespace tw::detail {

std::span<operation const> copy_operations();

namespace {

/// An operation of the table applied to texts.
std::string apply(std::string_view name, std::vector<std::string> const& texts) {
  std::vector<argument> args;
  for (std::string const& t : texts) args.push_back({t, 0});
  for (operation const& o : copy_operations()) {
    if (o.name != name) continue;
    int const n = static_cast<int>(args.size());
    EXPECT_TRUE(o.least <= n && n <= o.most);
    return o.apply(arguments(args)).res;
  }
  return "no such operation";
}

/// As an expression.
std::string tv(std::string const& copy, std::string const& side) {
  return call("tv", std::vector{copy, side}).res;
}

TEST(CopyNames, SidesOfACopy) {
  EXPECT_EQ(tv("copy.sm75.ldmatrix.x4", "src"), "(32,128):(128,1)");
  EXPECT_EQ(tv("copy_atom(SM75_U32x4_LDSM_N,16)", "dst"), "(32,(2,4)):(2,(1,64))");
  std::string const c = "tiled_copy(copy_atom(copy.universal.128,32),(32,8),(4,1))";
  EXPECT_EQ(tv(c, "src"), "(256,(4,1)):(4,(1,0))");
  EXPECT_EQ(tv(c, "ref"), "(256,4):(4,1)");
  EXPECT_EQ(apply("copy_partition_s", {c, "7", "(128,16):(1,128)"}), "((4,1),1,2):((1,0),0,1024)");
  EXPECT_EQ(apply("copy_atom", {"SM90_U16x8_STSM_T", "16"}),
            "copy_atom(copy.sm90.stmatrix.x4.t,16)");
  EXPECT_THROW(copy_tv("copy.sm75.ldmatrix.x4", "left"), rejected);
}

TEST(CopyNames, BlocksDescriptorsAndMaps) {
  EXPECT_EQ(apply("smem_atom", {"K", "128", "16"}), "Sw<3,3,3> o 0 o (8,64):(64,1)");
  EXPECT_EQ(apply("smem_atom", {"MN", "12832", "32"}), "Sw<2,3,2> o 0 o (32,4):(1,32)");
  EXPECT_EQ(apply("widest_smem_atom", {"K", "16", "(128,96)"}), "Sw<2,3,3> o 0 o (8,32):(32,1)");
  std::string const tile = "Sw<3,3,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))";
  EXPECT_EQ(apply("wgmma_descriptor", {tile, "K", "16", "1"}),
            "start 2 leading 1 stride 64 base_offset 0 layout_type 1 (offsets in 16 bytes)");
  EXPECT_EQ(apply("tcgen05_descriptor", {tile, "K", "16", "0"}),
            "start 0 leading 1 stride 64 version 1 base_offset 0 leading_mode 0 layout_type 2 "
            "(offsets in 16 bytes)");
  EXPECT_EQ(apply("tma_params", {"(1024,512):(512,1)", tile, "(128,64)", "16"}),
            "basis (64,128):(1@1,1@0) dim (512,1024) stride_bytes (2,1024) box (64,128) swizzle "
            "128 B");
  EXPECT_THROW(apply("smem_atom", {"K", "100", "16"}), rejected);
  EXPECT_THROW(apply("smem_atom", {"N", "128", "16"}), rejected);
}

TEST(CopyNames, TableIsSortedAndNamesAreKnown) {
  auto const table = copy_operations();
  EXPECT_TRUE(std::ranges::is_sorted(table, {}, &operation::name));
  auto const names = copy_names();
  EXPECT_GT(names.size(), 200U);
  for (std::string const& name : names) EXPECT_EQ(canonical_copy_name(name), name);
}

}  // namespace
}  // namespace tw::detail
