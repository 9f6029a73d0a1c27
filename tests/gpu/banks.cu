// SPDX-License-Identifier: Apache-2.0
// banks.cu  Wavefronts of shared-memory accesses on a GPU against the model of layout/banks.hpp.
//
//     gpu_banks           cycles per access, and whether they follow the model: 0 yes, 1 no, 77 no
//                         Hopper GPU
//     gpu_banks counted   one launch for each access, and a JSON line that says what the model
//                         expects of it: run under ncu, which counts (gen/measured/banks.py)
//     gpu_banks cycles    the JSON lines with measured cycles
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/arch/kernels/machine.hpp"
#include "tests/atom/bank_cases.hpp"
#include "tests/gpu/banks_kernels.hpp"
#include "tilewright/arch/tensor_map.hpp"

namespace tw::test {
namespace {

using json = nlohmann::ordered_json;
using namespace tw_test;

void must(cudaError_t e) {
  if (e != cudaSuccess) throw std::runtime_error(cudaGetErrorName(e));
}

/// Memory and options of the whole program.
struct card {
  std::int64_t* clocks = nullptr;
  warp_addresses* rows = nullptr;
  std::uint32_t* sink = nullptr;
  void* tensor = nullptr;
  bool cycles = false;  // measure time instead of launching once
  int wrong = 0;
  bool print = true;

  static constexpr int most_steps = 64, tensor_bytes = 1 << 20;
  card() {
    must(cudaMalloc(&clocks, 8));
    must(cudaMalloc(&sink, 8));
    must(cudaMalloc(&rows, most_steps * sizeof(warp_addresses)));
    must(cudaMalloc(&tensor, tensor_bytes));
    must(cudaMemset(tensor, 0, tensor_bytes));
  }

