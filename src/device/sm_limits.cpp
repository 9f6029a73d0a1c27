// SPDX-License-Identifier: Apache-2.0
// sm_limits.cpp  The table of compute capabilities, and the words for them.
#include "tilewright/device/sm_limits.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace tw {
namespace {

constexpr std::int64_t kib = 1024;

constexpr sm_limits table[] = {
    // compute capability, warps, CTAs, shared memory of an SM and a CTA, its step, reserved,
    // barriers, cluster
    {75, 32, 16, 64 * kib, 64 * kib, 256, 0, 0, 1},
    {80, 64, 32, 164 * kib, 163 * kib, 128, kib, 0, 1},
    {86, 48, 16, 100 * kib, 99 * kib, 128, kib, 0, 1},
    {87, 48, 16, 164 * kib, 163 * kib, 128, kib, 0, 1},
    {89, 48, 24, 100 * kib, 99 * kib, 128, kib, 0, 1},
    {90, 64, 32, 228 * kib, 227 * kib, 128, kib, 64, 8},
    {100, 64, 32, 228 * kib, 227 * kib, 128, kib, 64, 8},
    {103, 64, 32, 228 * kib, 227 * kib, 128, kib, 64, 8},
    {110, 48, 24, 228 * kib, 227 * kib, 128, kib, 24, 8},
    {120, 48, 24, 100 * kib, 99 * kib, 128, kib, 24, 8},
    {121, 48, 24, 100 * kib, 99 * kib, 128, kib, 24, 8},
};

struct word {
  std::string_view text;
  int compute_capability;
};
/// NVIDIA's list "CUDA GPU Compute Capability".
constexpr word words[] = {{"t4", 75},    {"a100", 80},     {"a30", 80},   {"a10", 86},
                          {"a40", 86},   {"orin", 87},     {"l4", 89},    {"l40s", 89},
                          {"h100", 90},  {"h200", 90},     {"b200", 100}, {"b300", 103},
                          {"thor", 110}, {"rtx5090", 120}, {"spark", 121}};

/// 90 of "sm_90", "sm_90a", "9.0" and "90".
std::optional<int> capability_in(std::string_view text) {
  if (text.starts_with("sm_")) text.remove_prefix(3);
  if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
  std::string digits;
  for (char const c : text)
    if (c != '.') digits += c;
  int value = 0;
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace

std::span<sm_limits const> known_sm_limits() { return table; }

sm_limits const* find_sm_limits(int compute_capability) {
  auto const* const found =
      std::ranges::find(table, compute_capability, &sm_limits::compute_capability);
  return found == std::end(table) ? nullptr : found;
}

sm_limits const* sm_limits_named(std::string_view text) {
  for (word const& w : words)
    if (w.text == text) return find_sm_limits(w.compute_capability);
  auto const capability = capability_in(text);
  return capability ? find_sm_limits(*capability) : nullptr;
}

std::string sm_limits_words() {
  std::string all;
  for (word const& w : words) all += (all.empty() ? "" : ", ") + std::string(w.text);
  return all;
}

}  // namespace tw
