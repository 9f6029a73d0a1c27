// SPDX-License-Identifier: Apache-2.0
// tma_params_test.cpp  Derived TMA boxes fill shared memory in order, and are legal tensor maps.
#include "tilewright/atom/tma_params.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tilewright/atom/operand.hpp"
#include "tilewright/atom/tma_map.hpp"

namespace tw {
namespace {

constexpr tma_params example =
    make_tma_params("(1024,512):(512,1)"_L, "Sw<2,3,3> o 0 o ((8,16),(32,2)):((32,256),(1,4096))"_L,
                    tile(128, 64), 16);
static_assert(example.basis == "(32,128):(1@1,1@0)"_L);
static_assert(example.box[0] == 32 && example.box[1] == 128 && example.stride_bytes[1] == 1024);
static_assert(example.swizzle == smem_swizzle::b64 && example.box_bytes() == 8192);

// Modes that are contiguous to each other are one dimension, up to 256 elements of the box.
static_assert(make_tma_params("(8,16,512):(1,8,128)"_L, "(8,16,4):(1,8,128)"_L, tile(8, 16, 4), 16)
                  .basis == "((8,16),4):((1@0,1@1),1@2)"_L);
static_assert(make_tma_params("(16,32,64):(1,16,512)"_L, "(16,32,2):(1,16,512)"_L, tile(16, 32, 2),
                              16)
                  .basis == "(16,(32,2)):(1@0,(1@1,1@2))"_L);

/// The leaves of a coordinate, by path: positions that no stride names are 0.
std::map<std::uint32_t, i64> leaves_of(layout const& l, i64 index) {
  std::map<std::uint32_t, i64> c;
  for (int i = 0; i < l.shape.n; ++i) {
    i64 const at = index % l.extent(i);
    index /= l.extent(i);
    if (l.stride[i].v != 0) c[l.stride[i].unit] += at * l.stride[i].v;
  }
  return c;
}

struct example_row {
  char const* gmem;
  char const* smem;
  tiler tile;
  i64 bits;
};

layout parsed(char const* text) {
  return parse_layout(text, static_cast<int>(std::string(text).size()));
}

example_row const rows[] = {
    {"(1024,256):(256,1)", "(64,32):(32,1)", tile(64, 32), 32},
    {"(1024,512):(1,1024)", "Sw<3,3,3> o 0 o ((64,2),(8,8)):((1,512),(64,1024))", tile(128, 64),
     16},
    {"(1024,512):(1,1024)", "Sw<3,3,3> o 0 o ((64,2),(8,8)):((1,4096),(64,512))", tile(128, 64),
     16},
    {"(1024,512):(512,1)", "Sw<3,3,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))", tile(128, 64), 16},
    {"(1024,512):(512,1)", "Sw<1,3,3> o 0 o ((8,16),(16,4)):((16,128),(1,2048))", tile(128, 64),
     16},
    {"(1024,512):(512,1)", "((8,16),(8,8)):((8,64),(1,1024))", tile(128, 64), 16},
    {"(1024,512,7):(512,1,524288)", "Sw<3,4,3> o 0 o ((8,8),(128,1)):((128,1024),(1,0))",
     tile(64, 128), 8},
    {"(1024,32,512):(64,1,65536)", "(16,8,2):(16,1,8)", tile(16, 8, 2), 32},
    {"((32,32),512):((512,16384),1)", "Sw<3,3,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))",
     tile(128, 64), 16},
    {"(8,16,512):(1,8,128)", "(8,16,4):(1,8,128)", tile(8, 16, 4), 16},
    {"(64,32,16,8,4,2):(1,64,2048,32768,262144,1048576)", "(64,8):(1,64)", tile(64, 8), 16},
};

/// Law: element j of the box that fills the addresses from k * size(box) on is at the basis'
/// coordinate j from its first element; and the basis' coordinates are addresses in global memory.
TEST(TmaParams, BoxesFillSharedMemoryInOrder) {
  for (example_row const& r : rows) {
    SCOPED_TRACE(testing::Message() << r.gmem << " to " << r.smem);
    layout const gmem = parsed(r.gmem), smem = parsed(r.smem);
    tma_params const p = make_tma_params(gmem, smem, r.tile, r.bits);
    layout const cells = composition(make_identity_layout(gmem.shape), r.tile);
    i64 const box = p.box_elems();
    ASSERT_EQ(size(smem) % box, 0);
    std::map<i64, i64> at_address;  // unswizzled address -> index in the tile
    for (i64 i = 0; i < size(smem); ++i) at_address[linear_part(smem)(i)] = i;
    ASSERT_EQ(std::ssize(at_address), size(smem));
    for (auto const& [address, index] : at_address) {
      auto here = leaves_of(cells, index);
      auto const first = leaves_of(cells, at_address.at(address / box * box));
      for (auto const& [path, at] : first) here[path] -= at;
      auto const want = leaves_of(p.basis, address % box);
      for (auto const& [path, at] : here) {
        ASSERT_EQ(at, want.contains(path) ? want.at(path) : 0) << "address " << address;
      }
    }
  }
}

/// Law: dimension i steps through global memory by stride_bytes[i].
TEST(TmaParams, DimensionsAddressGlobalMemory) {
  for (example_row const& r : rows) {
    SCOPED_TRACE(r.gmem);
    layout const gmem = parsed(r.gmem);
    tma_params const p = make_tma_params(gmem, parsed(r.smem), r.tile, r.bits);
    layout const identity = make_identity_layout(gmem.shape);
    i64 reach = 0;
    for (int i = 0; i < p.dims; ++i) {
      reach += (p.global_dim[i] - 1) * p.stride_bytes[i];
      for (i64 c = 0; c < p.box[i]; ++c) {  // element c of the box along i
        i64 offset = 0;
        for (auto const& [path, at] : leaves_of(mode(p.basis, i), c)) {
          for (int k = 0; k < gmem.shape.n; ++k) {
            if (identity.stride[k].unit == path) offset += at * gmem.stride[k].v;
          }
        }
        EXPECT_EQ(offset * r.bits / 8, c * p.stride_bytes[i]);
      }
    }
    EXPECT_EQ(reach + r.bits / 8, cosize(gmem) * r.bits / 8);
    alignas(16) static char memory[16];
    elem const type = r.bits == 8 ? elem::e4m3 : r.bits == 16 ? elem::bf16 : elem::f32;
    auto const refused = check_tensor_map(make_tensor_map_desc(p, type, memory));
    EXPECT_FALSE(refused) << to_string(*refused);
  }
}

/// The boxes of the GEMM's operands.
TEST(TmaParams, AreTheKernelsBoxes) {
  for (int extent : {64, 96, 128, 192, 256}) {
    for (operand_major const major : {operand_major::k, operand_major::mn}) {
      bool const k_major = major == operand_major::k;
      bool const narrow = !k_major && extent % 64 != 0;
      layout const smem =
          tile_to_shape(smem_atom(major, narrow ? smem_swizzle::b64 : smem_swizzle::b128, 16),
                        make_shape(extent, 64), k_major ? make_tree(0, 1) : make_tree(1, 0));
      layout const gmem = k_major ? "(4096,1024):(1024,1)"_L : "(4096,1024):(1,4096)"_L;
      tma_params const p = make_tma_params(gmem, smem, tile(extent, 64), 16);
      operand_box const box =
          box_of(elem::bf16, major, narrow ? swizzle_mode::b64 : swizzle_mode::b128, extent);
      EXPECT_EQ(p.dims, 2);
      EXPECT_EQ(p.box[0], box.inner);
      EXPECT_EQ(p.box[1], box.outer);
      EXPECT_EQ(p.global_dim[0], k_major ? 1024 : 4096);
      EXPECT_EQ(p.stride_bytes[1], k_major ? 2048 : 8192);
    }
  }
}

}  // namespace
}  // namespace tw
