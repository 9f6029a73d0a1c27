// SPDX-License-Identifier: Apache-2.0
// global_reports.cpp  Words for hazards in global memory.
#include <fmt/format.h>

#include "emu/machine/checker.hpp"
#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu::hazard {

namespace {

struct global_race_words {
  char const* code;
  char const* kind;
  std::string cause, remedy;
};

}  // namespace

std::string checker::global_object(std::uintptr_t address) const {
  return machine_->memory.name_of_global(address);
}

void checker::report_global(thread const& t, global_conflict const& c, record const& now) {
  bool const stored =
      c.earlier.what == access::tma_store_write || c.earlier.what == access::tma_reduce;
  global_race_words w{
      "E0042", "global-race",
      "no flag, counter or barrier leads from the earlier access to this one",
      "between CTAs: cta_sync() and then store_release or red_add_release by one thread after "
      "the first, a poll with load_acquire and then cta_sync() before the second"};
  if (c.by.device != t.device)
    w.remedy =
        "between devices: cta_sync() and then store_release<scope::sys> by one thread after the "
        "first, a poll with load_acquire<scope::sys> and then cta_sync() before the second";
  if (c.by_predecessor) {
    w = {"E0046", "predecessor-not-waited-for",
         "this launch may start before its predecessor in the stream has finished",
         "grid_dependency_wait() before the first access of what the predecessor reads or writes"};
    if (c.chain_broken) {
      w.cause =
          "a launch between the two has not called grid_dependency_wait(): it may end, and let "
          "this launch go on, before the earlier one has ended";
      w.remedy =
          "grid_dependency_wait() in every launch of the chain, also where it needs nothing of its "
          "predecessor";
    }
  } else if (c.how == verdict::unfenced && c.earlier.what == access::engine_write) {
    w = {"E0044", "missing-global-proxy-fence",
         "a copy engine wrote the bytes, TMA reads them through the async proxy: the flag alone "
         "does "
         "not order them",
         "fence_proxy_async_global() by the thread that issues the load, after its acquire"};
  } else if (c.how == verdict::unfenced) {
    w = {"E0044", "missing-global-proxy-fence",
         "the bytes were written through the generic proxy, TMA reaches them through the async "
         "proxy: a flag or a barrier alone does not order them",
         "fence_proxy_async_global() by the thread that wrote, before its release or barrier"};
  } else if (stored && !c.completed) {
    w = {"E0043", "global-store-not-complete",
         "its thread has not waited until the tensor was written; tma_store_wait_read waits only "
         "until shared memory was read",
         "tma_store_wait<0>() by the thread that stored, before it signals others"};
  } else if (traits(now.what).atomic && traits(c.earlier.what).atomic) {
    w.cause = narrow_atomic_cause;
    w.remedy = narrow_atomic_remedy;
    if (c.by.device != t.device)
      w = {"E0130", "flag-of-one-device", narrow_atomic_cause, "scope::sys in both"};
  } else if (c.by.cta != t.cta) {
    // The newest flag between the two CTAs; one that was polled rather than a counter.
    flag_note const* flag = nullptr;
    for (flag_note const& n : notes_)
      if (n.reader == t.cta && (n.writer == c.by.cta || n.writer == several) &&
          (flag == nullptr || n.polled >= flag->polled))
        flag = &n;
    bool const stored_twice =
        is_write(now.what) && is_write(c.earlier.what) && same_place(now.where, c.earlier.where);
    if (stored_twice && (flag == nullptr || !flag->polled)) {
      w.cause =
          "the same line of the kernel stores the element in two CTAs: more of them reach the "
          "store than are meant to, or two get the same index";
      w.remedy =
          "a condition that is true of one CTA alone, as of the last one at the counter; or "
          "indices that differ; or an atomic addition";
    } else if (flag == nullptr) {
      if (c.by.device != t.device && is_write(now.what) && !is_write(c.earlier.what)) {
        w = {"E0131", "buffer-reused-early",
             fmt::format("device {} still reads the bytes: no flag says that it has ended",
                         c.by.device),
             "a flag of scope::sys from the reader, waited for before the bytes are written again; "
             "or another buffer, and a wait for the reader's flag of the call between"};
      }
    } else if (flag->what == flag_note::kind::narrow_scope && flag->other_device) {
      w = {"E0130", "flag-of-one-device",
           fmt::format("the flag read at {} was written, or is read, with a scope that ends at the "
                       "device",
                       text_of(flag->where)),
           "scope::sys on both sides of a flag between devices"};
    } else if (flag->what == flag_note::kind::narrow_scope) {
      w.cause = fmt::format(
          "the flag read at {} was written, or is read, with a scope that does not hold both CTAs",
          text_of(flag->where));
    } else if (flag->what == flag_note::kind::relaxed_write) {
      w.cause = fmt::format("the flag in between was written at {} without release",
                            text_of(flag->where));
    } else {
      w.cause =
          fmt::format("the flag in between was read at {} without acquire", text_of(flag->where));
    }
  }
  auto const device_text = [&](int device) {
    return machine_->layout_.devices > 1 ? fmt::format(", device {}", device) : std::string();
  };
  std::string const place = global_object(c.address);
  std::string const earlier_by = fmt::format("thread {} ({}CTA {}{}{})", c.by.thread,
                                             *c.by.role == 0 ? "" : fmt::format("{}, ", c.by.role),
                                             c.by.cta, device_text(c.by.device),
                                             c.chain_broken     ? " of an earlier launch"
                                             : c.by_predecessor ? " of the predecessor"
                                                                : "");
  char const* const why =
      c.chain_broken               ? "and an earlier launch may not be done with it"
      : c.by_predecessor           ? "and the predecessor may not be done with it"
      : c.how == verdict::unfenced ? "which was written through the other proxy, without its fence"
      : stored && !c.completed     ? "to which a TMA store or reduction may still be on its way"
      : is_write(c.earlier.what)   ? "which another thread has written: nothing orders the two"
                                   : "which another thread has read: nothing orders the two";
  report(w.code, w.kind,
         report_text({
             .what = fmt::format("{} {}, {}.", traits(now.what).now, place, why),
             .now = fmt::format("{} at {} by {}", traits(now.what).did_by, text_of(now.where),
                                tw::emu::name_of(t) + device_text(t.device)),
             .earlier = fmt::format("{} at {} by {}", traits(c.earlier.what).did_by,
                                    text_of(c.earlier.where), earlier_by),
             .cause = w.cause,
             .remedy = w.remedy,
         }),
         now.where, c.earlier.where, place, &t);
}

void checker::report_outside_window(thread const& t, std::uintptr_t address, int owner,
                                    record const& now) {
  std::string const place = global_object(address);
  report("E0132", "outside-window",
         report_text({
             .what = fmt::format("{} {}, memory of device {} that its peers cannot address.",
                                 traits(now.what).now, place, owner),
             .now = fmt::format("{} at {} by {}, device {}", traits(now.what).did_by,
                                text_of(now.where), tw::emu::name_of(t), t.device),
             .cause = "an address is valid on its device, and on peers only inside of the window "
                      "that all ranks have registered",
             .remedy = "send into the receive buffer of the arena, which lies in the window",
         }),
         now.where, {}, place, &t);
}

}  // namespace tw::emu::hazard
