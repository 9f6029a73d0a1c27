// SPDX-License-Identifier: Apache-2.0
// rank_options.cpp  Words to a rank_request.
#include "tools/request/rank_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tools/io/refuse.hpp"
#include "tools/request/words.hpp"

namespace tw {
namespace {

template <class Names>
std::vector<std::string> word_list(Names const& names) {
  return {std::begin(names), std::end(names)};
}

template <class Names>
int index_of(Names const& names, std::string const& word) {
  return static_cast<int>(std::find(std::begin(names), std::end(names), word) - std::begin(names));
}

void add_operation(CLI::App& verb, CLI::Option* ranks, rank_request& r, char const* help) {
  verb.add_option_function<std::string>(
          "--op",
          [&r](std::string const& word) {
            r.op = static_cast<dist::operation>(index_of(dist::operation_names, word));
          },
          help)
      ->needs(ranks)
      ->transform(one_of(word_list(dist::operation_names)));
}

}  // namespace

void add_rank_options(CLI::App& verb, rank_request& r) {
  CLI::Option* const ranks =
      verb.add_option(
              "--ranks", r.ranks,
              "divide the GEMM over this number of ranks, threads of this process in the emulator "
              "(docs/several-gpus.md)")
          ->check(CLI::Range(1, dist::max_ranks));
  verb.add_option_function<std::string>(
          "--split", [&r](std::string const& word) { r.split_k = word == "k"; },
          "rows (default): each rank has rows of A and columns of B, and gathers A; k: each rank "
          "has a part of K, and partial results are added")
      ->needs(ranks)
      ->transform(one_of({"rows", "k"}));
  add_operation(verb, ranks, r,
                "all-gather of --split rows; reduce-scatter (default) or all-reduce of --split k");
  verb.add_option_function<std::string>(
          "--path",
          [&r](std::string const& word) {
            r.via = static_cast<dist::path>(index_of(dist::path_names, word));
          },
          "serial: one GEMM before or after the exchange; two-pieces; pieces (default): a GEMM of "
          "each shard")
      ->needs(ranks)
      ->transform(one_of(word_list(dist::path_names)));
  verb.add_option_function<std::string>(
          "--partials", [&r](std::string const& word) { r.partials_of_d = word == "d"; },
          "type of partial results of --split k: f32 (default), or d, the type of D, in half of "
          "the "
          "bytes where D has 16 bits")
      ->needs(ranks)
      ->transform(one_of({"f32", "d"}));
}

void add_rank_plan_options(CLI::App& verb, rank_request& r) {
  CLI::Option* const ranks =
      verb.add_option("--ranks", r.ranks,
                      "SIZE is the GEMM of one GPU of this number: its N of an all-gather, else "
                      "its K (docs/several-gpus.md)")
          ->check(CLI::Range(1, 4096));
  add_operation(verb, ranks, r,
                "all-gather (default): A is gathered before the GEMM; reduce-scatter, all-reduce: "
                "partial results are added after it");
  verb.add_option("--hosts", r.hosts, "hosts, each with an equal number of the GPUs (default: 1)")
      ->needs(ranks)
      ->check(CLI::Range(1, 4096));
  CLI::Option* const no_p2p =
      verb.add_flag("--no-p2p", r.no_p2p,
                    "the GPUs do not write each other's memory (`nvidia-smi topo -p2p r`)")
          ->needs(ranks);
  verb.add_option("--timeline", r.timeline,
                  "SVG file: a call on each path in time, as predicted, a row for each rank")
      ->needs(ranks)
      ->excludes(no_p2p);
}

void check_rank_options(rank_request const& r) {
  if (!r.any() || splits_k(r.operation()) == r.split_k) return;
  refuse("TW0615", "command line",
         fmt::format("--op {} with --split {}", name(r.operation()), r.split_k ? "k" : "rows"),
         r.split_k ? "--op reduce-scatter or all-reduce" : "--op all-gather, or --split k", "");
}

}  // namespace tw
