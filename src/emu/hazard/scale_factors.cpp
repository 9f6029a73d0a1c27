// SPDX-License-Identifier: Apache-2.0
// scale_factors.cpp  Copies to tensor memory, where scale factors come from and what they are used
//                    for, and operands of 4 and 6 bits.
//
// A factor belongs to one block of one operand: two multiplies that take it for different parts of
// an operand since it was copied have the wrong factor in one of them. A part is its coordinates in
// the tensor where TMA brought it, otherwise its address. Where TMA brought the factors too, those
// of the next K block of the same rows come from 512 bytes further on (atom/scale_factors.hpp).
// Factors that are equal for all blocks of K may serve any K block: one number other than 0 for all
// rows, or one number for each row. MX operands with one scale for all of K have these factors.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emu/machine/checker.hpp"
#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"
#include "emu/umma/umma.hpp"

namespace tw::emu::hazard {

namespace {

constexpr int atom_bytes = 512;  // factors of 128 rows and 4 blocks

/// factor_column::value and constant_along_k, from the words of one column.
class column_values {
 public:
  void add(std::uint32_t word) {
    constant_ = constant_ && word == (word & 0xFF) * 0x01010101U;
    for (int i = 0; i < 4; ++i) {
      int const v = static_cast<int>(word >> 8 * i & 0xFF);
      if (v == 0 || v == value_[i]) continue;
      value_[i] = value_[i] == 0 ? v : -1;
    }
  }
  void give(factor_column& to) const {
    std::copy(std::begin(value_), std::end(value_), to.value);
    to.constant_along_k = constant_;
  }

