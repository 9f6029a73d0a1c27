// SPDX-License-Identifier: Apache-2.0
// banks_propose.cpp  Tries swizzles from few bits to many, then paddings; says why none helps.
#include <fmt/format.h>

#include <algorithm>

#include "tilewright/atom/bank_proposal.hpp"

namespace tw {
namespace {

/// The tile of the query, without a swizzle.
struct question {
  access_kind kind;
  layout tile;
  int elem_bits;
  layout map;
};

int log2_of(i64 n) {
  int bits = 0;
  while (i64{1} << (bits + 1) <= n) ++bits;
  return bits;
}

/// Wavefronts with this tile, or nothing once they are more than `most`.
std::optional<i64> wavefronts_with(question const& q, layout const& tile, i64 worst, i64 most) {
  auto const at = [&](i64 i) { return wavefronts(access_of(q.kind, tile, q.elem_bits, q.map, i)); };
  i64 sum = at(worst);
  for (i64 i = 0, n = steps(q.map); i < n; ++i) {
    if (i != worst) sum += at(i);
    if (sum > most) return {};
  }
  return sum;
}

/// The swizzle moves no offset of the tile beyond its end.
bool fits(layout const& tile, swizzle s) {
  i64 const end = cosize(tile), block = i64{1} << (s.base + s.bits + magnitude(s.shift));
  if (end % block == 0) return true;
  for (i64 i = 0, n = size(tile); i < n; ++i) {
    if (s(tile(i)) >= end) return false;
  }
  return true;
}

/// Candidates in order of preference.
std::vector<swizzle> candidates(question const& q, bool hardware_only) {
  int const vector = log2_of(q.kind.bits / q.elem_bits);
  int const reach = log2_of(cosize(q.tile) * 2 - 1);  // offsets have this many bits
  int const line = log2_of(wavefront_bytes * 8 / q.elem_bits);
  std::vector<swizzle> all;
  for (int bits = 1; bits <= 5; ++bits) {
    int const hardware = log2_of(128 / q.elem_bits);
    if (bits <= 3 && hardware >= vector && hardware + 3 + bits <= reach) {
      all.push_back(make_swizzle(bits, hardware, 3));
    }
    if (hardware_only) continue;
    for (int base = vector; base + bits <= line; ++base) {
      for (int shift = bits; base + bits + shift <= reach; ++shift) {
        all.push_back(make_swizzle(bits, base, shift));
      }
    }
  }
  return all;
}

/// Byte-address bits in which threads that collide differ.
std::vector<int> differing_bits(warp_access const& a) {
  bank_report const r = count_banks(a);
  std::int64_t bits = 0;
  if (r.collisions > 0) {
    std::uint32_t const threads = r.collision[0].threads;
    int const first = __builtin_ctz(threads);
    for (int t = 0; t < 32; ++t) {
      if (((threads >> t) & 1U) != 0) bits |= a.address[t] ^ a.address[first];
    }
  }
  std::vector<int> list;
  for (int b = 0; b < 32; ++b) {
    if (((bits >> b) & 1) != 0) list.push_back(b);
  }
  return list;
}

std::string reason(question const& q, i64 worst, bool hardware_only, std::size_t tried) {
  std::string bits;
  for (int const b : differing_bits(access_of(q.kind, q.tile, q.elem_bits, q.map, worst))) {
    bits += fmt::format("{}{}", bits.empty() ? "" : ", ", b);
  }
  if (tried == 0) return "the tile is too small for a swizzle";
  if (hardware_only) {
    return fmt::format(
        "threads that collide differ in bits {} of the byte address; the swizzles of TMA and wgmma "
        "read bits 7, 8, 9 and change 4, 5, 6",
        bits);
  }
  return fmt::format(
      "threads that collide differ in bits {} of the byte address; none of {} swizzles, each one "
      "run of bits xored onto another, brings them all to bank bits (2 to 6) that are free",
      bits, tried);
}

/// The row pitch grows by whole accesses until the ideal is reached.
std::optional<bank_layout> pad(question const& q, i64 worst, i64 ideal) {
  if (rank(q.tile) != 2) return {};
  layout const m = coalesce(mode(q.tile, 0)), n = coalesce(mode(q.tile, 1));
  if (m.shape.n != 1 || n.shape.n != 1) return {};
  detail::tile_walk const w = detail::walk_of(q.tile);
  i64 const unit = q.kind.bits / q.elem_bits;
  for (i64 extra = unit; extra * q.elem_bits / 8 <= wavefront_bytes; extra += unit) {
    layout padded = make_layout(m, n);
    padded.stride[w.across_step == 1 ? 0 : 1].v += extra;
    i64 const bytes = cosize(padded) * q.elem_bits / 8;
    if (bytes > max_smem_bytes) return {};
    if (wavefronts_with(q, padded, worst, ideal)) {
      return bank_layout{padded, ideal, (cosize(padded) - cosize(q.tile)) * q.elem_bits / 8};
    }
  }
  return {};
}

}  // namespace

std::string hardware_name(swizzle s, int elem_bits) {
  int const bits = detail::hardware_swizzle_bits(s, elem_bits);
  return bits < 1 ? "" : fmt::format("the {}-byte swizzle of TMA and wgmma", 16 << bits);
}

bank_proposal propose(access_kind k, layout const& tile, int elem_bits, layout const& map,
                      bool hardware_only) {
  question const q{k, linear_part(tile), elem_bits, map};
  bank_totals const now = count_banks(k, q.tile, elem_bits, map);
  bank_proposal p;
  p.ideal = now.ideal;
  p.plain = now.wavefronts;
  if (now.wavefronts == now.ideal) return p;
  if (k.op == smem_op::tma) {  // a swizzle of another span is another box
    p.why = "the rows of the box are narrower than the span: choose the swizzle of their width";
    return p;
  }
  std::vector<swizzle> const all = candidates(q, hardware_only);
  i64 most = now.wavefronts - 1;
  for (swizzle const s : all) {
    layout const candidate = swizzled(s, q.tile);
    auto const count = wavefronts_with(q, candidate, now.worst, most);
    if (!count) continue;
    if (!fits(q.tile, s)) {
      if (*count == p.ideal && !p.beyond) p.beyond = bank_layout{candidate, *count, 0};
      continue;
    }
    p.best = bank_layout{candidate, *count, 0};
    most = *count - 1;
    if (*count == p.ideal) break;
  }
  if (p.best && p.best->wavefronts == p.ideal) std::swap(p.swizzle, p.best);
  if (p.swizzle) p.beyond.reset();
  if (p.beyond)
    p.why =
        "those that would move elements of this tile beyond its end; they serve the whole of which "
        "it is a part";
  else if (!p.swizzle)
    p.why = reason(q, now.worst, hardware_only, all.size());
  if (!hardware_only) p.padding = pad(q, now.worst, p.ideal);
  return p;
}

}  // namespace tw
