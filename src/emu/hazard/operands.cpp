// SPDX-License-Identifier: Apache-2.0
// operands.cpp  Operands of wgmma and tcgen05.mma in shared memory: against the accesses before
//               them, and where their tiles came from.
#include <fmt/format.h>

#include <algorithm>

#include "emu/elements/box.hpp"
#include "emu/elements/operand.hpp"
#include "emu/machine/checker.hpp"
#include "emu/machine/machine.hpp"
#include "emu/umma/umma.hpp"

namespace tw::emu::hazard {

namespace {

char const* atoms_text(swizzle_mode s) {
  return s == swizzle_mode::b128_base32 ? " in atoms of 32" : "";
}

}  // namespace

checker::verdict checker::judge(warpgroup_state const& w, step_views const& v,
                                record const& earlier) const {
  component const first = static_cast<component>(w.block->rank * threads_ + w.index * 128);
  bool const mine = earlier.who >= first && earlier.who < first + 128;
  component const u = mine ? earlier.who - first : 0;
  bool const fence = fence_concerns(earlier, true);
  for (view const& x : v.views) {
    bool const has_writer = mine && (x.threads[u / 64] >> u % 64 & 1U) != 0;
    bool const alone =
        has_writer && __builtin_popcountll(x.threads[0]) + __builtin_popcountll(x.threads[1]) == 1;
    if (has_writer && fence && v.own_fenced[u] < earlier.when) return verdict::unfenced;
    if (alone) continue;
    if (x.known->happened(earlier.who) < earlier.when) return verdict::unordered;
    if (fence && x.known->passed_fence(earlier.who) < earlier.when) return verdict::unfenced;
  }
  return verdict::ordered;
}

void checker::view_of(thread& t, step_views& v) {
  auto const u = static_cast<unsigned>(t.id % 128);
  if (v.views.empty()) v.issued = ++issued_;
  v.own_fenced[u] = t.actor.own_fenced;
  for (view& x : v.views)
    if (x.known == t.actor.known) {
      x.threads[u / 64] |= std::uint64_t{1} << u % 64;
      return;
    }
  v.views.push_back({t.actor.known, {}});
  v.views.back().threads[u / 64] |= std::uint64_t{1} << u % 64;
}

std::vector<checker::chunk_block> const& checker::pattern(smem_desc d,
                                                          operand_extent const& extent) {
  std::uint32_t const inside = d.address() % block_bytes;
  std::array<std::uint64_t, 2> const key{(d.bits & ~std::uint64_t{0x3FFF}) | inside / 16,
                                         static_cast<std::uint64_t>(extent.element_bytes) << 32 |
                                             static_cast<std::uint64_t>(extent.rows) << 1 |
                                             (extent.major == operand_major::mn ? 1U : 0U)};
  auto [it, added] = patterns_.try_emplace(key);
  if (!added) return it->second;
  operand_layout lay(d, extent.major);
  lay.start = inside;
  chunk_grid const grid(extent);
  std::map<std::uint32_t, chunk_block> blocks;
  for (int i = 0; i < grid.rows; ++i)
    for (int j = 0; j < grid.columns; ++j) {
      std::uint32_t const at = swizzled(lay.start + lay.row_offset(static_cast<std::uint32_t>(i)) +
                                            lay.column_offset(static_cast<std::uint32_t>(j)),
                                        lay.swizzle);
      auto [b, fresh] =
          blocks.try_emplace(at / block_bytes, chunk_block{at / block_bytes, 0, i, j, at});
      b->second.cells |= std::uint64_t{1} << at % block_bytes / cell_bytes;
    }
  for (auto const& [index, b] : blocks) it->second.push_back(b);
  return it->second;
}

void checker::check_origin(cta_state const& owner, record const& written, smem_desc d,
                           operand_major major, std::uint32_t offset, int row, int column,
                           int (&first)[3], thread const& by, record const& now) {
  origin const& o = origins_[written.origin];
  if (o.swizzle != d.swizzle()) {
    report_origin("E0037", "swizzle-mismatch",
                  fmt::format("with a swizzle of {} bytes{}; TMA wrote it with {}{}.",
                              swizzle_span_bytes(d.swizzle()), atoms_text(d.swizzle()),
                              swizzle_span_bytes(o.swizzle), atoms_text(o.swizzle)),
                  "the descriptor names another swizzle than the tensor map, so chunks of 16 bytes "
                  "are taken from wrong places",
                  "give the descriptor and the tensor map the same swizzle", owner, written, offset,
                  by, now);
    return;
  }
  std::uint32_t const logical = swizzled(smem_base + offset, o.swizzle) - smem_base - o.smem_offset;
  int const inner = o.at[0] + static_cast<int>(logical % o.row_bytes) * 8 / o.elem_bits;
  int const outer = o.at[1] + static_cast<int>(logical / o.row_bytes) % o.rows;
  int const in_chunk = 128 / o.elem_bits;
  int const a = inner - in_chunk * column;  // coordinate of the first chunk, if all is well
  int const b = outer - row;
  if (first[2] != written.origin) {
    if (first[2] == 0) {
      first[0] = a;
      first[1] = b;
    }
    first[2] = written.origin;
    origin_first_[0] = a;
    origin_first_[1] = b;
  } else if (a != origin_first_[0] || (b - origin_first_[1]) % 8 != 0) {
    // Groups of 8 rows may be taken at any distance (B interleaved for two warpgroups); the 8 rows
    // of a core matrix may not.
    report_origin(
        "E0038", "operand-layout",
        fmt::format("as row {}, column {} of its {}-major operand, but TMA put another part of "
                    "the tile there.",
                    row, in_chunk * column, major == operand_major::k ? "K" : "MN"),
        fmt::format("it is element ({}, {}) of the tensor; after the operand's first chunk it "
                    "should be ({}, {})",
                    outer, inner, origin_first_[1] + row, origin_first_[0] + in_chunk * column),
        "the descriptor's leading and stride offsets must be those of the tile that TMA wrote",
        owner, written, offset, by, now);
    origin_first_[0] = a;
    origin_first_[1] = b;
  }
}

bool checker::blame_descriptor(cta_state const& owner, smem_desc d, operand_extent const& extent,
                               record const& r, thread const& by) {
  std::uint32_t const start = d.address() - smem_base;
  std::uint32_t const base = start / block_bytes;
  for (chunk_block const& c : pattern(d, extent))
    for (std::uint64_t left = c.cells; left != 0; left &= left - 1) {
      std::uint32_t const at = (base + c.block) * block_bytes +
                               static_cast<std::uint32_t>(__builtin_ctzll(left)) * cell_bytes;
      std::uint32_t const in = owner.is_mbarrier[at / 8] ? at : at + 8;
      if (!owner.is_mbarrier[in / 8]) continue;
      bool const wgmma = r.what == access::wgmma_read;
      char const* const noun = traits(r.what).noun;
      std::string const place = object(owner, start);
      report(wgmma ? "E0020" : "E0103", wgmma ? "wgmma-operand" : "umma-operand",
             report_text({
                 .what = fmt::format("An operand of {} begins in {} and reaches the mbarrier {}.",
                                     noun, place, object_name(grid_, in)),
                 .now = fmt::format("{} at {} by {}", noun, text_of(r.where),
                                    wgmma ? warpgroup_name(by) : tw::emu::name_of(by)),
                 .cause = fmt::format("the descriptor has leading offset {} and stride offset {} "
                                      "bytes, with which the operand leaves its tile",
                                      d.leading_bytes(), d.stride_bytes()),
                 .remedy = "the offsets of the tile that was loaded: make_smem_desc and "
                           "make_umma_desc take bytes",
             }),
             r.where, {}, place, &by);
      return true;
    }
  return false;
}

template <class Judge>
void checker::read_operand(cta_state const& owner, Judge const& judge, smem_desc d,
                           operand_extent const& extent, record const& r, thread const& by,
                           int (&k_of)[2]) {
  shadow& s = shadows_[static_cast<std::size_t>(owner.rank)];
  std::uint32_t const start = d.address() - smem_base;
  std::uint32_t const base = start / block_bytes;
  // Addresses count from smem_base, which is a multiple of a block.
  int first[3] = {};
  for (chunk_block const& c : pattern(d, extent)) {
    touched const at{base + c.block, c.cells};
    std::uint32_t const chunk_offset = base * block_bytes + c.offset;
    bool clean = true;
    s.each_earlier(at, false, [&](record const& earlier) {
      verdict const verd = judge(earlier);
      if (verd != verdict::ordered) {
        clean = false;
        if (blame_descriptor(owner, d, extent, r, by)) return false;
        std::uint64_t const both = earlier.mask & at.cells;
        report_conflict(
            owner,
            at.block * block_bytes +
                (both != 0 ? static_cast<std::uint32_t>(__builtin_ctzll(both)) : 0) * cell_bytes,
            earlier, r, by, verd);
        return false;
      }
      if (options_.provenance && earlier.what == access::tma_write && earlier.origin != 0 &&
          origins_[earlier.origin].has_map &&
          (earlier.mask >> chunk_offset % block_bytes / cell_bytes & 1U) != 0)
        check_origin(owner, earlier, d, extent.major, chunk_offset, c.row, c.column, first, by, r);
      return true;
    });
    if (clean)
      if (std::uint64_t const none = s.unwritten(at);
          none != 0 && !blame_descriptor(owner, d, extent, r, by))
        report_unwritten(
            owner,
            at.block * block_bytes + static_cast<std::uint32_t>(__builtin_ctzll(none)) * cell_bytes,
            r, by, start);
    s.note(at, r);
  }
  k_of[0] = first[2];  // a load that wrote a part of it
  k_of[1] = extent.major == operand_major::k ? first[0] : first[1];
}

void checker::multiply(warpgroup_state& w, wgmma_call const& call, step_views const& v,
                       std::uint32_t group, site where) {
  record r;
  r.who = warpgroup_component(w);
  r.when = group + 1;
  r.what = access::wgmma_read;
  r.where = where;
  thread const& by = w.block->threads[static_cast<std::size_t>(w.index * 128)];
  int k_a[2] = {};
  int k_b[2] = {};
  auto const judged = [&](record const& earlier) {
    verdict const found = judge(w, v, earlier);
    committed_late_ = found == verdict::unordered && written_since(v, earlier, by);
    return found;
  };
  if (!call.a_in_registers)
    read_operand(*w.block, judged, call.a, {call.form.a_major, 64}, r, by, k_a);
  read_operand(*w.block, judged, call.b, {call.form.b_major, call.form.n}, r, by, k_b);
  if (options_.provenance && k_a[0] != 0 && k_b[0] != 0 && k_a[1] != k_b[1])
    report_k_mismatch(by, k_a, k_b, call.a.address(), call.b.address(), r);
  committed_late_ = false;
}

bool checker::written_since(step_views const& v, record const& written, thread const& first) const {
  auto const has = [&](clock_ref const& c) { return c->happened(written.who) >= written.when; };
  if (!is_write(written.what) || !has(first.actor.known)) return false;
  if (lands_on_mbarrier(written.what) && origins_[written.origin].issued < v.issued) return false;
  return std::ranges::any_of(
      v.views, [&](view const& x) { return (x.threads[0] & 1U) != 0 && !has(x.known); });
}

void checker::multiply(thread& t, umma_call const& call, umma_shape const& shape, site where) {
  begin_tensor();
  tensor_actor& me = t.tensor;
  record r;
  r.who = new_component(me.ops, component_face::kind::tensor, t);
  r.when = t.tensor_ops->begun;
  r.where = where;
  int const first = call.ctas == 1 ? t.block->rank : t.block->even_rank();
  thread const* const self[] = {&t};
  auto const judged = [&](record const& earlier) {
    return judge(t.actor, thread_component(t), earlier, true);
  };
  for (int rank = first; rank < first + call.ctas; ++rank) {
    cta_state& c = cluster_->ctas[static_cast<std::size_t>(rank)];
    if (rank != t.cluster_rank)
      note_remote(c, {r.who, r.when, where, remote_access::kind::multiply,
                      umma_desc{call.b}.address() - smem_base, t.cta});
    int k_a[2] = {};
    int k_b[2] = {};
    r.what = access::umma_read;
    smem_desc const a = as_wgmma_desc(call.a), b = as_wgmma_desc(call.b);
    operand_extent const of_a{shape.a_major, shape.rows(), container_bytes(shape.a)};
    operand_extent const of_b{shape.b_major, shape.columns_of_b(), container_bytes(shape.b)};
    if (!call.a_in_tmem) read_operand(c, judged, a, of_a, r, t, k_a);
    read_operand(c, judged, b, of_b, r, t, k_b);
    if (options_.provenance && k_a[0] != 0 && k_b[0] != 0 && k_a[1] != k_b[1])
      report_k_mismatch(t, k_a, k_b, a.address(), b.address(), r);
    check_narrow(t, 'B', shape.b, shape.dense, k_b[0], b.address(), r);
    if (!call.a_in_tmem) check_narrow(t, 'A', shape.a, shape.dense, k_a[0], a.address(), r);
    if (shape.block != 0) {
      r.what = access::umma_scale_read;
      tensor_access(self, 1, c, umma_scales(shape, 'A', call.sfa), r, false);
      tensor_access(self, 1, c, umma_scales(shape, 'B', call.sfb), r, false);
      note_factors(t, c, call, shape, k_a, k_b, r);
    }
    if (call.a_in_tmem) {
      r.what = access::umma_a_read;
      for (tmem_area const& part : umma_a_in_tmem(shape, static_cast<std::uint32_t>(call.a)))
        tensor_access(self, 1, c, part, r, false);
    }
    r.what = access::umma_write;
    r.origin = accumulator_tag(call);
    for (tmem_area const& part : umma_accumulator(shape, call.d))
      tensor_access(self, 1, c, part, r, call.accumulate);
    r.origin = 0;
  }
}

}  // namespace tw::emu::hazard
