// SPDX-License-Identifier: Apache-2.0
// tma.cpp  TMA copies as a thread requests them: the rules of maps, coordinates and addresses, and
//          the bulk groups of stores.
#include <fmt/format.h>

#include <algorithm>

#include "emu/elements/box.hpp"
#include "emu/elements/reduce.hpp"
#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"
#include "tilewright/base/elem.hpp"

namespace tw::emu {

namespace {

char const* name_of(reduce_op op) {
  char const* const names[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  return names[static_cast<int>(op)];
}

/// The map that a TMA operation names, and whether it may have these coordinates (E0013, E0023).
tensor_map_desc const* check_request(tensor_map const& named, int const* at, int rank,
                                     bool writes_tensor, site where) {
  machine& m = machine::current();
  thread& t = *m.sched.running();
  tensor_map_desc const* const map = m.memory.map_of(named, where);
  if (rank != map->rank)
    m.reports.stop(
        "E0013", "tensor-map-invalid",
        report_text({
            .what = fmt::format("A TMA copy gives {} coordinates for a tensor map of rank {}.",
                                rank, map->rank),
            .now = fmt::format("copy at {} by {}", text_of(where), name_of(t)),
            .cause = "the map describes a tensor with another number of dimensions",
            .remedy = "one coordinate for each dimension, the contiguous one first",
        }),
        where);
  if (auto const bad = bad_address_of_place(*map, at))
    m.reports.stop("E0013", "tensor-map-invalid",
                   report_text({
                       .what = fmt::format("TMA cannot address a matrix that begins at {}.", *bad),
                       .now = fmt::format("copy at {} by {}", text_of(where), name_of(t)),
                       .cause = "the coordinates of a map over all memory count pieces of 16 bytes",
                       .remedy = "addresses that are multiples of 16 bytes, and not null",
                   }),
                   where);
  if (char const* why = coordinates_that_trap(*map, at, writes_tensor))
    m.reports.stop(
        "E0023", "tma-coordinates",
        report_text({
            .what = "The hardware stops at the coordinates of a TMA copy.",
            .now = fmt::format("copy at {} by {}", text_of(where), name_of(t)),
            .cause = why,
            .remedy = "boxes that begin at multiples of 16 bytes along the contiguous dimension; "
                      "stores that begin inside the tensor; of a batch by pointers, loads with an "
                      "element of the matrix",
        }),
        where);
  return map;
}

bulk_op bulk(bulk_op::kind what, tensor_map const& map, void const* smem, int const* at, int rank,
             site where) {
  machine& m = machine::current();
  thread& t = *m.sched.running();
  bulk_op op{};
  op.what = what;
  op.map = check_request(map, at, rank, what != bulk_op::kind::load, where);
  op.map_in_global = m.memory.is_parameter(&map) ? nullptr : &map;
  op.cta = t.block;
  op.cta_mask = 1U << t.cluster_rank;
  op.issuer = &t;
  op.where = where;
  for (int i = 0; i < rank; ++i) op.at[i] = at[i];
  op.smem_offset = m.memory.offset_in_smem(
      *t.block, smem, static_cast<std::size_t>(box_smem_bytes(*op.map)), where);
  if (box_coverage(*op.map, op.at) == coverage::outside) m.async.note_box_outside(op);
  // CUDA C++ Programming Guide, "Tensor Memory Access": 128 bytes, or the swizzle pattern's period.
  int const span = swizzle_span_bytes(op.map->swizzle);
  std::uint32_t const align = span == 16 ? 128U : static_cast<std::uint32_t>(span * 8);
  if ((op.smem_offset + smem_base) % align != 0)
    m.reports.stop(
        "E0005", "tma-alignment",
        report_text({
            .what = fmt::format("The box of a TMA copy lies at {}, which is not aligned to {} "
                                "bytes.",
                                object_name(m.grid_, *t.block, op.smem_offset), align),
            .now = fmt::format("copy at {} by {}", text_of(where), name_of(t)),
            .cause = fmt::format(
                "it begins at byte {} of shared memory; a swizzle of {} bytes "
                "{}",
                op.smem_offset, span,
                span == 16 ? "(none) needs 128" : fmt::format("repeats every {}", align)),
            .remedy = fmt::format("alignas({}) on the member of the shared-memory struct", align),
        }),
        where, {object_name(m.grid_, *t.block, op.smem_offset)});
  return op;
}

}  // namespace

void tma_load(void* smem, tensor_map const& map, void* bar, int const* at, int rank,
              std::uint32_t cta_mask, bool multicast, site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = *m.sched.running();
  bulk_op op = bulk(bulk_op::kind::load, map, smem, at, rank, where);
  op.bar_offset = m.barrier.offset_of(*t.block, bar, where);
  if (multicast) m.async.to_ctas(op, cta_mask);
  m.async.issue(std::move(op));
}

void tma_load_pair(void* smem, tensor_map const& map, void* bar, int const* at, int rank,
                   site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = *m.sched.running();
  m.tensor.check_group(t, 2, "tma_load_pair", where);
  bulk_op op = bulk(bulk_op::kind::load, map, smem, at, rank, where);
  op.bar_offset = m.barrier.offset_of(*t.block, bar, where);
  op.of_pair = true;
  m.async.issue(std::move(op));
}

void tma_load_pair_multicast(void* smem, tensor_map const& map, void* bar, int const* at, int rank,
                             std::uint32_t cta_mask, site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = *m.sched.running();
  m.tensor.check_group(t, 2, "tma_load_pair_multicast", where);
  bulk_op op = bulk(bulk_op::kind::load, map, smem, at, rank, where);
  op.bar_offset = m.barrier.offset_of(*t.block, bar, where);
  op.of_pair = true;
  m.async.to_ctas(op, cta_mask);
  m.async.issue(std::move(op));
}

void tma_store(tensor_map const& map, void const* smem, int const* at, int rank, site where) {
  engine_call const inside;
  machine::current().async.issue_in_group(bulk(bulk_op::kind::store, map, smem, at, rank, where));
}

void tma_reduce(tensor_map const& map, void const* smem, int const* at, int rank, reduce_op op,
                site where) {
  engine_call const inside;
  machine& m = machine::current();
  bulk_op b = bulk(bulk_op::kind::reduce, map, smem, at, rank, where);
  b.op = op;
  b.type = reduce_type_of(b.map->type);
  bool const is_s32 = b.type == tw::detail::reduce_type::s32;
  bool const counts = op == reduce_op::inc || op == reduce_op::dec;  // of u32, which no map has
  if (!tw::detail::can_reduce(op, b.type) || (counts && is_s32))
    m.reports.stop(
        "E0088", "reduction-type",
        report_text({
            .what =
                fmt::format("A TMA reduction ({}) names a tensor of {}, which does not have it.",
                            name_of(op), name(b.map->type)),
            .now =
                fmt::format("reduction at {} by {}", text_of(where), name_of(*m.sched.running())),
            .cause = "the tensor's type decides which reductions there are",
            .remedy = "add for f32; add, min and max for f16 and bf16; these and bitwise "
                      "operations for s32",
        }),
        where);
  m.async.issue_in_group(std::move(b));
}

void tma_prefetch(tensor_map const& map, int const* at, int rank, site where) {
  engine_call const inside;
  check_request(map, at, rank, false, where);
}

void tma_store_commit(site) {
  engine_call const inside;
  thread& t = *machine::current().sched.running();
  ++t.bulk_committed;
  if (t.bulk_left.empty()) t.bulk_base = t.bulk_committed - 1;
  while (t.bulk_base + t.bulk_left.size() < t.bulk_committed) t.bulk_left.push_back(0);
}

void tma_store_wait(int pending, bool read_only, site where) {
  engine_call const inside;
  machine& m = machine::current();
  thread& t = *m.sched.running();
  if (t.bulk_committed <= static_cast<std::uint32_t>(pending)) return;
  std::uint32_t const needed = t.bulk_committed - static_cast<std::uint32_t>(pending);
  if (m.log_) m.log_->store_wait(t, needed, read_only);
  bool done = true;
  for (std::uint32_t g = t.bulk_base; g < needed; ++g)
    done = done && t.bulk_left[g - t.bulk_base] == 0;
  if (!done) m.sched.block(wait_kind::bulk_group, &t, needed, where);
  while (t.bulk_base < needed && !t.bulk_left.empty()) {
    t.bulk_left.erase(t.bulk_left.begin());
    ++t.bulk_base;
  }
  t.bulk_known_read = std::max(t.bulk_known_read, needed);
  if (hazard::checker* check = t.block->cluster->check.get())
    check->waited_for_stores(t, needed, !read_only);
}

}  // namespace tw::emu
