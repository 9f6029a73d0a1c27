// SPDX-License-Identifier: Apache-2.0
// tensor_map_test.cpp  Each rule of tensor maps refuses what breaks it and accepts its edge; what
//                      the emulator packs it reads back.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/arch/kernels/map_cases.hpp"
#include "tilewright/arch/emu/tensor_map_emu.hpp"
#include "tilewright/arch/tensor_map.hpp"

namespace tw {
namespace {

std::string code_of(std::optional<rejection> const& r) { return r ? r->code : "accepted"; }

TEST(TensorMap, RulesRefuse) {
  for (test::map_case const& c : test::refused_maps())
    EXPECT_EQ(code_of(check_tensor_map(c.desc)), c.code) << c.name;
}

TEST(TensorMap, RulesAcceptTheirEdges) {
  for (test::map_case const& c : test::accepted_maps())
    EXPECT_EQ(code_of(check_tensor_map(c.desc)), "accepted") << c.name;
}

TEST(TensorMap, RulesOfElementsBelowAByte) {
  tensor_map_desc d = test::plain_map();
  d.type = elem::e2m1;
  d.padded = true;
  d.dim[0] = 256;
  d.box[0] = 128;
  d.stride_bytes[0] = 128;
  EXPECT_EQ(code_of(check_tensor_map(d)), "accepted");
  auto const with = [&](auto change) {
    tensor_map_desc x = d;
    change(x);
    return code_of(check_tensor_map(x));
  };
  EXPECT_EQ(with([](auto& x) { x.dim[0] = 64; }), "TW0314");
  EXPECT_EQ(with([](auto& x) { x.box[0] = 64; }), "TW0314");
  EXPECT_EQ(with([](auto& x) { x.stride_bytes[0] = 144; }), "TW0314");
  EXPECT_EQ(with([](auto& x) { x.swizzle = swizzle_mode::b64; }), "TW0314");
  EXPECT_EQ(with([](auto& x) { x.base = static_cast<char*>(x.base) + 16; }), "TW0314");
  EXPECT_EQ(with([](auto& x) { x.type = elem::bf16; }), "TW0314");
  EXPECT_EQ(with([](auto& x) { x.padded = false, x.dim[0] = 255; }), "TW0314");
  EXPECT_EQ(with([](auto& x) { x.padded = false, x.box[0] = 256; }), "accepted");
}

TEST(TensorMap, SwizzleInAtomsOf32Bytes) {
  tensor_map_desc d = test::plain_map();
  d.type = elem::tf32;
  d.stride_bytes[0] = 288;
  d.box[0] = 32;
  d.swizzle = swizzle_mode::b128_base32;
  EXPECT_EQ(code_of(check_tensor_map(d)), "accepted");
  EXPECT_TRUE(unpack_tensor_map_emu(make_tensor_map(d, target::emu)).swizzle == d.swizzle);
  d.box[0] = 36;
  EXPECT_EQ(code_of(check_tensor_map(d)), "TW0308");
}

TEST(TensorMap, MakeThrowsTheRejection) {
  tensor_map_desc d = test::plain_map();
  d.rank = 0;
  for (target t : {target::gpu, target::emu}) try {
      make_tensor_map(d, t);
      ADD_FAILURE() << "not refused";
    } catch (rejected const& e) {
      EXPECT_EQ(e.why().code, "TW0302");
      EXPECT_EQ(e.why().got, "0");
    }
}

bool same(tensor_map_desc const& a, tensor_map_desc const& b) {
  return a.base == b.base && a.type == b.type && a.rank == b.rank && a.swizzle == b.swizzle &&
         a.padded == b.padded && std::ranges::equal(a.dim, b.dim) &&
         std::ranges::equal(a.box, b.box) && std::ranges::equal(a.stride_bytes, b.stride_bytes);
}

TEST(TensorMap, EmulatorReadsBackWhatItPacked) {
  for (test::map_case const& c : test::accepted_maps()) {
    tensor_map_desc const d = unpack_tensor_map_emu(make_tensor_map(c.desc, target::emu));
    EXPECT_TRUE(same(d, c.desc)) << c.name;
  }
}

RC_GTEST_PROP(TensorMap, PackingIsInvertible, ()) {
  tensor_map_desc d;
  d.base = reinterpret_cast<void*>(*rc::gen::inRange<std::uint64_t>(1, 1ULL << 44) * 16);
  d.rank = *rc::gen::inRange(1, 6);
  for (int i = 0; i < d.rank; ++i) {
    d.dim[i] = *rc::gen::inRange<std::int64_t>(1, (1LL << 32) + 1);
    d.box[i] = i == 0 ? 8 : *rc::gen::inRange(1, 257);
    if (i > 0) d.stride_bytes[i - 1] = *rc::gen::inRange<std::int64_t>(0, 1LL << 36) * 16;
  }
  RC_ASSERT(!check_tensor_map(d));
  tensor_map_desc const e = unpack_tensor_map_emu(make_tensor_map(d, target::emu));
  RC_ASSERT(same(d, e));
}

/// The code with which the emulator refuses these bytes as a tensor map.
std::string refusal_of(tensor_map const& m) {
  try {
    unpack_tensor_map_emu(m);
    return "accepted";
  } catch (rejected const& e) {
    return e.why().code;
  }
}

TEST(TensorMap, EmulatorRefusesForeignAndDamagedMaps) {
  EXPECT_EQ(refusal_of(tensor_map{}), "TW0311");
  tensor_map const good = make_tensor_map(test::plain_map(), target::emu);
  EXPECT_EQ(refusal_of(good), "accepted");
  for (int word = 0; word < 16; ++word) {
    tensor_map bad = good;
    bad.words[word] ^= 1;
    EXPECT_EQ(refusal_of(bad), "TW0311") << "word " << word;
  }
}

TEST(TensorMap, GpuMapsNeedCudaAndADriver) {
  try {
    tensor_map const m = make_tensor_map(test::plain_map(), target::gpu);
    EXPECT_EQ(refusal_of(m), "TW0311");  // there is a driver: the emulator must not take its map
  } catch (rejected const& e) {
    EXPECT_TRUE(e.why().code == "TW0501" || e.why().code == "TW0310") << e.what();
  }
}

}  // namespace
}  // namespace tw
