// SPDX-License-Identifier: Apache-2.0
// launch.cpp  Hands the clusters of a launch to OS threads, each with its own machine.
#include "tilewright/arch/emu/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <tuple>

#include "base/float_environment.hpp"
#include "base/fork_safe.hpp"
#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"
#include "tilewright/arch/emu/cores.hpp"
#include "tilewright/arch/limits.hpp"

namespace tw::emu {

namespace {

/// Machines keep their stacks and shared memory between launches.
class machine_pool {
 public:
  std::unique_ptr<machine> take() {
    std::scoped_lock const lock(mutex_);
    if (free_.empty()) return std::make_unique<machine>();
    auto m = std::move(free_.back());
    free_.pop_back();
    return m;
  }
  void give(std::unique_ptr<machine> m) {
    std::scoped_lock const lock(mutex_);
    free_.push_back(std::move(m));
  }

 private:
  fork_safe_mutex mutex_;
  std::vector<std::unique_ptr<machine>> free_;
};

machine_pool& pool() {
  static machine_pool p;
  return p;
}

/// Turns counted multiply-adds into calls of options::progress, at most about 20 a second.
class progress_meter {
 public:
  explicit progress_meter(options const& o) : options_(o) {}
  void add(double macs) {
    std::scoped_lock const lock(mutex_);
    done_ += macs;
    auto const now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    options_.progress(std::min(1.0, done_ / options_.expected_macs));
  }