 private:
  int value_[4] = {};
  bool constant_ = true;
};

}  // namespace

bool checker::one_factor_for_all(cta_state const& owner, tmem_area const& a, int id, int count) {
  int value = 0;
  bool one = true, constant = true;
  for (int column = a.column; column < a.column + a.columns; ++column) {
    factor_column f =
        tensor_->factors[static_cast<std::size_t>(owner.rank)][static_cast<std::size_t>(column)];
    if (f.stored) {
      column_values words;
      for (int lane = 0; lane < tmem_lanes; ++lane) words.add(owner.tensor->at(lane, column));
      words.give(f);
    }
    constant = constant && f.constant_along_k;
    for (int i = id; i < id + count; ++i) {
      if (f.value[i] == 0) continue;
      one = one && f.value[i] > 0 && (value == 0 || value == f.value[i]);
      value = f.value[i];
    }
  }
  return value != 0 && (one || constant);
}

std::uintptr_t checker::origin::source(std::uint32_t smem_offset_of_byte) const {
  std::uint32_t const inside = smem_offset_of_byte - smem_offset;
  std::int64_t line = inside / row_bytes;
  auto to = reinterpret_cast<std::uintptr_t>(map.base) +
            static_cast<std::uintptr_t>(map.row_bytes(at[0]) + inside % row_bytes);
  for (int i = 1; i < map.rank; ++i) {
    to += static_cast<std::uintptr_t>((at[i] + line % map.box[i]) * map.stride_bytes[i - 1]);
    line /= map.box[i];
  }
  return to;
}

void checker::tmem_copied(thread& t, tmem_copy_call const& call, site where) {
  begin_tensor();
  record r;
  r.who = new_component(t.tensor.ops, component_face::kind::tensor, t);
  r.when = t.tensor_ops->begun;
  r.where = where;
  thread const* const self[] = {&t};
  int const first = call.ctas == 1 ? t.block->rank : t.block->even_rank();
  for (int rank = first; rank < first + call.ctas; ++rank) {
    cta_state& c = cluster_->ctas[static_cast<std::size_t>(rank)];
    if (rank != t.cluster_rank)
      note_remote(c, {r.who, r.when, where, remote_access::kind::multiply,
                      umma_desc{call.from}.address() - smem_base, t.cta});
    r.what = access::tmem_copy_read;
    scratch_.clear();
    for (int row = 0; row < tmem_copy_rows(call.shape); ++row)
      for (int chunk = 0; chunk < tmem_copy_chunks(call.shape); ++chunk) {
        std::uint32_t const at = copy_source(call, row, chunk) - smem_base;
        std::uint64_t const cell = std::uint64_t{1} << at % block_bytes / cell_bytes;
        if (!scratch_.empty() && scratch_.back().block == at / block_bytes)
          scratch_.back().cells |= cell;
        else
          scratch_.push_back({at / block_bytes, cell});
      }
    origin const* from = nullptr;
    for (touched const& at : scratch_) {
      shadows_[static_cast<std::size_t>(c.rank)].each_earlier(at, false, [&](record const& e) {
        if (from == nullptr && e.what == access::tma_write && e.origin != 0 &&
            origins_[e.origin].has_map)
          from = &origins_[e.origin];
        return true;
      });
      access_cells(t, c, at, r);
    }
    r.what = access::tmem_copy_write;
    std::vector<tmem_area> const areas = copied_areas(call);
    for (tmem_area const& a : areas) tensor_access(self, 1, c, a, r, false);
    tmem_area const& to = areas.front();
    for (int i = to.column; i < to.column + to.columns; ++i) {
      factor_column& f =
          tensor_->factors[static_cast<std::size_t>(c.rank)][static_cast<std::size_t>(i)];
      f = {};
      f.copied = where;
      column_values words;
      for (int row = 0; row < tmem_copy_rows(call.shape); ++row) {
        int const at = i - to.column;
        std::uint32_t word;
        std::memcpy(&word, c.smem + copy_source(call, row, at / 4) - smem_base + at % 4 * 4, 4);
        words.add(word);
      }
      words.give(f);
      if (from == nullptr) continue;
      f.type = static_cast<int>(from->type);
      std::uint32_t const begin = copy_source(call, 0, 0) - smem_base;
      if (from->swizzle != swizzle_mode::none || begin < from->smem_offset) continue;
      f.source = from->source(begin);
      f.tensor = from->map.base;
      f.matrix = from->map.rank > 3 ? from->at[3] : 0;
    }
  }
}

void checker::note_factors(thread const& t, cta_state& owner, umma_call const& call,
                           umma_shape const& shape, int const (&k_a)[2], int const (&k_b)[2],
                           record const& now) {
  if (!options_.provenance) return;
  for (char const operand : {'A', 'B'}) {
    bool const is_a = operand == 'A';
    int const(&k)[2] = is_a ? k_a : k_b;
    auto const column = static_cast<int>((is_a ? call.sfa : call.sfb) & 0xFFFF);
    factor_column& f =
        tensor_->factors[static_cast<std::size_t>(owner.rank)][static_cast<std::size_t>(column)];
    std::string const place =
        fmt::format("tensor memory of CTA {}, column {}", owner.threads.front().cta, column);
    bool const factors =
        f.type == static_cast<int>(elem::ue8m0) || f.type == static_cast<int>(elem::ue4m3);
    if (factors && f.type != static_cast<int>(shape.scale)) {
      report("E0113", "scale-factors",
             report_text({
                 .what = fmt::format("tcgen05.mma takes the scale factors of {} in {} for {}; they "
                                     "are {}.",
                                     operand, place, name(shape.scale),
                                     name(static_cast<elem>(f.type))),
                 .now = fmt::format("umma_scaled at {} by {}", text_of(now.where),
                                    tw::emu::name_of(t)),
                 .earlier = fmt::format("copied there at {}", text_of(f.copied)),
                 .cause = "bit 23 of the instruction descriptor names the type of the factors",
                 .remedy = "umma_scaled_idesc::ue8m0 as the factors are; ue4m3 needs blocks of 16 "
                           "of .kind::mxf4nvf4",
             }),
             now.where, f.copied, place, &t);
      return;
    }
    int const id = is_a ? shape.sfa_id : shape.sfb_id;
    auto const one_for_all = [&] {
      return one_factor_for_all(owner, umma_scales(shape, operand, is_a ? call.sfa : call.sfb), id,
                                shape.factors());
    };
    std::uint64_t const descriptor = is_a ? call.a : call.b;
    factor_column::use use{
        true, operand, static_cast<std::int64_t>(umma_desc{descriptor}.address()), -1, now.where};
    if (k[0] != 0 && origins_[static_cast<std::size_t>(k[0])].has_map) {
      use.k = k[1];
      use.row = origins_[static_cast<std::size_t>(k[0])].at[1];
    }
    if (use.row >= 0 && f.source != 0) {
      origin const& tile = origins_[static_cast<std::size_t>(k[0])];
      factor_place const place_now{f.source,
                                   f.tensor,
                                   use.k / (4 * shape.block),
                                   use.row,
                                   tile.map.rank > 2 ? tile.at[2] : 0,
                                   f.matrix,
                                   now.where};
      factor_place& last =
          tensor_->last_factors[static_cast<std::size_t>(owner.rank)][is_a ? 0 : 1];
      bool const comparable = last.tensor == place_now.tensor && last.row == place_now.row &&
                              last.matrix == place_now.matrix &&
                              last.factor_matrix == place_now.factor_matrix;
      auto const apart = static_cast<std::int64_t>(place_now.source - last.source);
      if (comparable && apart != (place_now.block - last.block) * atom_bytes && !one_for_all()) {
        report(
            "E0113", "scale-factors",
            report_text({
                .what = fmt::format("tcgen05.mma takes the scale factors of {} in {} for k = {}; "
                                    "TMA brought scale factors of other blocks.",
                                    operand, place, use.k),
                .now =
                    fmt::format("umma_scaled at {} by {}", text_of(now.where), tw::emu::name_of(t)),
                .earlier = fmt::format("factors for k from {} were {} bytes before, by umma_scaled "
                                       "at {}",
                                       last.block * 4 * shape.block, apart, text_of(last.where)),
                .cause = fmt::format("the factors of 128 rows and 4 blocks of {} elements are {} "
                                     "bytes; another K block or another size of blocks was loaded",
                                     shape.block, atom_bytes),
                .remedy = "load and copy the factors of the elements that are multiplied, with "
                          "the block of umma_scaled",
            }),
            now.where, last.where, place, &t);
        return;
      }
      last = place_now;
    }
    for (int i = id; i < id + shape.factors(); ++i) {
      factor_column::use& before = f.of_byte[i];
      bool const same = before.operand == use.operand && before.k == use.k && before.row == use.row;
      if (before.any && !same && !one_for_all()) {
        auto const part = [](factor_column::use const& u) {
          return u.row < 0 ? fmt::format("{} at {:#x}", u.operand, u.k)
                           : fmt::format("{} from k = {}", u.operand, u.k);
        };
        report(
            "E0113", "scale-factors",
            report_text({
                .what = fmt::format("tcgen05.mma takes scale factor {} of {} for {}, which an "
                                    "earlier multiply took for {}.",
                                    i, place, part(use), part(before)),
                .now =
                    fmt::format("umma_scaled at {} by {}", text_of(now.where), tw::emu::name_of(t)),
                .earlier = fmt::format("umma_scaled at {}", text_of(before.where)),
                .cause = "a factor belongs to one block of one operand: the id or the column was "
                         "not advanced, the next factors were not copied, or the blocks have "
                         "another size",
                .remedy = "with each step of K the next id (blocks of 32) or the next four "
                          "columns; tmem_copy of the next factors before the first multiply",
            }),
            now.where, before.where, place, &t);
        return;
      }
      before = use;
    }
  }
}

void checker::check_narrow(thread const& t, char name, elem type, bool dense, int origin_of,
                           std::uint32_t address, record const& now) {
  if (!options_.provenance || origin_of == 0) return;
  origin const& o = origins_[static_cast<std::size_t>(origin_of)];
  if (!o.has_map || size_bits(o.type) >= 8) return;
  if (size_bits(o.type) == size_bits(type) && o.padded != dense) return;
  auto const words = [](elem e, bool padded) {
    return size_bits(e) >= 8 ? fmt::format("{}, a byte each", tw::name(e))
           : padded          ? fmt::format("{}, 16 of them in 16 bytes", tw::name(e))
                             : fmt::format("{}, two in each byte", tw::name(e));
  };
  std::string const place = object_name(grid_, address - smem_base);
  report("E0114", "narrow-operand",
         report_text({
             .what = fmt::format("tcgen05.mma reads {} in {} as {}; TMA brought {}.", name, place,
                                 words(type, !dense), words(o.type, o.padded)),
             .now = fmt::format("{} at {} by {}", traits(now.what).noun, text_of(now.where),
                                tw::emu::name_of(t)),
             .earlier = fmt::format("a TMA load at {}", text_of(o.where)),
             .cause = "f8f6f4 and mxf8f6f4 read 16 elements of 4 or 6 bits in 16 bytes, of which "
                      "the last 8 or 4 are padding; mxf4 and mxf4nvf4 read two elements in a byte",
             .remedy = "tensor_map_desc::padded for f8f6f4 and mxf8f6f4; not for mxf4 and mxf4nvf4",
         }),
         now.where, o.where, place, &t);
}

}  // namespace tw::emu::hazard
