// SPDX-License-Identifier: Apache-2.0
// machine.cpp  Clusters come and go; a thread begins and ends.
#include "emu/machine/machine.hpp"

#include <fmt/format.h>

#include <cassert>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "emu/report/words.hpp"
#include "emu/run/run_guard.hpp"

namespace tw::emu {

namespace {

/// TILEWRIGHT_EXACT_SUMS=1: every launch of the process has exact sums.
bool exact_sums_requested() {
  static bool const requested = [] {
    char const* const text = std::getenv("TILEWRIGHT_EXACT_SUMS");
    return text != nullptr && std::string_view(text) == "1";
  }();
  return requested;
}

}  // namespace

namespace {

thread_local machine* machine_of_this_os_thread = nullptr;

/// While it lives, the kernels of this OS thread run on `m`.
class current_machine {
 public:
  explicit current_machine(machine& m) : outer_(machine_of_this_os_thread), outer_self_(self) {
    machine_of_this_os_thread = &m;
    ++kernels_running;
  }
  ~current_machine() {
    --kernels_running;
    machine_of_this_os_thread = outer_;
    self = outer_self_;
  }
  current_machine(current_machine const&) = delete;
  current_machine& operator=(current_machine const&) = delete;

 private:
  machine* const outer_;
  thread_face* const outer_self_;
};

}  // namespace

machine& machine::current() {
  assert(!in_kernel && "a function that kernels call lacks its engine_call");
  return *machine_of_this_os_thread;
}

void machine::prepare(cluster_state& c) {
  int const threads = grid_.cluster * grid_.threads;
  c.ctas = std::vector<cta_state>(static_cast<std::size_t>(grid_.cluster));
  c.smem_store = std::make_unique_for_overwrite<std::byte[]>(
      static_cast<std::size_t>(grid_.cluster) * smem_bytes_of_cta + 1024);
  c.stack_store = stacks(static_cast<std::size_t>(threads));
  auto base = reinterpret_cast<std::uintptr_t>(c.smem_store.get());
  base = (base + 1023) & ~std::uintptr_t{1023};
  for (int r = 0; r < grid_.cluster; ++r) {
    cta_state& b = c.ctas[static_cast<std::size_t>(r)];
    b.cluster = &c;
    b.rank = r;
    b.smem = reinterpret_cast<std::byte*>(base + static_cast<std::size_t>(r) * smem_bytes_of_cta);
    b.threads.resize(static_cast<std::size_t>(grid_.threads));
    b.groups = std::vector<warpgroup_state>(static_cast<std::size_t>((grid_.threads + 127) / 128));
  }
}

void machine::start_cluster(cluster_state& c, int id) {
  int const of_device = clusters_of_device();
  bool const copies = id >= of_device * layout_.devices;
  c.id = id;
  c.device = copies
                 ? layout_.queues[static_cast<std::size_t>(id - of_device * layout_.devices)].device
                 : id / of_device;
  c.finished = false;
  c.saw_no_launch.reset();
  if (banks_) banks_->close(&c);
  c.live_threads = grid_.cluster * grid_.threads;
  c.barrier = {};
  counts_.ctas += grid_.cluster;
  c.stack_store.wipe();
  std::size_t stack = 0;
  int first_warp = c.first_warp;
  for (cta_state& b : c.ctas) {
    b.live_threads = grid_.threads;
    b.mbarriers.clear();
    b.is_mbarrier.assign(static_cast<std::size_t>(grid_.smem_bytes / 8 + 1), false);
    for (group_barrier& g : b.named) g = {};
    b.free_registers = 0;
    b.wait_for_registers.clear();
    b.acquired_maps.clear();
    b.tensor.reset();
    std::memset(b.smem, 0xFF, static_cast<std::size_t>(grid_.smem_bytes));  // NaN in every type
    for (std::size_t g = 0; g < b.groups.size(); ++g) {
      auto tiles = std::move(b.groups[g].tiles);
      b.groups[g] = {};
      b.groups[g].tiles = std::move(tiles);
      b.groups[g].block = &b;
      b.groups[g].index = static_cast<int>(g);
    }
    for (int t = 0; t < grid_.threads; ++t) {
      thread& th = b.threads[static_cast<std::size_t>(t)];
      th = {};
      th.id = t;
      th.cta = id * grid_.cluster + b.rank;
      th.device = c.device;
      th.role = copies ? "copy engine" : "";
      th.grid = grid_.extents;
      int const of_grid = th.cta - (id / of_device) * of_device * grid_.cluster;
      th.cta_index = {of_grid % th.grid.x, of_grid / th.grid.x % th.grid.y,
                      of_grid / th.grid.x / th.grid.y};
      th.thread_count = grid_.threads;
      th.cluster_rank = b.rank;
      th.cluster = id;
      th.cluster_index_x = th.cta_index.x / grid_.cluster;
      th.cluster_extent_x = th.grid.x / grid_.cluster;
      th.smem = b.smem;
      th.block = &b;
      th.group = &b.groups[static_cast<std::size_t>(t / 128)];
      th.warp_index = first_warp + t / 32;
      warp_state& w = sched.warp_of(th);
      if (t % 32 == 0) {
        w = {};
        w.first = &th;
      }
      w.live = ++w.threads;
      sched.start(th, c.stack_store, stack++);
    }
    first_warp += (grid_.threads + 31) / 32;
  }
  if (!options_.hazards) {
    c.check = nullptr;
    return;
  }
  if (!c.check) c.check = std::make_unique<hazard::checker>();
  c.check->start(*this, c, grid_, options_);
}

void machine::finish_thread() {
  thread* const t = sched.running();
  bool const open_store =
      !t->bulk_left.empty() && t->bulk_base + t->bulk_left.size() > t->bulk_committed;
  if (t->bulk_committed != t->bulk_known_read || open_store)
    reports.stop(
        "E0011", "exit-with-pending-tma-store",
        report_text({
            .what = open_store ? "A thread ends with TMA stores that it never committed."
                               : "A thread ends with TMA stores that it never waited for.",
            .now = "end of " + name_of(*t),
            .earlier = "last store at " + text_of(t->bulk_site),
            .cause = open_store
                         ? "a wait counts committed groups alone, so none has waited for them"
                         : "the next CTA may get the shared memory while the stores still read it",
            .remedy = open_store ? "tma_store_commit() after the stores, before tma_store_wait_read"
                                 : "tma_store_wait_read<0>() in the thread that stored, before the "
                                   "kernel ends",
        }),
        t->bulk_site);
  bool const open_wgmma = t->wgmma_steps != t->wgmma_committed_steps;
  if (t->wgmma_groups != t->wgmma_known_done || open_wgmma)
    reports.stop(
        "E0012", "exit-with-pending-wgmma",
        report_text({
            .what = open_wgmma ? std::string("A thread ends with wgmmas that it never committed.")
                               : fmt::format("A thread ends with {} wgmma groups that it never "
                                             "waited for.",
                                             t->wgmma_groups - t->wgmma_known_done),
            .now = "end of " + name_of(*t),
            .earlier = open_wgmma ? "last wgmma at " + text_of(t->wgmma_site)
                                  : "last commit at " + text_of(t->commit_site),
            .cause = open_wgmma ? "a wgmma that is in no committed group need never be carried out"
                                : "their sums are lost, and the operands may be overwritten while "
                                  "they are read",
            .remedy = open_wgmma ? "wgmma_commit() after the last wgmma of a group, then wgmma_wait"
                                 : "wgmma_wait<0>() before the warpgroup ends",
        }),
        open_wgmma ? t->wgmma_site : t->commit_site);
  if (t->map_unreleased) memory.stop_at_unreleased_map(*t);
  tensor.check_committed(*t);
  cluster_state& c = *t->block->cluster;
  --t->block->live_threads;
  --c.live_threads;
  if (t->block->live_threads == 0) tensor.ended(*t->block);
  if (c.check) c.check->exits(*t, t->block->live_threads == 0);
  barrier.left_by(*t);
  warp.left_by(*t);
  if (c.live_threads == 0) {
    async.drain(c);
    c.finished = true;
  } else if (c.barrier.arrived > 0 && c.barrier.arrived >= c.live_threads) {
    barrier.finish_round(c.barrier, c.check.get());
  }
  sched.finished(*t, c.finished);
}

void machine::drive() {
  while (live_clusters_ > 0) {
    sched.resume();
    for (auto& c : clusters_) {
      if (!c->finished) continue;
      c->finished = false;
      int const id = (*next_)();
      if (id >= 0) {
        start_cluster(*c, id);
      } else {
        --live_clusters_;
      }
    }
  }
}

std::vector<diagnosis> machine::run(grid const& g, device_layout const& layout, void const* params,
                                    options const& o, std::function<int()> const& next, int live,
                                    std::uint64_t seed,
                                    std::function<void(double)> const& macs_done,
                                    hazard::global_memory* globals, bool alone,
                                    std::atomic<bool> const& interrupted) {
  bool const same_shape = grid_.cluster == g.cluster && grid_.threads == g.threads;
  grid_ = g;
  layout_ = layout;
  options_ = o;
  if (exact_sums_requested()) options_.exact_sums = true;
  log_ = o.record != nullptr ? &o.record->log() : nullptr;
  counts_ = {};
  answers.clear();
  counts_.smem_bytes = g.smem_bytes;
  counts_.cluster = g.cluster;
  counts_.plain_accesses_seen = g.plain_accesses_seen;
  counts_.hazards = o.hazards;
  banks_ = o.bank_conflicts || o.banks != nullptr ? std::make_unique<bank_meter>(grid_) : nullptr;
  params_ = params;
  next_ = &next;
  globals_ = globals;
  reports.begin();
  async.begin(&macs_done);
  memory.begin();
  current_machine const current_one(*this);

  sched.warps().clear();  // their barriers hold clocks of the clusters
  if (!same_shape) clusters_.clear();
  int const warps_per_cluster = g.cluster * ((g.threads + 31) / 32);
  while (static_cast<int>(clusters_.size()) < live) {
    clusters_.push_back(std::make_unique<cluster_state>());
    prepare(*clusters_.back());
  }
  clusters_.resize(static_cast<std::size_t>(live));
  sched.begin(static_cast<std::size_t>(live * warps_per_cluster), seed, alone, interrupted);
  live_clusters_ = 0;
  for (int i = 0; i < live; ++i) {
    clusters_[static_cast<std::size_t>(i)]->first_warp = i * warps_per_cluster;
    int const id = next();
    if (id < 0) break;
    start_cluster(*clusters_[static_cast<std::size_t>(i)], id);
    ++live_clusters_;
  }
  run_guard const guard(*this, o.catch_crashes.value_or(true), o.time_limit_seconds);
  sched.run([] { current().drive(); });
  std::optional<diagnosis> const incident = guard.incident();
  if (banks_) banks_->close(nullptr);
  std::vector<diagnosis> found = reports.found();
  if (incident) found.push_back(*incident);  // the last that happened
  return found;
}

}  // namespace tw::emu