  /// The least of three runs.
  template <class Launch>
  double cycles_of(Launch const& launch) {
    std::int64_t least = 0;
    for (int i = 0; i < 3; ++i) {
      launch();
      std::int64_t c = 0;
      must(cudaMemcpy(&c, clocks, 8, cudaMemcpyDeviceToHost));
      if (i == 0 || c < least) least = c;
    }
    return static_cast<double>(least);
  }
};

template <class Kernel>
Kernel with_smem(Kernel kernel, int bytes) {
  must(cudaFuncSetAttribute(reinterpret_cast<void const*>(kernel),
                            cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  return kernel;
}

/// The row of a case, with cycles per access if requested.
template <instruction I, int Bits>
void run_as(card& c, json& line, std::vector<warp_addresses> const& rows) {
  must(cudaMemcpy(c.rows, rows.data(), rows.size() * sizeof(rows[0]), cudaMemcpyHostToDevice));
  if (!c.cycles) {
    with_smem(&counted<I, Bits>, banks_smem_bytes)<<<1, 32, banks_smem_bytes>>>(
        c.rows, static_cast<int>(rows.size()), c.sink);
    must(cudaDeviceSynchronize());
    return;
  }
  auto* const kernel = with_smem(&timed<I, Bits>, banks_smem_bytes);
  double const cycles = c.cycles_of(
      [&] { kernel<<<1, 32 * timed_warps, banks_smem_bytes>>>(c.rows, 0, c.sink, c.clocks); });
  line["cycles"] = std::round(cycles / timed_accesses / timed_warps * 1000) / 1000;
}

template <instruction I>
void run_matrices(card& c, json& line, access_kind k, std::vector<warp_addresses> const& rows) {
  if (k.matrices == 1) return run_as<I, 1>(c, line, rows);
  if (k.matrices == 2) return run_as<I, 2>(c, line, rows);
  return run_as<I, 4>(c, line, rows);
}

void run_access(card& c, json& line, access_kind k, std::vector<warp_access> const& accesses) {
  std::vector<warp_addresses> rows;
  for (warp_access const& a : accesses) {
    warp_addresses row{};
    // Lanes that name no row give the address of one that does.
    for (int t = 0; t < 32; ++t) {
      int const from = k.plain() ? t : t % k.threads();
      row.at[t] = static_cast<std::uint32_t>(a.address[from]) % banks_smem_bytes;
    }
    row.active = k.plain() ? a.active : ~0U;
    rows.push_back(row);
  }
  using enum instruction;
  if (k.op == smem_op::ld && k.bits == 8) return run_as<ld, 8>(c, line, rows);
  if (k.op == smem_op::ld && k.bits == 16) return run_as<ld, 16>(c, line, rows);
  if (k.op == smem_op::ld && k.bits == 32) return run_as<ld, 32>(c, line, rows);
  if (k.op == smem_op::ld && k.bits == 64) return run_as<ld, 64>(c, line, rows);
  if (k.op == smem_op::ld) return run_as<ld, 128>(c, line, rows);
  if (k.op == smem_op::st && k.bits == 8) return run_as<st, 8>(c, line, rows);
  if (k.op == smem_op::st && k.bits == 16) return run_as<st, 16>(c, line, rows);
  if (k.op == smem_op::st && k.bits == 32) return run_as<st, 32>(c, line, rows);
  if (k.op == smem_op::st && k.bits == 64) return run_as<st, 64>(c, line, rows);
  if (k.op == smem_op::st) return run_as<st, 128>(c, line, rows);
  bool const load = k.op == smem_op::ldmatrix;
  if (k.transposed && load) return run_matrices<ldmatrix_trans>(c, line, k, rows);
  if (k.transposed) return run_matrices<stmatrix_trans>(c, line, k, rows);
  if (load) return run_matrices<ldmatrix>(c, line, k, rows);
  return run_matrices<stmatrix>(c, line, k, rows);
}

/// Cycles per access are the wavefronts of the access that was timed, within an eighth and the
/// cost of issuing it.
void judge(card& c, json const& line, int expected) {
  if (!c.cycles) return;
  double const cycles = line["cycles"];
  if (cycles > expected * 0.97 - 0.1 && cycles < expected * 1.125 + 0.25) return;
  ++c.wrong;
  std::fprintf(stderr, "FAIL %s: %.3f cycles, %d wavefronts\n", line.dump().c_str(), cycles,
               expected);
}

void say(card const& c, json const& line) {
  if (c.print) std::printf("%s\n", line.dump().c_str());
}

void layouts(card& c) {
  for (bank_case const& b : bank_cases()) {
    bank_totals const model = b.model();
    json line{{"set", "layout"},           {"access", b.access},   {"layout", b.tile},
              {"bits", b.elem_bits},       {"threads", b.threads}, {"steps", model.steps},
              {"model", model.wavefronts}, {"ideal", model.ideal}};
    std::vector<warp_access> all;
    for (i64 i = c.cycles ? model.worst : 0; i < model.steps; ++i) {
      all.push_back(access_of(b.kind(), b.layout(), b.elem_bits, b.map(), i));
      if (c.cycles) break;
    }
    run_access(c, line, b.kind(), all);
    int const expected = wavefronts(all[0]);
    if (c.cycles) line["model_of_timed"] = expected;
    judge(c, line, expected);
    say(c, line);
  }
}

void patterns(card& c) {
  for (std::string const& name : pattern_accesses()) {
    access_kind const k = *access_named(name);
    for (int i = 0; i < patterns_of_each; ++i) {
      warp_access const a = bank_pattern(k, i);
      json line{{"set", "pattern"}, {"access", name}, {"pattern", i}, {"model", wavefronts(a)}};
      run_access(c, line, k, {a});
      if (c.cycles && a.active == ~0U) judge(c, line, wavefronts(a));
      say(c, line);
    }
  }
}

/// The layout that operand_tile describes, 64 elements along k.
layout operand_layout(int extent, operand_major major, swizzle_mode mode) {
  int const span = swizzle_span_bytes(mode) / 2;  // elements
  int const bits = mode == swizzle_mode::none ? 0 : span == 64 ? 3 : span == 32 ? 2 : 1;
  layout const tile =
      major == operand_major::k
          ? make_layout(layout(extent, i64{span}),
                        make_layout(layout(span, i64{1}), layout(64 / span, i64{extent} * span)))
          : make_layout(make_layout(layout(span, i64{1}), layout(extent / span, i64{64} * span)),
                        layout(64, i64{span}));
  return swizzled(make_swizzle(bits, 3, 3), tile);
}

template <int N, operand_major Major, swizzle_mode Mode, bool FromRegisters>
void operands(card& c) {
  layout const a = operand_layout(64, Major, Mode), b = operand_layout(N, Major, Mode);
  bank_totals const of_a = count_banks(wgmma_access, a, 16),
                    of_b = count_banks(wgmma_access, b, 16);
  i64 const sum = (FromRegisters ? 0 : of_a.wavefronts) + of_b.wavefronts;
  json line{{"set", "wgmma"},
            {"instruction", text("m64n", N, "k16 bf16, 4 along k")},
            {"a", FromRegisters ? "registers" : print(a).text},
            {"b", print(b).text},
            {"bits", 16},
            {"model", sum},
            {"ideal", (FromRegisters ? 0 : of_a.ideal) + of_b.ideal}};
  int const bytes = 8192 + N * 128;
  auto* const kernel = with_smem(&operand_reads<N, Major, Mode, FromRegisters>, bytes);
  auto* const sink = reinterpret_cast<float*>(c.sink);
  if (c.cycles) {
    constexpr int rounds = 256;
    double const cycles = c.cycles_of([&] { kernel<<<1, 128, bytes>>>(rounds, sink, c.clocks); });
    line["cycles"] = std::round(cycles / rounds * 10) / 10;
  } else {
    kernel<<<1, 128, bytes>>>(1, sink, nullptr);
    must(cudaDeviceSynchronize());
  }
  say(c, line);
}

void all_operands(card& c) {
  using enum swizzle_mode;
  constexpr auto k = operand_major::k, mn = operand_major::mn;
  operands<64, k, b128, false>(c);
  operands<64, k, b64, false>(c);
  operands<64, k, b32, false>(c);
  operands<64, k, none, false>(c);
  operands<64, mn, b128, false>(c);
  operands<64, mn, none, false>(c);
  operands<8, k, b128, false>(c);
  operands<256, k, b128, false>(c);
  operands<64, k, b128, true>(c);
}

/// Descriptors that put core matrices apart, over each other, and all at one place: 16 of A and 16
/// of B are read. Counted only.
void descriptors(card& c) {
  struct offsets {
    std::uint32_t leading, stride;
    swizzle_mode mode;
  };
  auto* const kernel = with_smem(&descriptor_reads<64>, descriptor_smem_bytes);
  for (offsets const o : {offsets{128, 256, swizzle_mode::none},
                          {1024, 144, swizzle_mode::none},
                          {128, 1024, swizzle_mode::none},
                          {16, 1024, swizzle_mode::none},
                          {16, 16, swizzle_mode::none},
                          {0, 0, swizzle_mode::none},
                          {16, 144, swizzle_mode::b128},
                          {16, 0, swizzle_mode::b128}}) {
    json const line{{"set", "descriptor"},
                    {"leading_bytes", o.leading},
                    {"stride_bytes", o.stride},
                    {"span_bytes", swizzle_span_bytes(o.mode)},
                    {"model", 32}};
    if (c.cycles) return;
    kernel<<<1, 128, descriptor_smem_bytes>>>(o.leading, o.stride, o.mode,
                                              reinterpret_cast<float*>(c.sink));
    must(cudaDeviceSynchronize());
    say(c, line);
  }
}

/// inner x outer elements of 16 bits.
void box(card& c, int inner, int outer, swizzle_mode mode) {
  tensor_map_desc d;
  d.base = c.tensor;
  d.type = elem::bf16;
  d.dim[0] = inner < 64 ? 64 : inner;
  d.dim[1] = outer;
  d.stride_bytes[0] = d.dim[0] * 2;
  d.box[0] = inner;
  d.box[1] = outer;
  d.swizzle = mode;
  int const span = swizzle_span_bytes(mode) / 2;
  int const bits = mode == swizzle_mode::none ? 0 : span == 64 ? 3 : span == 32 ? 2 : 1;
  layout const tile =
      swizzled(make_swizzle(bits, 3, 3),
               make_layout(layout(outer, i64{bits == 0 ? inner : span}), layout(inner, i64{1})));
  json line{{"set", "tma"},
            {"layout", print(tile).text},
            {"bits", 16},
            {"model_words", d.box_bytes() / 4},
            {"model", count_banks(tma_access, tile, 16).wavefronts},
            {"ideal", d.box_bytes() / wavefront_bytes}};
  box_params p{make_tensor_map(d, target::gpu), d.box_bytes(), 1, nullptr};
  constexpr int bytes = 64 * 1024;
  with_smem(&box_loads<4>, bytes);
  if (c.cycles) {
    p.rounds = 512;
    p.clocks = c.clocks;
    double const cycles = c.cycles_of([&] { box_loads<4><<<1, 32, bytes>>>(p); });
    line["cycles"] = std::round(cycles / p.rounds * 10) / 10;
  } else {
    box_loads<4><<<1, 32, bytes>>>(p);
    must(cudaDeviceSynchronize());
  }
  say(c, line);
}

void boxes(card& c) {
  box(c, 64, 256, swizzle_mode::none);
  box(c, 64, 256, swizzle_mode::b128);
  box(c, 32, 256, swizzle_mode::b64);
  box(c, 16, 256, swizzle_mode::b32);
  box(c, 8, 256, swizzle_mode::none);
  box(c, 8, 256, swizzle_mode::b128);
  box(c, 16, 256, swizzle_mode::b128);
}

int run_program(std::string const& what) {
  cudaDeviceProp prop{};
  if (cudaGetDeviceProperties(&prop, 0) != cudaSuccess || prop.major != 9) {
    std::printf("skipped: no Hopper GPU\n");
    return 77;
  }
  card c;
  c.cycles = what != "counted";
  c.print = !what.empty();
  layouts(c);
  patterns(c);
  all_operands(c);
  boxes(c);
  descriptors(c);
  if (what.empty()) std::printf("%d accesses took other cycles than the model says\n", c.wrong);
  return what.empty() && c.wrong > 0 ? 1 : 0;
}

}  // namespace
}  // namespace tw::test

int main(int argc, char** argv) {
  try {
    return tw::test::run_program(argc > 1 ? argv[1] : "");
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
