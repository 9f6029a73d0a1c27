// SPDX-License-Identifier: Apache-2.0
// weights.cpp  One random matrix.
#include "tools/measure/weights.hpp"

#include <random>

#include "tilewright/kernel/weights/weights.hpp"
#include "tilewright/problem/signed_nibble.hpp"
#include "tools/check/random_weights.hpp"

namespace tw::bench {

namespace {

/// Weights for e4m3: scales of 1, or the largest of each 128 of K is 2^6.
std::vector<std::byte> weights_of_factor_one(weights_desc one, std::mt19937_64& random) {
  std::vector<std::uint8_t> nibbles(static_cast<std::size_t>(one.n * one.k / 2));
  for (auto& x : nibbles) x = static_cast<std::uint8_t>(random());
  auto const count = static_cast<std::size_t>(one.n * one.groups());
  std::vector<std::uint8_t> bytes(count), zeros(count);
  std::vector<float> const floats(count, 1.0F);
  std::int64_t const each = one.format.group == 0 ? one.k : one.format.group;
  for (std::size_t i = 0; i < count; ++i) {
    auto const first = static_cast<std::int64_t>(i) % one.groups() * each;
    zeros[i] = static_cast<std::uint8_t>(random() % 17);
    bool const largest = first % one.format.block_k() == 0;
    constexpr int bias = 127, largest_exponent = largest_relative_exponent;
    bytes[i] = static_cast<std::uint8_t>(bias + largest_exponent - (largest ? 0 : random() % 15));
    auto const row = static_cast<std::int64_t>(i) / one.groups();
    if (largest) nibbles[static_cast<std::size_t>((row * one.k + first) / 2)] = 0x77;  // not zero
  }
  std::vector<std::byte> prepared(static_cast<std::size_t>(one.bytes()));
  bool const is_int4 = one.format.code == weight_code::int4;
  void const* const scales = is_int4 ? static_cast<void const*>(floats.data()) : bytes.data();
  static_cast<void>(prepare_weights(one, {nibbles.data(), scales, zeros.data(), one.format.scale},
                                    prepared.data()));
  return prepared;
}

/// A weight without its factor: an integer of int4.
e4m3 code_of(weights_desc const& w, std::byte const* blocks, std::int64_t n, std::int64_t k) {
  e4m3 const code = e4m3_weight_at(w, blocks, 0, n, k).code;
  return w.format.is_signed() ? to_e4m3(to_float(code) * signed_factor, saturation::none) : code;
}

bench_weights random_matrix(weights_desc const& w, elem decoded, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  weights_desc one = w;
  one.matrices = 1;
  std::vector<std::byte> const prepared =
      w.format.fp8 ? weights_of_factor_one(one, random) : random_weights(one, random);
  bench_weights made{one,
                     decoded,
                     seed,
                     {},
                     {prepared.begin() + weights_header_bytes, prepared.end()},
                     std::vector<std::byte>(static_cast<std::size_t>(w.n * w.k) *
                                            static_cast<std::size_t>(size_bytes(decoded)))};
  if (!w.format.fp8) {
    decode_weights(one, made.blocks.data(), 0, decoded, made.decoded.data());
    return made;
  }
  for (std::int64_t n = 0; n < w.n; ++n)
    for (std::int64_t k = 0; k < w.k; ++k)
      made.decoded[static_cast<std::size_t>(n * w.k + k)] =
          static_cast<std::byte>(code_of(one, made.blocks.data(), n, k).bits);
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
