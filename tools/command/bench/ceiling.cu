// SPDX-License-Identifier: Apache-2.0
// ceiling.cu  Peak rates of the GPU: wgmma and mma.sync without loads, and reads of its memory.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "tilewright/arch/select.hpp"
#include "tilewright/arch/types.hpp"
#include "tilewright/base/hd.hpp"
#include "tools/command/bench/lab.hpp"
#include "tools/command/bench/memory.hpp"
#include "tools/command/bench/mma_sync_loop.hpp"
#include "tools/measure/gpu/buffer.hpp"
#include "tools/measure/gpu/data.hpp"
#include "tools/measure/gpu/device.hpp"
#include "tools/measure/gpu/graph_contender.hpp"

namespace tw::bench {

/// Two consumer warpgroups on operands that stay in shared memory, in the rhythm of the GEMM: four
/// m64n256k16 a group, one group in flight, four stages in turn, a new sum every 8192 of K.
struct wgmma_loop {
  struct params {
    uint4 const* data;  // sizeof(smem) bytes
    int k_blocks;       // of 64
    float* sink;        // null: the sums are not stored
  };
  static constexpr int stages = 4, k_block = 64, rows = 64, columns = 256, sum_k_blocks = 128;
  struct smem {
    alignas(1024) std::uint16_t a[stages][2][rows * k_block];
    alignas(1024) std::uint16_t b[stages][columns * k_block];
  };
  static constexpr int threads = 256, cluster = 1, smem_bytes = sizeof(smem);
  static constexpr double flop_per_k_block = 2.0 * 2 * rows * columns * k_block;  // of a CTA

  TW_DEVICE static void run(params const& p) {
    auto& s = dynamic_smem<smem>();
    auto* const words = reinterpret_cast<uint4*>(&s);
    for (int i = thread_id(); i < smem_bytes / 16; i += threads) words[i] = p.data[i];
    fence_proxy_async();
    cta_sync();

    int const group = warpgroup_id();
    accumulator<columns> sum;
    for (int block = 0; block < p.k_blocks; ++block) {
      int const stage = block % stages;
      smem_desc const a =
          make_smem_desc(smem_addr(s.a[stage][group]), 16, 1024, swizzle_mode::b128);
      smem_desc const b = make_smem_desc(smem_addr(s.b[stage]), 16, 1024, swizzle_mode::b128);
      bool const fresh = block % sum_k_blocks == 0;
      wgmma_fence(sum);
      TW_UNROLL
      for (int k = 0; k < k_block / 16; ++k)
        wgmma<elem::bf16, operand_major::k, operand_major::k>(sum, a + 32 * k, b + 32 * k,
                                                              !fresh || k > 0);
      wgmma_commit();
      wgmma_wait<1>(sum);
    }
    wgmma_wait<0>(sum);
    if (p.sink == nullptr) return;
    float total = 0;
    TW_UNROLL
    for (int i = 0; i < accumulator<columns>::size; ++i) total += sum[i];
    p.sink[cta_id() * threads + thread_id()] = total;
  }
};

namespace {

constexpr std::size_t read_bytes = std::size_t{8} << 30, cold_bytes = std::size_t{128} << 20;
constexpr int cold_windows = static_cast<int>(read_bytes / cold_bytes);
constexpr int short_k_blocks = 2000;  // about 1.2 ms
constexpr int long_k_blocks = 25000;  // about 15 ms

/// Reads all of `data` once; the sink is written only if an unlikely value comes out.
__global__ void read_all(uint4 const* data, std::int64_t count, unsigned* sink) {
  constexpr int in_flight = 4;
  std::int64_t const step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  unsigned mixed = 0;
  for (; i + (in_flight - 1) * step < count; i += in_flight * step) {
    uint4 words[in_flight];
    TW_UNROLL
    for (int j = 0; j < in_flight; ++j) words[j] = __ldcs(data + i + j * step);
    TW_UNROLL
    for (int j = 0; j < in_flight; ++j) mixed ^= words[j].x ^ words[j].y ^ words[j].z ^ words[j].w;
  }
  for (; i < count; i += step) mixed ^= data[i].x ^ data[i].y ^ data[i].z ^ data[i].w;
  if (mixed == 0x5EED5EEDU) *sink = mixed;
}

/// Programs that are timed together under one protocol, and what each row is called.
class panel {
 public:
  panel(stopwatch& watch, double batch_s) : watch_(watch), batch_s_(batch_s) {}

  void add(std::string const& name, std::string const& data, work const& per_launch, int sets,
           graph_contender::enqueue const& launch) {
    programs_.push_back(std::make_unique<graph_contender>(watch_, sets, launch, batch_s_));
    rows_.push_back({name, data, "", per_launch, {}});
  }

  void bursts(std::string const& mode, protocol_options const& o, ceiling_report& out) {
    append(mode, out, measure_bursts(contenders(), o, [](double seconds) {
             std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
           }));
  }
  void sustained(std::string const& mode, protocol_options const& o, ceiling_report& out) {
    append(mode, out, measure_sustained(contenders(), o));
  }

 private:
  std::vector<contender*> contenders() const {
    std::vector<contender*> list;
    for (auto const& p : programs_) list.push_back(p.get());
    return list;
  }
  void append(std::string const& mode, ceiling_report& out, samples_by_contender const& samples) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      rows_[i].mode = mode;
      rows_[i].samples = samples[i];
      out.rows.push_back(rows_[i]);
    }
  }

  stopwatch& watch_;
  double batch_s_;
  std::vector<std::unique_ptr<graph_contender>> programs_;
  std::vector<ceiling_row> rows_;
};

