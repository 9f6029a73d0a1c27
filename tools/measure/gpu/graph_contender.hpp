// SPDX-License-Identifier: Apache-2.0
// graph_contender.hpp  A contender as a CUDA graph of back-to-back launches over rotated buffers.
#pragma once

#include <cuda_runtime.h>

#include <functional>

#include "tools/measure/gpu/stopwatch.hpp"
#include "tools/measure/protocol.hpp"

namespace tw::bench {

/// A captured and uploaded graph.
class launch_graph {
 public:
  launch_graph() = default;
  launch_graph(cudaStream_t stream, std::function<void(cudaStream_t)> const& record);
  launch_graph(launch_graph&& other) noexcept;
  launch_graph& operator=(launch_graph&& other) noexcept;
  ~launch_graph();
  void launch(cudaStream_t stream) const;

 private:
  cudaGraphExec_t executable_ = nullptr;
};

class graph_contender final : public contender {
 public:
  /// Enqueues one launch on buffer set `set`. Asynchronous; may be captured.
  using enqueue = std::function<void(int set, cudaStream_t stream)>;

  /// Launches once, then builds a graph of whole rotations through the sets that takes `batch_s`.
  graph_contender(stopwatch& watch, int sets, enqueue const& launch, double batch_s);

  /// One batch, untimed; returns when it is done.
  void run();
  sample burst() override;
  sample sustained(double warm_up_s, double timed_s) override;

 private:
  sample per_launch(sample s, int batches) const;

  stopwatch& watch_;
  launch_graph graph_;
  int launches_ = 0;      // in the graph
  double batch_s_ = 0;    // as measured
  double hold_s_ = 1e-3;  // longer than the host needs to queue a batch
};

}  // namespace tw::bench
