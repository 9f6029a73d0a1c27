// SPDX-License-Identifier: Apache-2.0
// graph_contender.cu  Captures launches, finds how many make a batch, and times batches.
#include "tools/measure/gpu/graph_contender.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "tools/measure/gpu/check.hpp"

namespace tw::bench {
namespace {

constexpr int max_launches = 10000;

}  // namespace

launch_graph::launch_graph(cudaStream_t stream, std::function<void(cudaStream_t)> const& record) {
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
  try {
    record(stream);
  } catch (...) {
    cudaStreamEndCapture(stream, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    throw;
  }
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  cudaError_t const status = cudaGraphInstantiate(&executable_, graph, 0);
  cudaGraphDestroy(graph);
  check(status, "cudaGraphInstantiate");
  check(cudaGraphUpload(executable_, stream), "cudaGraphUpload");
}

launch_graph::launch_graph(launch_graph&& other) noexcept { *this = std::move(other); }

launch_graph& launch_graph::operator=(launch_graph&& other) noexcept {
  std::swap(executable_, other.executable_);
  return *this;
}

launch_graph::~launch_graph() {
  if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
}

void launch_graph::launch(cudaStream_t stream) const {
  check(cudaGraphLaunch(executable_, stream), "cudaGraphLaunch");
}

graph_contender::graph_contender(stopwatch& watch, int sets, enqueue const& launch, double batch_s)
    : watch_(watch) {
  launch(0, watch_.stream());  // outside of a capture: loads modules, sets attributes
  watch_.wait();
  auto const build = [&](int launches) {
    graph_ = launch_graph(watch_.stream(), [&](cudaStream_t stream) {
      for (int i = 0; i < launches; ++i) launch(i % sets, stream);
    });
    launches_ = launches;
    watch_.wait();
    batch_s_ = INFINITY;
    for (int i = 0; i < 3; ++i) batch_s_ = std::min(batch_s_, burst().us * launches_ * 1e-6);
  };
  build(sets);
  int const rotations =
      static_cast<int>(std::min(std::ceil(batch_s / batch_s_), 1.0 * max_launches));
  int const wanted = std::clamp(rotations, 1, std::max(max_launches / sets, 1)) * sets;
  if (wanted > launches_) build(wanted);
}

void graph_contender::run() {
  graph_.launch(watch_.stream());
  watch_.wait();
}

sample graph_contender::burst() {
  double queueing_s = 0;
  sample const s = watch_.from_idle(hold_s_, [&](cudaStream_t stream) {
    auto const start = std::chrono::steady_clock::now();
    graph_.launch(stream);
    queueing_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  hold_s_ = std::clamp(2 * queueing_s + 3e-4, hold_s_, 1e-2);
  return per_launch(s, 1);
}

sample graph_contender::sustained(double warm_up_s, double timed_s) {
  auto const batches = [&](double seconds) {
    return std::max(1, static_cast<int>(std::ceil(seconds / batch_s_)));
  };
  auto const repeat = [&](int count) {
    return [this, count](cudaStream_t stream) {
      for (int i = 0; i < count; ++i) graph_.launch(stream);
    };
  };
  sample const s =
      watch_.behind(repeat(batches(warm_up_s)), repeat(batches(timed_s)), warm_up_s + timed_s);
  return per_launch(s, batches(timed_s));
}

sample graph_contender::per_launch(sample s, int batches) const {
  s.launches = launches_ * batches;
  s.us /= s.launches;
  return s;
}

}  // namespace tw::bench
