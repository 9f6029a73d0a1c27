// SPDX-License-Identifier: Apache-2.0
// copy_names.cpp  The field's spelling of copy atoms, a row for each family.
#include "tilewright/atom/copy_names.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

#include "atom/spelling.hpp"
#include "tilewright/atom/copy_find.hpp"
#include "tilewright/atom/mma_names.hpp"
#include "tilewright/base/check.hpp"

namespace tw {
namespace {

/// The reference's names: before, n * scale, after.
struct spelling {
  std::string_view before, after;
  i64 scale;  // the reference's number for one of ours; 0: no number
  std::string_view our_before, our_after;
};

constexpr std::array spellings{
    spelling{"UniversalCopy_", "b", 1, "copy.universal.", ""},
    spelling{"SM100_LOAD_256bit_CACHE_NOALLOCATION", "", 0, "copy.universal.256", ""},
    spelling{"SM100_STORE_256bit_CACHE_NOALLOCATION", "", 0, "copy.universal.256", ""},
    spelling{"AutoVectorizingCopy", "", 0, "copy.element", ""},
    spelling{"DefaultCopy", "", 0, "copy.element", ""},
    spelling{"SM50_Shuffle_U32_2x2Trans_XOR", "", 1, "copy.sm50.shfl_transpose.xor", ""},
    spelling{"SM75_U32x", "_LDSM_N", 1, "copy.sm75.ldmatrix.x", ""},
    spelling{"SM75_U16x", "_LDSM_T", 2, "copy.sm75.ldmatrix.x", ".t"},
    spelling{"SM75_U32x1_MOVM_T", "", 0, "copy.sm75.movmatrix.places", ""},
    spelling{"SM80_CP_ASYNC_CACHEALWAYS_", "b", 1, "copy.sm80.cp_async.ca.", ""},
    spelling{"SM80_CP_ASYNC_CACHEGLOBAL_", "b", 1, "copy.sm80.cp_async.cg.", ""},
    spelling{"SM80_CP_ASYNC_CACHEALWAYS_ZFILL_", "b", 1, "copy.sm80.cp_async.ca.", ".zfill"},
    spelling{"SM80_CP_ASYNC_CACHEGLOBAL_ZFILL_", "b", 1, "copy.sm80.cp_async.cg.", ".zfill"},
    spelling{"SM90_U32x", "_STSM_N", 1, "copy.sm90.stmatrix.x", ""},
    spelling{"SM90_U16x", "_STSM_T", 2, "copy.sm90.stmatrix.x", ".t"},
    spelling{"SM100_SU4_DU8x16_x", "_LDSM_N", 1, "copy.sm100.ldmatrix.m8n16.x", ".b4x16_p64"},
    spelling{"SM100_SU6_DU8x16_x", "_LDSM_N", 1, "copy.sm100.ldmatrix.m8n16.x", ".b6x16_p32"},
    spelling{"SM100_U8x", "_LDSM_T", 8, "copy.sm100.ldmatrix.m16n16.x", ".t.b8.paired"},
    spelling{"SM100_U8x", "_STSM_T", 4, "copy.sm100.stmatrix.m16n8.x", ".t.b8"},
    spelling{"SM100_TMEM_LOAD_16dp256b", "x", 1, "copy.sm100.tcgen05.ld.16x256b.x", ""},
    spelling{"SM100_TMEM_LOAD_16dp256b", "x_16b", 1, "copy.sm100.tcgen05.ld.16x256b.x", ".pack16"},
    spelling{"SM100_TMEM_LOAD_16dp128b", "x", 1, "copy.sm100.tcgen05.ld.16x128b.x", ""},
    spelling{"SM100_TMEM_LOAD_16dp128b", "x_16b", 1, "copy.sm100.tcgen05.ld.16x128b.x", ".pack16"},
    spelling{"SM100_TMEM_LOAD_16dp64b", "x", 1, "copy.sm100.tcgen05.ld.16x64b.x", ""},
    spelling{"SM100_TMEM_LOAD_16dp64b", "x_16b", 1, "copy.sm100.tcgen05.ld.16x64b.x", ".pack16"},
    spelling{"SM100_TMEM_LOAD_16dp32b", "x", 1, "copy.sm100.tcgen05.ld.16x32bx2.x", ""},
    spelling{"SM100_TMEM_LOAD_16dp32b", "x_16b", 1, "copy.sm100.tcgen05.ld.16x32bx2.x", ".pack16"},
    spelling{"SM100_TMEM_LOAD_32dp32b", "x", 1, "copy.sm100.tcgen05.ld.32x32b.x", ""},
    spelling{"SM100_TMEM_LOAD_32dp32b", "x_16b", 1, "copy.sm100.tcgen05.ld.32x32b.x", ".pack16"},
    spelling{"SM100_TMEM_LOAD_STAT_32dp32b", "x", 1, "copy.sm100.tcgen05.ld_red.32x32b.x", ""},
    spelling{"SM100_TMEM_STORE_16dp256b", "x", 1, "copy.sm100.tcgen05.st.16x256b.x", ""},
    spelling{"SM100_TMEM_STORE_16dp256b", "x_16b", 1, "copy.sm100.tcgen05.st.16x256b.x",
             ".unpack16"},
    spelling{"SM100_TMEM_STORE_16dp128b", "x", 1, "copy.sm100.tcgen05.st.16x128b.x", ""},
    spelling{"SM100_TMEM_STORE_16dp128b", "x_16b", 1, "copy.sm100.tcgen05.st.16x128b.x",
             ".unpack16"},
    spelling{"SM100_TMEM_STORE_16dp64b", "x", 1, "copy.sm100.tcgen05.st.16x64b.x", ""},
    spelling{"SM100_TMEM_STORE_16dp64b", "x_16b", 1, "copy.sm100.tcgen05.st.16x64b.x", ".unpack16"},
    spelling{"SM100_TMEM_STORE_16dp32b", "x", 1, "copy.sm100.tcgen05.st.16x32bx2.x", ""},
    spelling{"SM100_TMEM_STORE_16dp32b", "x_16b", 1, "copy.sm100.tcgen05.st.16x32bx2.x",
             ".unpack16"},
    spelling{"SM100_TMEM_STORE_32dp32b", "x", 1, "copy.sm100.tcgen05.st.32x32b.x", ""},
    spelling{"SM100_TMEM_STORE_32dp32b", "x_16b", 1, "copy.sm100.tcgen05.st.32x32b.x", ".unpack16"},
};

std::optional<std::string> respelled(spelling const& s, std::string_view name) {
  if (!name.starts_with(s.before)) return {};
  name.remove_prefix(s.before.size());
  if (!name.ends_with(s.after)) return {};
  name.remove_suffix(s.after.size());
  if (s.scale == 0) {
    if (!name.empty()) return {};
    return fmt::format("{}{}", s.our_before, s.our_after);
  }
  i64 n = 0;
  auto const [end, error] = std::from_chars(name.data(), name.data() + name.size(), n);
  if (error != std::errc{} || end != name.data() + name.size() || n % s.scale != 0) return {};
  return fmt::format("{}{}{}", s.our_before, n / s.scale, s.our_after);
}

}  // namespace

std::string canonical_copy_name(std::string_view name) {
  found_copy const f = find_copy(name.data(), static_cast<int>(name.size()));
  if (f.row >= 0) return std::string(name);
  for (spelling const& s : spellings) {
    if (auto ours = respelled(s, name)) return *ours;
  }
  if (!detail::tcgen05_like(name).empty()) one_mma(name);  // refuses it, with its names
  std::vector<std::string> const names = copy_names();
  std::vector<std::string_view> const all(names.begin(), names.end());
  std::string_view const nearest = detail::nearest_name(name, all);
  throw rejected({"TW0233", "name of a copy atom", fmt::format("'{}'", name),
                  "a name such as copy.sm75.ldmatrix.x4 or SM75_U32x4_LDSM_N",
                  nearest.empty()
                      ? "docs/atoms.md lists the copies"
                      : fmt::format("did you mean {}? docs/atoms.md lists the copies", nearest)});
}

copy_atom one_copy(std::string_view name) {
  std::string const ours = canonical_copy_name(name);
  return copy_atom_named(ours.data(), static_cast<int>(ours.size()));
}

std::vector<std::string> copy_names() {
  std::vector<std::string> names;
  for (copy_row const& row : copy_rows) {
    if (row.most == 0) {  // one size, or any multiple
      names.push_back(row.multiple == 0 ? std::string(row.before)
                                        : fmt::format("{}{}{}", row.before, row.least, row.after));
    }
    for (i64 n = row.least; n > 0 && n <= row.most; n *= 2) {
      names.push_back(fmt::format("{}{}{}", row.before, n, row.after));
    }
  }
  return names;
}

}  // namespace tw
