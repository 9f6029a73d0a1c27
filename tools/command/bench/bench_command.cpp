// SPDX-License-Identifier: Apache-2.0
// bench_command.cpp  The options of `tilewright bench`.
#include "tools/command/verb_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/pipeline/order.hpp"
#include "tools/command/bench/questions.hpp"
#include "tools/command/guarded.hpp"
#include "tools/request/family_choice.hpp"
#include "tools/request/words.hpp"

namespace tw {
namespace {

/// Values of --order: each order in bands of 1 to 32 cluster tiles.
std::vector<std::string> order_choices() {
  std::vector<std::string> all;
  for (char const* const name : order_names)
    for (int band = 1; band <= 32; band *= 2)
      all.push_back(std::string(name) + ":" + std::to_string(band));
  return all;
}

void add_gemm(CLI::App& bench, int& status) {
  auto const o = std::make_shared<bench::gemm_bench_options>();
  auto* const verb =
      bench.add_subcommand("gemm", "Time products of a shape list against cuBLASLt and DeepGEMM");
  bench::add_shape_options(*verb, o->shapes);
  verb->add_option("--mode", o->mode, "burst, sustained or both")
      ->transform(one_of({"burst", "sustained", "both"}))
      ->capture_default_str();
  verb->add_option("--baseline", o->baselines,
                   "cublaslt (heuristic and tuned), deepgemm (with --deepgemm), both with a comma "
                   "between them, or none")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(one_of({"cublaslt", "deepgemm", "none"}))
      ->default_str("cublaslt");
  verb->add_option("--cublaslt", o->measure.cublaslt, "file name of the cuBLASLt library")
      ->capture_default_str();
  verb->add_option("--deepgemm", o->deepgemm,
                   "checkout of DeepGEMM, or its installed package: its Hopper kernel for scales "
                   "1x128 by 128x128 is compiled by nvcc from there (bench/README.md)");
  verb->add_option("--cutlass", o->cutlass,
                   "checkout of CUTLASS for it (default: its own in third-party/cutlass)");
  verb->add_option("--tune-candidates", o->measure.tune_candidates,
                   "algorithms that the tuning tries")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  add_family_option(*verb, o->measure.family);
  verb->add_option("--plans", o->measure.our_plans,
                   "our plans that are tried; the fastest becomes a separate contender")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_flag(
      "--chain", o->measure.chain,
      "our plan with dependent launches (programmatic dependent launch) and without, whatever it "
      "says itself, become contenders");
  verb->add_flag("--invariant", o->measure.invariant,
                 "our plan of the same GEMM whose rows have the same bits in every shape becomes a "
                 "contender: what invariance costs (docs/invariance.md)");
  verb->add_option("--order", o->measure.orders,
                   "orders of tiles in bands of so many cluster tiles (serpentine:8,hilbert:16): "
                   "our plan in each of them becomes a separate contender")
      ->delimiter(',')
      ->transform(one_of(order_choices()));
  verb->add_option("--rounds", o->rounds, "bursts of each contender (5; 3 with --quick)")
      ->check(CLI::Range(1, 1000));
  verb->add_option("--data", o->data, "normal (mean 0, deviation 1) or uniform (-1 to 1)")
      ->transform(one_of({"normal", "uniform"}))
      ->capture_default_str();
  verb->add_option("--seed", o->measure.seed, "seed of the operands")->capture_default_str();
  verb->add_option("--json", o->json_path, "write every sample and the environment to this file");
  verb->add_option("--csv", o->csv_path, "write a line per shape and mode to this file");
  verb->add_option("--commit", o->commit, "commit to record (default: of git)");
  verb->add_flag("--quick", o->quick, "fewer and shorter rounds: a look, not a result to publish");
  verb->callback([o, &status] {
    status = static_cast<int>(guarded(false, [&] { return bench::run_gemm_bench(*o); }));
  });
}

void add_ceiling(CLI::App& bench, int& status) {
  auto const o = std::make_shared<bench::ceiling_options>();
  auto* const verb = bench.add_subcommand("ceiling", "Measure the peak rates of the GPU");
  verb->add_option("--json", o->json_path, "write every sample and the environment to this file");
  verb->add_option("--commit", o->commit, "commit to record (default: of git)");
  verb->add_option("--seed", o->seed, "seed of the data")->capture_default_str();
  verb->add_flag("--quick", o->quick, "fewer and shorter rounds: a look, not a result to publish");
  verb->callback([o, &status] {
    status = static_cast<int>(guarded(false, [&] { return bench::run_ceiling_bench(*o); }));
  });
}

void add_emulator(CLI::App& bench, int& status) {
  auto const o = std::make_shared<bench::emulator_bench_options>();
  auto* const verb = bench.add_subcommand("emulator", "Measure what checking costs, without a GPU");
  verb->add_option("--size", o->size, "M, N and K of the GEMM, a multiple of 256")
      ->check(CLI::Range(bench::emulator_tile, 16384))
      ->check(CLI::Validator(
          [](std::string& text) {
            bool const whole = std::atoi(text.c_str()) % bench::emulator_tile == 0;
            return whole ? "" : fmt::format("{} is no multiple of {}", text, bench::emulator_tile);
          },
          ""))
      ->capture_default_str();
  verb->add_option("--rounds", o->rounds, "runs of each kind; the fastest counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--json", o->json_path, "write every sample and the environment to this file");
  verb->add_option("--commit", o->commit, "commit to record (default: of git)");
  verb->callback([o, &status] {
    status = static_cast<int>(guarded(false, [&] { return bench::run_emulator_bench(*o); }));
  });
}

void add_dist(CLI::App& bench, int& status) {
  auto const o = std::make_shared<bench::dist_bench_options>();
  auto* const verb = bench.add_subcommand(
      "dist", "Time GEMMs over the GPUs of this machine against NCCL and cuBLASLt");
  verb->add_option("--ranks", o->ranks,
                   "GPUs (default: all, at most 8); 1: the cost of a group of one GPU")
      ->check(CLI::Range(1, 8));
  verb->add_option("--names", o->names, "only these layers")->delimiter(',');
  verb->add_option("--op", o->ops, "only these operations")
      ->delimiter(',')
      ->transform(one_of({std::begin(dist::operation_names), std::end(dist::operation_names)}));
  verb->add_option("--baseline", o->baseline, "cublaslt or none")
      ->transform(one_of({"cublaslt", "none"}))
      ->capture_default_str();
  verb->add_option("--cublaslt", o->cublaslt, "file name of the cuBLASLt library")
      ->capture_default_str();
  verb->add_option("--rounds", o->rounds, "bursts of each method (7; 3 with --quick)")
      ->check(CLI::Range(1, 1000));
  verb->add_option("--json", o->json_path, "write every sample and the environment to this file");
  verb->add_option("--commit", o->commit, "commit to record (default: of git)");
  verb->add_flag("--quick", o->quick, "fewer rounds: a look, not a result to publish");
  verb->callback([o, &status] {
    status = static_cast<int>(guarded(false, [&] { return bench::run_dist_bench(*o); }));
  });
}

void add_host(CLI::App& bench, int& status) {
  auto const o = std::make_shared<bench::host_bench_options>();
  auto* const verb = bench.add_subcommand("host", "Measure what a call costs on the host");
  verb->add_option("--json", o->json_path, "write every sample and the environment to this file");
  verb->add_option("--commit", o->commit, "commit to record (default: of git)");
  verb->callback([o, &status] {
    status = static_cast<int>(guarded(false, [&] { return bench::run_host_bench(*o); }));
  });
}

}  // namespace

void add_bench_command(CLI::App& app, int& status) {
  auto* const bench = app.add_subcommand(
      "bench",
      "Measure GEMMs and the peak rates of the GPU, the emulator, and calls of the library");
  bench->require_subcommand(1);
  add_gemm(*bench, status);
  add_ceiling(*bench, status);
  add_emulator(*bench, status);
  add_dist(*bench, status);
  add_host(*bench, status);
}

}  // namespace tw
