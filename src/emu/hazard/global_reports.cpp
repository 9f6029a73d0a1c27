// SPDX-License-Identifier: Apache-2.0
// global_reports.cpp  Words for hazards in global memory.
#include <fmt/format.h>

#include <cstring>

#include "emu/hazard/checker.hpp"
#include "emu/machine.hpp"
#include "emu/words.hpp"
#include "tilewright/arch/emu/tensor_map_emu.hpp"

namespace tw::emu::hazard {

namespace {

struct words {
  char const* code;
  char const* kind;
  std::string cause, remedy;
};

char const* sentence(access a) {
  switch (a) {
    case access::plain_read: return "An ordinary load reads";
    case access::plain_write: return "An ordinary store writes";
    case access::cp_async_read: return "cp.async reads";
    case access::tma_load_read: return "A TMA load reads";
    case access::tma_store_write: return "A TMA store writes";
    case access::tma_reduce: return "A TMA reduction adds to";
    case access::atomic_read: return "An atomic load reads";
    case access::atomic_write: return "An atomic operation changes";
    default: return "An access touches";
  }
}

char const* verb(access a) {
  switch (a) {
    case access::plain_read: return "read";
    case access::plain_write: return "written";
    case access::cp_async_read: return "read by a cp.async";
    case access::tma_load_read: return "read by a TMA load";
    case access::tma_store_write: return "written by a TMA store";
    case access::tma_reduce: return "added to by a TMA reduction";
    case access::atomic_read: return "read atomically";
    case access::atomic_write: return "changed atomically";
    default: return "touched";
  }
}

/// Where a parameter of the kernel points: a pointer, or the tensor of a tensor map.
struct pointed {
  std::uintptr_t begin = 0;
  std::string name;
};

void nearest(std::span<smem_object const> objects, std::byte const* at, std::string const& prefix,
             std::uintptr_t address, pointed& best) {
  for (smem_object const& o : objects) {
    std::byte const* const here = at + o.offset;
    std::string const name = prefix + std::string(o.name);
    std::uintptr_t begin = 0;
    if (o.bytes == sizeof(tensor_map)) {
      tensor_map map;
      std::memcpy(&map, here, sizeof(map));
      try {
        begin = reinterpret_cast<std::uintptr_t>(unpack_tensor_map_emu(map).base);
      } catch (rejected const&) {
      }
    } else if (o.bytes == sizeof(begin)) {
      std::memcpy(&begin, here, sizeof(begin));
    } else if (o.element_bytes[0] == 0) {
      nearest(o.members, here, name + ".", address, best);
      continue;
    }
    constexpr std::uintptr_t smallest_pointer = 1 << 16;  // sizes and counts are no addresses
    if (begin >= smallest_pointer && begin <= address && begin >= best.begin) best = {begin, name};
  }
}

}  // namespace

std::string checker::global_object(std::uintptr_t address) const {
  pointed best;
  nearest(grid_.params_objects, static_cast<std::byte const*>(machine_->params()), "", address,
          best);
  return best.name.empty() ? std::string("global memory")
                           : fmt::format("global memory {}+{:#x}", best.name, address - best.begin);
}

void checker::report_global(thread const& t, global_conflict const& c, record const& now) {
  bool const stored =
      c.earlier.what == access::tma_store_write || c.earlier.what == access::tma_reduce;
  words w{"E0042", "global-race",
          "no flag, counter or barrier leads from the earlier access to this one",
          "between CTAs: cta_sync() and then store_release or red_add_release by one thread after "
          "the first, a poll with load_acquire and then cta_sync() before the second"};
  if (c.by_predecessor) {
    w = {"E0046", "predecessor-not-waited-for",
         "this launch may start before its predecessor in the stream has finished",
         "grid_dependency_wait() before the first access of what the predecessor reads or writes"};
  } else if (c.how == verdict::unfenced) {
    w = {"E0044", "missing-global-proxy-fence",
         "the bytes were written through the generic proxy, TMA reaches them through the async "
         "proxy: a flag or a barrier alone does not order them",
         "fence_proxy_async_global() by the thread that wrote, before its release or barrier"};
  } else if (stored && !c.completed) {
    w = {"E0043", "global-store-not-complete",
         "its thread has not waited until the tensor was written; tma_store_wait_read waits only "
         "until shared memory was read",
         "tma_store_wait<0>() by the thread that stored, before it tells others"};
  } else if (c.by.cta != t.cta) {
    if (notes_.narrow.line != 0)
      w.cause = fmt::format(
          "the flag read at {} was written, or is read, with a scope that does "
          "not hold both CTAs",
          text_of(notes_.narrow));
    else if (notes_.relaxed_write.line != 0)
      w.cause = fmt::format("the flag in between was written at {} without release",
                            text_of(notes_.relaxed_write));
    else if (notes_.relaxed_read.line != 0)
      w.cause = fmt::format("the flag in between was read at {} without acquire",
                            text_of(notes_.relaxed_read));
  }
  std::string const place = global_object(c.address);
  std::string const earlier_by = fmt::format(
      "thread {} ({}CTA {}{})", c.by.thread, *c.by.role == 0 ? "" : fmt::format("{}, ", c.by.role),
      c.by.cta, c.by_predecessor ? " of the predecessor" : "");
  char const* const why =
      c.by_predecessor             ? "and the predecessor may not be done with it"
      : c.how == verdict::unfenced ? "which was written through the other proxy, without its fence"
      : stored && !c.completed     ? "to which a TMA store or reduction may still be on its way"
      : is_write(c.earlier.what)   ? "which another thread has written: nothing orders the two"
                                   : "which another thread has read: nothing orders the two";
  report(w.code, w.kind,
         told({
             .what = fmt::format("{} {}, {}.", sentence(now.what), place, why),
             .now = fmt::format("{} at {} by {}", verb(now.what), text_of(now.where),
                                tw::emu::name_of(t)),
             .earlier = fmt::format("{} at {} by {}", verb(c.earlier.what),
                                    text_of(c.earlier.where), earlier_by),
             .cause = w.cause,
             .remedy = w.remedy,
         }),
         now.where, c.earlier.where, place, &t);
}

}  // namespace tw::emu::hazard
