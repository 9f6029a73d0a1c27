// SPDX-License-Identifier: Apache-2.0
// stopwatch.cu  Events, cycle counters and the readings thread around a stretch of work.
#include "tools/measure/gpu/stopwatch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tools/measure/gpu/check.hpp"

namespace tw::bench {

struct clock_record {
  unsigned long long cycles, nanoseconds;
  unsigned sm, written;
};

namespace {

constexpr int blocks_per_sm = 4;  // so that every SM gets a block of the probe
constexpr double patience_s = 60;

using wall_clock = std::chrono::steady_clock;
double seconds_since(wall_clock::time_point start) {
  return std::chrono::duration<double>(wall_clock::now() - start).count();
}

// PTX ISA, "Special Registers": %globaltimer.
__device__ unsigned long long device_nanoseconds() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

/// Each block notes its SM's cycle counter and the time at which it was read.
__global__ void read_clocks(clock_record* records) {
  if (threadIdx.x != 0) return;
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));  // PTX ISA, "Special Registers": %smid
  unsigned long long const ns = device_nanoseconds();
  unsigned long long const cycles = static_cast<unsigned long long>(clock64());
  clock_record volatile& record = records[blockIdx.x];
  record.sm = sm;
  record.cycles = cycles;
  record.nanoseconds = ns;
  __threadfence_system();
  record.written = 1;
}

/// Waits `ns`, or about 4 s at most.
__global__ void hold(unsigned long long ns) {
  unsigned long long const start = device_nanoseconds();
  for (int i = 0; i < (1 << 22) && device_nanoseconds() - start < ns; ++i) __nanosleep(1000);
}

bool is_written(clock_record& record) {
  return std::atomic_ref<unsigned>(record.written).load(std::memory_order_acquire) != 0;
}

/// Reads the meter while the window between the two records is open, on a separate thread.
class meter_thread {
 public:
  meter_thread(nvml const* meter, clock_record& before, clock_record& after) {
    if (meter == nullptr) return;
    thread_ = std::thread([this, meter, &before, &after] {
      while (!stop_.load() && !is_written(after)) {
        bool const open = is_written(before);
        power_reading const reading = meter->read();
        if (open && !is_written(after)) readings_.push_back(reading);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
  }
  ~meter_thread() { join(); }
  std::vector<power_reading> const& join() {
    stop_.store(true);
    if (thread_.joinable()) thread_.join();
    return readings_;
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<power_reading> readings_;
  std::thread thread_;
};

/// Median over the SMs of cycles per microsecond between two probes.
double mean_sm_mhz(clock_record const* before, clock_record const* after, int count) {
  std::vector<double> mhz;
  std::vector<bool> seen(4096, false);
  for (int i = 0; i < count; ++i) {
    unsigned const sm = after[i].sm;
    if (sm >= seen.size() || seen[sm]) continue;
    auto const* const match =
        std::find_if(before, before + count, [sm](auto const& r) { return r.sm == sm; });
    if (match == before + count || after[i].nanoseconds <= match->nanoseconds) continue;
    seen[sm] = true;
    mhz.push_back(1e3 * static_cast<double>(after[i].cycles - match->cycles) /
                  static_cast<double>(after[i].nanoseconds - match->nanoseconds));
  }
  return median(mhz);
}

}  // namespace

stopwatch::stopwatch(int sms, nvml const* meter) : sms_(sms), meter_(meter) {
  std::size_t const bytes = sizeof(clock_record) * static_cast<std::size_t>(sms * blocks_per_sm);
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  check(cudaEventCreate(&begin_), "cudaEventCreate");
  check(cudaEventCreate(&end_), "cudaEventCreate");
  check(cudaHostAlloc(&before_, bytes, cudaHostAllocMapped), "cudaHostAlloc");
  check(cudaHostAlloc(&after_, bytes, cudaHostAllocMapped), "cudaHostAlloc");
}

stopwatch::~stopwatch() {
  cudaFreeHost(after_);
  cudaFreeHost(before_);
  cudaEventDestroy(end_);
  cudaEventDestroy(begin_);
  cudaStreamDestroy(stream_);
}

sample stopwatch::from_idle(double hold_s, enqueue const& timed) {
  hold<<<1, 1, 0, stream_>>>(static_cast<unsigned long long>(hold_s * 1e9));
  check(cudaGetLastError(), "launch of the waiting kernel");
  return behind([](cudaStream_t) {}, timed, -1);
}

sample stopwatch::behind(enqueue const& warm_up, enqueue const& timed, double expected_s) {
  int const count = sms_ * blocks_per_sm;
  std::fill_n(before_, count, clock_record{});
  std::fill_n(after_, count, clock_record{});
  meter_thread meter(expected_s > 0 ? meter_ : nullptr, *before_, *after_);
  warm_up(stream_);
  read_clocks<<<count, 32, 0, stream_>>>(before_);
  check(cudaEventRecord(begin_, stream_), "cudaEventRecord");
  timed(stream_);
  check(cudaEventRecord(end_, stream_), "cudaEventRecord");
  read_clocks<<<count, 32, 0, stream_>>>(after_);
  check(cudaGetLastError(), "launch of the clock probe");
  wait(expected_s);
  sample s = read_out();
  add_readings(s, meter.join());
  return s;
}

sample stopwatch::read_out() const {
  sample s;
  float ms = 0;
  check(cudaEventElapsedTime(&ms, begin_, end_), "cudaEventElapsedTime");
  s.us = static_cast<double>(ms) * 1e3;
  s.sm_mhz = mean_sm_mhz(before_, after_, sms_ * blocks_per_sm);
  return s;
}

void stopwatch::wait(double expected_s) {
  auto const start = wall_clock::now();
  for (;;) {
    cudaError_t const status = cudaStreamQuery(stream_);
    if (status != cudaErrorNotReady) return check(status, "work on the device");
    cudaGetLastError();  // "not ready" is no error
    if (seconds_since(start) > patience_s + std::max(expected_s, 0.0)) {
      std::fflush(stdout);
      std::fprintf(stderr, "TW0711: %s: got no end after %.0f s, need an end; a kernel hangs\n",
                   work_.c_str(), seconds_since(start));
      std::_Exit(1);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

}  // namespace tw::bench
