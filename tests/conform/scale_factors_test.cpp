// SPDX-License-Identifier: Apache-2.0
// scale_factors_test.cpp  Scale factors, copies to tensor memory and block-scaled instruction
//                         descriptors are those of CuTe, row by row of scale_factors.jsonl, which
//                         cute_test.py writes.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tilewright/atom/mma_names.hpp"
#include "tilewright/atom/scale_factors.hpp"
#include "tilewright/atom/tmem_layout.hpp"
#include "tilewright/atom/umma_idesc.hpp"
#include "tilewright/layout/layout.hpp"
#include "tools/io/crc32.hpp"

namespace {

using namespace tw;
using nlohmann::json;

/// Does offset(i), for all i of the row, give its offsets?
template <class F>
bool has_offsets_of(json const& row, F const& offset) {
  i64 const n = row.contains("offs") ? static_cast<i64>(row["offs"].size()) : row["n"].get<i64>();
  std::vector<i64> ours;
  std::string text;
  for (i64 i = 0; i < n; ++i) {
    ours.push_back(offset(i));
    text += (i == 0 ? "" : ",") + std::to_string(ours.back());
  }
  return row.contains("offs") ? row["offs"] == json(ours) : row["crc32"] == crc32(text);
}

bool memory_is_cutes(json const& row) {
  i64 const rows = row["rows"], k = row["k"], block = row["block"];
  layout const l = scale_factors_32_4_4(rows, k, block);
  return has_offsets_of(row, [&](i64 i) {
    i64 const m = i % rows, first = i / rows * block;
    return l(make_coord(m, first + m % std::min(block, k - first)));
  });
}

bool tensor_memory_is_cutes(json const& row) {
  i64 const rows = row["rows"];
  bool const halves = row["of_a"] == 0 && row["ctas"] == 2 && row["m"] == 128;
  layout const l = tmem_scale_factors(static_cast<int>(rows), halves);
  i64 const copies = halves ? 2 : 4, columns = rows / (halves ? 64 : 32);
  if (row["n"] != rows * 8 * copies) return false;
  return has_offsets_of(row, [&](i64 i) {
    i64 const m = i % rows, f = i / rows % 8, copy = i / rows / 8;
    // The next four factors of the rows are in the columns that follow.
    return l(m + rows * (f % 4 + 4 * copy)) + f / 4 * 4 * columns;
  });
}

bool copy_is_cutes(json const& row) {
  static std::map<std::string, tmem_copy_shape> const shapes{
      {"128x256b", tmem_copy_shape::c128x256b},
      {"128x128b", tmem_copy_shape::c128x128b},
      {"64x128b.warpx2::02_13", tmem_copy_shape::c64x128b_02_13},
      {"64x128b.warpx2::01_23", tmem_copy_shape::c64x128b_01_23},
      {"32x128b.warpx4", tmem_copy_shape::c32x128b_x4},
      {"4x256b", tmem_copy_shape::c4x256b}};
  layout const l = tmem_copy_places(shapes.at(row["shape"]));
  return row["n"] == size(l) && has_offsets_of(row, [&](i64 i) { return l(i); });
}

bool descriptor_is_cutes(json const& row) {
  static std::map<std::string, std::string> const atoms{
      {"e4m3.e5m2", "mma.sm100.m128n96k32.f32.e4m3.e5m2.ss.ue8m0.block32"},
      {"e5m2.e4m3.b_mn", "mma.sm100.m256n256k32.f32.e5m2.e4m3.ss.b_mn.cta2.ue8m0.block32"},
      {"e5m2.e3m2.a_mn", "mma.sm100.m128n64k32.f32.e5m2.e3m2.ss.a_mn.ue8m0.block32"},
      {"mxf4", "mma.sm100.m256n192k64.f32.e2m1.e2m1.ss.cta2.ue8m0.block32"},
      {"mxf4nvf4", "mma.sm100.m128n128k64.f32.e2m1.e2m1.ss.ue4m3.block16"}};
  std::string const& name = atoms.at(row["name"]);
  umma_scaled_idesc d =
      make_umma_scaled_idesc(find_mma(name.c_str(), static_cast<int>(name.size())));
  int const step = row["step"], numbers = 4 / step;
  return row["offs"].size() == static_cast<std::size_t>(numbers * numbers) && d.m == row["m"] &&
         d.n == row["n"] && has_offsets_of(row, [&](i64 i) {
           d.a_scale_id = static_cast<int>(i) % numbers * step;
           d.b_scale_id = static_cast<int>(i) / numbers * step;
           return static_cast<i64>(d.bits());
         });
}

TEST(CuteScaleFactors, EveryRowIsOurs) {
  std::map<std::string, int> counts;
  std::ifstream in(TW_SOURCE_DIR "/tests/conform/scale_factors.jsonl");
  for (std::string line; std::getline(in, line);) {
    json const row = json::parse(line);
    std::string const op = row["op"];
    ++counts[op];
    EXPECT_TRUE(op == "version" || (op == "memory" && memory_is_cutes(row)) ||
                (op == "tensor_memory" && tensor_memory_is_cutes(row)) ||
                (op == "copy" && copy_is_cutes(row)) ||
                (op == "descriptor" && descriptor_is_cutes(row)))
        << row;
  }
  std::map<std::string, int> const expected{
      {"version", 1}, {"memory", 14}, {"tensor_memory", 45}, {"copy", 6}, {"descriptor", 5}};
  EXPECT_EQ(counts, expected);
}

}  // namespace