 private:
  options const& options_;
  std::mutex mutex_;
  double done_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void check(grid const& g, device_layout const& layout) {
  constexpr int extent_limit = 65535;
  extents3 const& e = g.extents;
  if (g.smem_bytes > max_smem_bytes)
    throw fault({{"E0017", "smem-overflow",
                  report_text({
                      .what = fmt::format("The kernel requests {} bytes of shared memory per CTA.",
                                          g.smem_bytes),
                      .cause = fmt::format("a CTA can have {} bytes", max_smem_bytes),
                      .remedy = "fewer stages or smaller tiles",
                  })}});
  // CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": extents of a
  // grid.
  if (e.y < 1 || e.y > extent_limit || e.z < 1 || e.z > extent_limit || layout.devices < 1 ||
      e.count() != g.ctas)
    throw fault(
        {{"E0018", "launch-shape",
          report_text({
              .what = fmt::format("A grid of {} x {} x {} CTAs cannot be launched.", e.x, e.y, e.z),
              .cause = fmt::format("extents are positive, y and z at most {}, and there are "
                                   "fewer than 2^31 CTAs",
                                   extent_limit),
              .remedy = "the longest extent along x",
          })}});
  if (g.threads < 1 || g.threads > max_cta_threads || g.cluster < 1 ||
      g.cluster > max_cluster_ctas || g.ctas < 1 || e.x % g.cluster != 0)
    throw fault(
        {{"E0018", "launch-shape",
          report_text({
              .what = fmt::format("{} CTAs of {} threads in clusters of {} cannot be "
                                  "launched.",
                                  g.ctas, g.threads, g.cluster),
              .cause = fmt::format("the CTAs, along x in a grid of two or three dimensions, "
                                   "are a positive multiple of the cluster, which "
                                   "has 1 to {}; a CTA has 1 to {} threads",
                                   max_cluster_ctas, max_cta_threads),
              .remedy = "a grid of whole clusters",
          })}});
}

/// Runs work(0) to work(count - 1), each on an OS thread, while this one calls `interrupt`.
template <class Work>
void run_interruptible(int count, Work const& work, std::function<bool()> const& interrupt,
                       std::atomic<bool>& interrupted) {
  constexpr auto between_questions = std::chrono::milliseconds(50);
  std::exception_ptr error;
  std::mutex mutex;
  std::condition_variable ended;
  int running = count;
  {
    std::vector<std::jthread> workers;  // joined here, also if one cannot be started
    try {
      for (int i = 0; i < count; ++i)
        workers.emplace_back([&, i] {
          std::exception_ptr mine;
          try {
            work(i);
          } catch (...) {
            mine = std::current_exception();
            interrupted = true;
          }
          std::scoped_lock const lock(mutex);
          if (mine) error = mine;
          --running;
          ended.notify_all();
        });
      std::unique_lock lock(mutex);
      auto const done = [&] { return running == 0; };
      if (!interrupt) ended.wait(lock, done);
      while (!ended.wait_for(lock, between_questions, done)) {
        if (interrupted) continue;  // until the threads have left
        lock.unlock();
        bool const now = interrupt();
        lock.lock();
        if (now && !interrupted.exchange(true)) error = std::make_exception_ptr(emu::interrupted());
      }
    } catch (...) {  // of a thread that cannot be started, or of `interrupt`
      interrupted = true;
      std::scoped_lock const lock(mutex);
      error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

/// How many clusters the device can hold at once; registers, which the emulator does not know, may
/// allow fewer.
int resident_clusters(grid const& g, int sms) {
  int const by_smem = sm_smem_bytes / (g.smem_bytes + reserved_cta_smem_bytes);
  int const warps = (g.threads + warp_threads - 1) / warp_threads;
  int const ctas = std::min({max_sm_ctas, max_sm_threads / (warps * warp_threads), by_smem});
  return std::max(1, sms * ctas / g.cluster);
}

/// The diagnoses of the OS threads. Of several, in an order that does not depend on their speed.
std::vector<diagnosis> merged(std::vector<std::vector<diagnosis>> found) {
  std::vector<diagnosis> all = std::move(found.front());
  for (std::size_t i = 1; i < found.size(); ++i)
    for (diagnosis& d : found[i]) {
      auto const same = std::find_if(all.begin(), all.end(),
                                     [&](diagnosis const& x) { return same_hazard(x, d); });
      if (same != all.end() && d.where.line != 0)
        same->count += d.count;
      else
        all.push_back(std::move(d));
    }
  if (found.size() > 1)
    std::stable_sort(all.begin(), all.end(), [](diagnosis const& x, diagnosis const& y) {
      return std::tie(x.code, x.where.line, x.cta, x.thread, x.text) <
             std::tie(y.code, y.where.line, y.cta, y.thread, y.text);
    });
  return all;
}

}  // namespace

void run_grid(grid const& g, void const* params, options const& o) {
  run_grid_on_devices(g, params, o, {});
}

void run_grid_on_devices(grid const& given, void const* params, options const& o,
                         device_layout const& layout) {
  float_environment const usual;
  grid g = given;
  if (g.extents == extents3{0, 0, 0}) g.extents = g.ctas;
  check(g, layout);
  auto const queues = static_cast<int>(layout.queues.size());
  g.ctas = g.ctas * layout.devices + queues * g.cluster;  // a cluster carries out a queue
  int const clusters = g.ctas / g.cluster;
  // CTAs that share an SM's tensor memory are of one machine.
  bool const alone = o.record != nullptr || o.ctas_per_sm > 1;
  int const wanted = alone ? 1 : o.os_threads > 0 ? o.os_threads : usable_cores();
  int const os_threads = std::min(clusters, wanted);
  int const share = (clusters + os_threads - 1) / os_threads;
  // CTAs start in order, each when one before it has ended: as on the device.
  int const resident = resident_clusters(g, o.sms > 0 ? o.sms : h100_sms) * layout.devices + queues;
  int const held = std::max(1, resident / os_threads);
  int const live = std::min(share, o.live_clusters > 0 ? std::min(o.live_clusters, held) : held);

  std::atomic<int> handed_out{0};
  // Queues first; then a cluster of each device in turn: devices are independent.
  int const of_device = (clusters - queues) / layout.devices;
  std::function<int()> const next = [&] {
    int const i = handed_out++;
    if (i >= clusters) return -1;
    if (i < queues) return of_device * layout.devices + i;
    return (i - queues) % layout.devices * of_device + (i - queues) / layout.devices;
  };
  if (o.record != nullptr) o.record->log().begin(g, o);
  progress_meter meter(o);
  std::function<void(double)> macs_done;
  if (o.progress && o.expected_macs > 0) macs_done = [&meter](double macs) { meter.add(macs); };

  hazard::global_memory of_this_launch;
  hazard::global_memory* memory = &of_this_launch;
  if (o.in != nullptr) {
    if (!o.in->memory || !o.pdl) o.in->memory = std::make_shared<hazard::global_memory>();
    memory = o.in->memory.get();
    memory->next_launch();
  }
  std::atomic<bool> interrupted{false};
  std::mutex mutex;
  std::vector<std::vector<diagnosis>> found(static_cast<std::size_t>(os_threads));
  std::vector<bank_finding> banks;
  auto const work = [&](int index) {
    auto m = pool().take();
    auto const seed = o.seed * 0x9E3779B97F4A7C15ULL + static_cast<std::uint64_t>(index);
    auto& mine = found[static_cast<std::size_t>(index)];
    mine = m->run(g, layout, params, o, next, live, seed, macs_done, o.hazards ? memory : nullptr,
                  os_threads == 1, interrupted);
    statistics const counts = m->counts_;
    auto const conflicts = m->banks_ ? m->banks_->found() : std::vector<bank_finding>{};
    pool().give(std::move(m));
    std::scoped_lock const lock(mutex);
    if (o.counted != nullptr) o.counted->add(counts);
    banks.insert(banks.end(), conflicts.begin(), conflicts.end());
  };
  if (os_threads == 1 && !o.interrupt)
    work(0);
  else
    run_interruptible(os_threads, work, o.interrupt, interrupted);
  std::vector<diagnosis> all = merged(std::move(found));
  if (!banks.empty()) {
    banks = merged(std::move(banks));
    if (o.banks != nullptr)
      for (bank_finding const& f : banks) o.banks->push_back(f.total);
    if (o.bank_conflicts)
      for (diagnosis& d : bank_diagnoses(banks))
        if (static_cast<int>(all.size()) < o.most_reports) all.push_back(std::move(d));
  }
  if (o.record != nullptr) o.record->log().ended(!all.empty());
  if (!all.empty()) throw fault(std::move(all));
}

}  // namespace tw::emu
