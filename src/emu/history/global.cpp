// SPDX-License-Identifier: Apache-2.0
// global.cpp  Cells of global memory and knowledge between clusters.
#include "emu/history/global.hpp"

#include <algorithm>

namespace tw::emu::hazard {

stamp knowledge::happened(int cluster, component c) const {
  auto const it = of_cluster_.find(cluster);
  return it != of_cluster_.end() && c < it->second->size() ? (*it->second)[c] : 0;
}

bool knowledge::covers(int cluster, component c, stamp when) const {
  return happened(cluster, c) >= when;
}

void knowledge::join(by_cluster& to, int cluster, stamps const& s) {
  stamps& mine = to[cluster];
  if (mine == s || !s) return;
  if (!mine) {
    mine = s;
    return;
  }
  auto both = std::make_shared<std::vector<stamp>>(*mine);
  if (both->size() < s->size()) both->resize(s->size());
  for (std::size_t i = 0; i < s->size(); ++i) (*both)[i] = std::max((*both)[i], (*s)[i]);
  mine = std::move(both);
}

void knowledge::join(knowledge const& o) {
  for (auto const& [cluster, s] : o.of_cluster_) join(cluster, s);
  for (auto const& [cluster, s] : o.fenced_) join_fenced(cluster, s);
}

knowledge::stamps knowledge::of(by_cluster const& from, int cluster) {
  auto const it = from.find(cluster);
  return it == from.end() ? nullptr : it->second;
}

std::uint32_t global_memory::add_face(global_face const& f) {
  faces_.push_back(f);
  return static_cast<std::uint32_t>(faces_.size() - 1);
}

bool global_memory::fence_between(std::uint32_t id, stamp when, stamp known) const {
  auto const it = fences_.find(id);
  if (it == fences_.end()) return false;
  auto const fence = std::lower_bound(it->second.begin(), it->second.end(), when);
  return fence != it->second.end() && *fence < known;
}

bool global_memory::chain_waits_since(std::uint32_t id) const {
  for (std::size_t i = launches_.size() - 1; i-- > 0 && launches_[i].first_face > id;)
    if (!launches_[i].waited) return false;
  return true;
}

void global_memory::next_launch() {
  first_face_ = static_cast<std::uint32_t>(faces_.size());
  launches_.push_back({first_face_, false});
  words_.clear();
  for (tensor& t : tensors_) lay_out(t);
  tensors_.clear();
}

std::uint32_t global_memory::block_at(std::uintptr_t address) {
  std::uintptr_t const page = address / block_bytes;
  if (page == last_page_) return last_block_;
  auto const [it, fresh] = blocks_.try_emplace(page, 0);
  if (fresh) it->second = shadow_.add_block();
  last_page_ = page;
  return last_block_ = it->second;
}

void global_memory::forget(std::uintptr_t address, std::size_t bytes) {
  std::size_t const whole = (bytes + cell_bytes - 1) / cell_bytes * cell_bytes;
  each_cells(address, whole, [&](touched at) { shadow_.forget(at); });
  std::erase_if(words_, [&](auto const& w) { return w.first - address < bytes; });
}

void global_memory::lay_out(tensor& t) {
  t.written = true;
  for (box const& b : t.loads)
    each_global_row(t.map, b.at, [&](std::uintptr_t address, std::size_t bytes) {
      each_cells(address, bytes, [&](touched at) { shadow_.note(at, b.what); });
    });
  t.loads.clear();
}

bool global_memory::remember_load(tensor_map_desc const& d, int const* at, record const& r) {
  auto it = std::ranges::find_if(tensors_, [&](tensor const& t) {
    return t.map.base == d.base && t.map.type == d.type && t.map.rank == d.rank &&
           std::equal(d.box, d.box + 5, t.map.box) && std::equal(d.dim, d.dim + 5, t.map.dim) &&
           std::equal(d.stride_bytes, d.stride_bytes + 4, t.map.stride_bytes);
  });
  if (it == tensors_.end()) {
    std::int64_t last = d.row_bytes(d.dim[0]);
    for (int i = 1; i < d.rank; ++i) last += (d.dim[i] - 1) * d.stride_bytes[i - 1];
    auto const begin = reinterpret_cast<std::uintptr_t>(d.base);
    tensors_.push_back({d, begin, begin + static_cast<std::uintptr_t>(last), false, {}});
    it = tensors_.end() - 1;
    for (auto const& [page, block] : blocks_)
      it->written =
          it->written || (page * block_bytes < it->end && (page + 1) * block_bytes > it->begin);
  }
  if (it->written) return true;
  box b{};
  std::copy_n(at, 5, b.at);
  b.what = r;
  it->loads.push_back(b);
  return false;
}

void global_memory::before_write(std::uintptr_t address, std::size_t bytes) {
  for (tensor& t : tensors_)
    if (!t.written && address < t.end && address + bytes > t.begin) lay_out(t);
}

}  // namespace tw::emu::hazard
