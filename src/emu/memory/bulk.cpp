// SPDX-License-Identifier: Apache-2.0
// bulk.cpp  Bulk copies without a tensor map: TMA copies of a box of bytes in a tensor of one
//           dimension, which is as large as the box.
#include <fmt/format.h>

#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu {

namespace {

/// E0087: the size is not a multiple of 16, or not positive.
void check_size(int bytes, char const* what, site where) {
  if (bytes > 0 && bytes % 16 == 0) return;
  machine& m = machine::current();
  m.reports.stop(
      "E0087", "bulk-copy-size",
      report_text({
          .what = fmt::format("{} is to copy {} bytes.", what, bytes),
          .now = fmt::format("copy at {} by {}", text_of(where), name_of(*m.sched.running())),
          .cause = "bulk copies move whole pieces of 16 bytes",
          .remedy = "arrays padded to a multiple of 16 bytes, or ordinary loads and "
                    "stores for the rest",
      }),
      where);
}

void check_global(void const* global, int bytes, char const* what, site where) {
  machine& m = machine::current();
  m.memory.require_global(global, what, where);
  m.memory.require_aligned(global, 16, what, where);
  m.memory.check_bounds(global, static_cast<std::size_t>(bytes), what, where);
}

/// The bytes from `base` as the tensor of a copy by the running thread; smem is in its CTA.
bulk_op bytes_at(bulk_op::kind kind, void const* base, void const* smem, int bytes,
                 char const* what, site where) {
  machine& m = machine::current();
  thread& t = *m.sched.running();
  auto desc = std::make_shared<tensor_map_desc>();
  desc->base = const_cast<void*>(base);
  desc->type = elem::u8;
  desc->rank = 1;
  desc->dim[0] = bytes;
  desc->box[0] = bytes;
  bulk_op op{};
  op.what = kind;
  op.map = desc.get();
  op.bytes = std::move(desc);
  op.cta = t.block;
  op.cta_mask = 1U << t.cluster_rank;
  op.issuer = &t;
  op.where = where;
  op.smem_offset = m.memory.offset_in_smem(*t.block, smem, static_cast<std::size_t>(bytes), where);
  m.memory.require_aligned(smem, 16, what, where);
  return op;
}

struct peer_copy {
  bulk_op::kind what;
  char const* name;
};

/// The copy of bytes of this CTA to the place of `own` in CTA `cta`.
bulk_op to_peer(peer_copy copy, void* own, void const* smem, int bytes, void* bar, int cta,
                site where) {
  machine& m = machine::current();
  check_size(bytes, copy.name, where);
  cta_state const& peer = m.memory.peer_cta(cta, where);
  bulk_op op = bytes_at(copy.what, smem, own, bytes, copy.name, where);
  op.from_offset = m.memory.offset_in_smem(*op.cta, smem, static_cast<std::size_t>(bytes), where);
  m.memory.require_aligned(smem, 16, copy.name, where);
  op.bar_offset = m.barrier.offset_of(*op.cta, bar, where);
  op.cta_mask = 1U << peer.rank;
  return op;
}

}  // namespace

void bulk_load(void* smem, void const* global, int bytes, void* bar, std::uint32_t cta_mask,
               bool multicast, site where) {
  engine_call const inside;
  machine& m = machine::current();
  check_size(bytes, "bulk_load", where);
  check_global(global, bytes, "bulk_load", where);
  bulk_op op = bytes_at(bulk_op::kind::load, global, smem, bytes, "bulk_load", where);
  op.bar_offset = m.barrier.offset_of(*op.cta, bar, where);
  if (multicast) m.async.to_ctas(op, cta_mask);
  m.async.issue(std::move(op));
}

void bulk_copy_to_peer(void* own, void const* smem, int bytes, void* bar, int cta, site where) {
  engine_call const inside;
  machine::current().async.issue(
      to_peer({bulk_op::kind::to_peer, "bulk_copy_to_peer"}, own, smem, bytes, bar, cta, where));
}

void bulk_reduce_to_peer(void* own, void const* smem, int bytes, void* bar, int cta, reduce_op op,
                         tw::detail::reduce_type type, site where) {
  engine_call const inside;
  bulk_op b = to_peer({bulk_op::kind::reduce_at_peer, "bulk_reduce_to_peer"}, own, smem, bytes, bar,
                      cta, where);
  b.op = op;
  b.type = type;
  machine::current().async.issue(std::move(b));
}

void bulk_store(void* global, void const* smem, int bytes, site where) {
  engine_call const inside;
  check_size(bytes, "bulk_store", where);
  check_global(global, bytes, "bulk_store", where);
  machine::current().async.issue_in_group(
      bytes_at(bulk_op::kind::store, global, smem, bytes, "bulk_store", where));
}

void bulk_reduce(void* global, void const* smem, int bytes, reduce_op op,
                 tw::detail::reduce_type type, site where) {
  engine_call const inside;
  check_size(bytes, "bulk_reduce", where);
  check_global(global, bytes, "bulk_reduce", where);
  bulk_op b = bytes_at(bulk_op::kind::reduce, global, smem, bytes, "bulk_reduce", where);
  b.op = op;
  b.type = type;
  machine::current().async.issue_in_group(std::move(b));
}

void bulk_prefetch(void const* global, int bytes, site where) {
  engine_call const inside;
  check_size(bytes, "bulk_prefetch", where);
  check_global(global, bytes, "bulk_prefetch", where);
}

void prefetch_l2(void const* global, site where) {
  engine_call const inside;
  machine::current().memory.require_global(global, "prefetch_l2", where);
}

}  // namespace tw::emu