void add_wgmma(panel& to, device_facts const& facts, uint4 const* data, char const* kind,
               int k_blocks) {
  work const per_launch = {wgmma_loop::flop_per_k_block * facts.sms * k_blocks, 0,
                           facts.sms * 4096.0};
  to.add("wgmma m64n256k16 bf16", kind, per_launch, 1, [=](int, cudaStream_t stream) {
    check(launch<wgmma_loop>(facts.sms, {data, k_blocks, nullptr}, stream), "launch of wgmma_loop");
  });
}

void measure_wgmma(measured_device& device, protocol_options const& o, std::uint64_t seed,
                   ceiling_report& out) {
  struct {
    data_kind kind;
    char const* name;
    device_buffer data;
  } inputs[] = {{data_kind::normal, "normal", {}},
                {data_kind::uniform, "uniform", {}},
                {data_kind::zeros, "zeros", {}}};
  panel single(device.watch(), 0), batches(device.watch(), 0);
  for (auto& input : inputs) {
    input.data = device_buffer(sizeof(wgmma_loop::smem));
    fill(input.data.data(), sizeof(wgmma_loop::smem) / 2, elem::bf16, input.kind, seed,
         device.watch().stream());
    auto const* const words = reinterpret_cast<uint4 const*>(input.data.data());
    add_wgmma(single, device.facts(), words, input.name, short_k_blocks);
    add_wgmma(batches, device.facts(), words, input.name, long_k_blocks);
  }
  protocol_options rested = o;
  rested.burst_pause_s = 0.1;
  single.bursts("burst 1.2 ms", rested, out);
  batches.bursts("burst", o, out);
  batches.sustained("sust", o, out);
}

/// Of wgmma's rate: the last column is the share of it that mma.sync reaches.
template <elem E>
void add_mma_sync(panel& to, device_facts const& facts, device_buffer const& data, int k_steps) {
  using loop = mma_sync_loop<E>;
  int const ctas = loop::ctas_per_sm * facts.sms;
  work const per_launch = {loop::flop_per_k_step * ctas * k_steps, 0, facts.sms * 4096.0};
  auto const* const words = reinterpret_cast<uint4 const*>(data.data());
  to.add(std::string("mma.sync m16n8k16 ") + name(E), "normal", per_launch, 1,
         [=](int, cudaStream_t stream) {
           check(launch<loop>(ctas, {words, k_steps, nullptr}, stream), "launch of mma_sync_loop");
         });
}

void measure_mma_sync(measured_device& device, protocol_options const& o, std::uint64_t seed,
                      ceiling_report& out) {
  panel single(device.watch(), 0), batches(device.watch(), 0);
  constexpr int short_steps = 4800, long_steps = 60000;  // about as long as those of wgmma
  constexpr int bytes = mma_sync_loop<elem::bf16>::operand_bytes;
  device_buffer const bf16_data(bytes), f16_data(bytes);
  fill(bf16_data.data(), bytes / 2, elem::bf16, data_kind::normal, seed, device.watch().stream());
  fill(f16_data.data(), bytes / 2, elem::f16, data_kind::normal, seed, device.watch().stream());
  for (bool const is_short : {true, false}) {
    panel& to = is_short ? single : batches;
    int const steps = is_short ? short_steps : long_steps;
    add_mma_sync<elem::bf16>(to, device.facts(), bf16_data, steps);
    add_mma_sync<elem::f16>(to, device.facts(), f16_data, steps);
  }
  protocol_options rested = o;
  rested.burst_pause_s = 0.1;
  single.bursts("burst 1.2 ms", rested, out);
  batches.bursts("burst", o, out);
  batches.sustained("sust", o, out);
}

void measure_reads(measured_device& device, protocol_options const& o, std::uint64_t seed,
                   ceiling_report& out) {
  device_buffer const memory(read_bytes), sink(sizeof(unsigned));
  fill(memory.data(), static_cast<std::int64_t>(read_bytes / 2), elem::bf16, data_kind::normal,
       seed, device.watch().stream());
  int const blocks = device.facts().sms * 8;
  auto const read = [&memory, &sink, blocks](std::size_t first, std::size_t bytes,
                                             cudaStream_t stream) {
    read_all<<<blocks, 256, 0, stream>>>(reinterpret_cast<uint4 const*>(memory.data() + first),
                                         static_cast<std::int64_t>(bytes / sizeof(uint4)),
                                         reinterpret_cast<unsigned*>(sink.data()));
    check(cudaGetLastError(), "launch of read_all");
  };
  panel reads(device.watch(), 0.015);
  reads.add("DRAM read 8 GiB", "", {0, static_cast<double>(read_bytes), 0}, 1,
            [&read](int, cudaStream_t stream) { read(0, read_bytes, stream); });
  reads.add("DRAM read 128 MiB, cold", "", {0, static_cast<double>(cold_bytes), 0}, cold_windows,
            [&read](int window, cudaStream_t stream) {
              read(static_cast<std::size_t>(window) * cold_bytes, cold_bytes, stream);
            });
  reads.bursts("burst", o, out);
  reads.sustained("sust", o, out);
}

}  // namespace

ceiling_report measure_ceilings(ceiling_options const& options) {
  measured_device device;
  ceiling_report report;
  report.facts = device.facts();
  measure_wgmma(device, options.protocol, options.seed, report);
  measure_mma_sync(device, options.protocol, options.seed, report);
  measure_reads(device, options.protocol, options.seed, report);
  ceiling_row const& reads = *std::ranges::find_if(
      report.rows, [](ceiling_row const& r) { return r.name == "DRAM read 8 GiB"; });
  report.memory = measure_memory(device, options.protocol.burst_rounds,
                                 gb_per_s(reads.per_launch, median_us(reads.samples)));
  return report;
}

}  // namespace tw::bench
