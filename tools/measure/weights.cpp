// SPDX-License-Identifier: Apache-2.0
// weights.cpp  One random matrix.
#include "tools/measure/weights.hpp"

#include <random>

#include "tilewright/kernel/weights/weights.hpp"
#include "tools/check/random_weights.hpp"

namespace tw::bench {

namespace {

bench_weights random_matrix(weights_desc const& w, elem decoded, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  weights_desc one = w;
  one.matrices = 1;
  std::vector<std::byte> const prepared = random_weights(one, random);
  bench_weights made{one,
                     decoded,
                     seed,
                     {},
                     {prepared.begin() + weights_header_bytes, prepared.end()},
                     std::vector<std::uint16_t>(static_cast<std::size_t>(w.n * w.k))};
  decode_weights(one, made.blocks.data(), 0, decoded, made.decoded.data());
  return made;
}

}  // namespace

bench_weights const& random_bench_weights(weights_desc const& w, elem decoded, std::uint64_t seed) {
  static bench_weights last;
  weights_desc one = w;
  one.matrices = 1;
  if (!(last.matrix == one && last.type == decoded && last.seed == seed))
    last = random_matrix(w, decoded, seed);
  last.header.assign(weights_header_bytes, {});
  write_weights_header(w, last.header.data());
  return last;
}

}  // namespace tw::bench
