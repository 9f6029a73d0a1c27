// SPDX-License-Identifier: Apache-2.0
// group.cpp  tw_group_*(): GEMMs over the ranks of a group.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "capi/arguments.hpp"
#include "capi/errors.hpp"
#include "dispatch/launch/on_device.hpp"
#include "dist/membership.hpp"
#include "tilewright/dist/explain.hpp"
#include "tools/report/group_report.hpp"
#include "tools/report/json_output.hpp"

struct tw_group {
  tw::dist::group ranks;
  int device;  // -1: host memory
};

namespace tw::capi {
namespace {

using dist::operation;
using dist::shards;

dist::group_options options_of(tw_group_options const* given) {
  tw_group_options const o = own_copy("tw_group_options", given);
  dist::group_options options;
  if (o.gathered_bytes != 0) options.gathered_bytes = o.gathered_bytes;
  if (o.timeout_s != 0) options.timeout_s = o.timeout_s;
  options.epoch = o.epoch;
  return options;
}

/// The index of a word among the words of an enumeration. Throws `rejected` TW0486.
template <std::size_t N>
int index_of(char const* what, char const* word, char const* const (&words)[N]) {
  std::string list;
  for (std::size_t i = 0; i < N; ++i) {
    if (word != nullptr && std::string_view(word) == words[i]) return static_cast<int>(i);
    list += (i == 0 ? "" : ", ") + std::string(words[i]);
  }
  throw rejected({"TW0486", what, word == nullptr ? "NULL" : word, list, ""});
}

/// A call of a rank: its problem with the extents of dist/gemm.hpp.
struct rank_gemm {
  operation op;
  dist::call_options how;
  tensor_gemm gemm;
};

/// A tensor with another number of rows. The leading dimension of fewer than two rows is not in
/// their strides: they are taken as dense.
class with_rows {
 public:
  with_rows(tensor_argument const* t, std::int64_t rows) {
    if (t == nullptr || t->rank != 2) return;
    copy_ = *t;
    shape_[0] = rows, shape_[1] = t->shape[1];
    copy_.shape = shape_;
    if (t->shape[0] < 2) copy_.strides = nullptr;
    changed_ = true;
  }
  with_rows(with_rows const&) = delete;
  with_rows& operator=(with_rows const&) = delete;
  void put(tensor_argument const*& into) const {
    if (changed_) into = &copy_;
  }

 private:
  tensor_argument copy_;
  std::int64_t shape_[2] = {};
  bool changed_ = false;
};

std::int64_t rows_of(tensor_argument const* t, char const* name) {
  if (t == nullptr || t->rank != 2)
    throw rejected({"TW0904", fmt::format("{} of a GEMM over several ranks", name),
                    t == nullptr ? "NULL" : fmt::format("{} dimensions", t->rank),
                    "a matrix of 2 dimensions", ""});
  return t->shape[0];
}

/// Callers of the first version end before `others`.
tw_group_call own_copy_of(tw_group_call const* given) {
  return own_copy("tw_group_call", given, offsetof(tw_group_call, others));
}

/// A GEMM over ranks, from the call's tensors. The reader of tensors expects that A and D have
/// equal rows, as in a GEMM of one device. So D, C, aux and a bias along rows are read with the
/// rows of A. In an all-gather whose rank has fewer than two rows all are read with the rows of D.
rank_gemm read(tw_group_call const& c, int ranks, int rank, gemm_call const& call) {
  rank_gemm r{
      static_cast<operation>(index_of("operation", c.operation, dist::operation_names)), {}, {}};
  if (c.path != nullptr)
    r.how.via = static_cast<dist::path>(index_of("path", c.path, dist::path_names));
  r.how.float32_partials = c.float32_partials != 0;
  gemm_arguments g = call.arguments();
  bool const gathers = r.op == operation::all_gather_gemm;
  std::int64_t const m = rows_of(gathers ? g.d : g.a, gathers ? "d" : "a");
  r.how.rows = c.rows == nullptr ? shards::even(m, ranks)
                                 : shards(std::vector<std::int64_t>(c.rows, c.rows + ranks));
  std::int64_t const own = r.how.rows->of(rank).size;
  std::int64_t const rows_of_a = rows_of(g.a, "a"), rows_of_d = rows_of(g.d, "d");
  std::int64_t const want_a = gathers ? own : m;
  std::int64_t const want_d = r.op == operation::gemm_reduce_scatter ? own : m;
  if (rows_of_a != want_a || rows_of_d != want_d)
    throw rejected({"TW0903", fmt::format("rows of a and d on rank {}", rank),
                    fmt::format("{} and {}", rows_of_a, rows_of_d),
                    fmt::format("{} and {}", want_a, want_d),
                    "tw_group_call.rows; NULL: rows are divided as evenly as possible"});
  bool const from_a = gathers && own < 2;  // D of no rows cannot be read
  std::int64_t const rows = gathers && !from_a ? own : m;
  with_rows const a(g.a, rows), d(g.d, rows), c_of(g.c, rows), aux(g.aux, rows);
  with_rows const bias(
      g.bias != nullptr && g.bias->rank == 2 && g.bias->shape[1] == 1 ? g.bias : nullptr, rows);
  a.put(g.a), d.put(g.d), c_of.put(g.c), aux.put(g.aux), bias.put(g.bias);
  r.gemm = gemm_of_tensors(g);
  r.gemm.problem.m = m;
  return r;
}

void run(rank_gemm const& r, dist::group const& g, gemm_operands const& o,
         std::vector<tensor_gemm> const& others) {
  if (!others.empty()) {
    std::vector<dist::gemm_call> calls{{r.gemm.problem, o}};
    for (tensor_gemm const& x : others) {
      gemm_operands of = x.operands;
      of.workspace = o.workspace, of.workspace_bytes = o.workspace_bytes;
      calls.push_back({x.problem, of});
    }
    return all_gather_gemm(g, calls, r.how);
  }
  switch (r.op) {
    case operation::all_gather_gemm: return all_gather_gemm(g, r.gemm.problem, o, r.how);
    case operation::gemm_reduce_scatter: return gemm_reduce_scatter(g, r.gemm.problem, o, r.how);
    case operation::gemm_all_reduce: break;
  }
  gemm_all_reduce(g, r.gemm.problem, o, r.how);
}

/// Throws TW0484 for tensors on a GPU in a group of host memory, and the other way round.
void check_place(tw_group const& group, rank_gemm const& r) {
  bool const on_gpu = group.device >= 0;
  if (r.gemm.place.is_host() == on_gpu)
    throw rejected({"TW0484", "tensors of a group", on_gpu ? "in host memory" : "on a GPU",
                    on_gpu ? "on the GPU of the group" : "in host memory", ""});
}

/// Options of ranks in host memory.
void set_emulator(rank_gemm& r, tw_gemm_args const& args) {
  r.how.emulator = emulator_options(args, r.gemm.problem);
  if (args.device != nullptr) r.how.device = device_of_word(args.device).id;
}

dist::group_plan explained(tw_group const& group, tw_group_call const* given,
                           tw_gemm_args const* given_args) {
  gemm_call const call(given_args);
  dist::group const& g = group.ranks;
  tw_group_call const c = own_copy_of(given);
  if (c.others_count != 0)
    throw rejected({"TW0904", "tw_group_call.others", fmt::format("{}", c.others_count),
                    "0: an explanation is of one GEMM", ""});
  rank_gemm r = read(c, g.ranks(), g.rank(), call);
  check_place(group, r);
  if (group.device < 0) set_emulator(r, call.args());
  return explain(g, r.op, r.gemm.problem, r.gemm.operands, r.how);
}

void compute(tw_group& group, tw_group_call const* given, tw_gemm_args const* given_args) {
  gemm_call const call(given_args);
  tw_gemm_args const& args = call.args();
  dist::group const& g = group.ranks;
  tw_group_call const c = own_copy_of(given);
  rank_gemm r = read(c, g.ranks(), g.rank(), call);
  std::vector<std::unique_ptr<gemm_call>> other_calls;  // the problems refer to their tensors
  std::vector<tensor_gemm> others;
  if (c.others_count != 0 && r.op != operation::all_gather_gemm)
    throw rejected({"TW0904", "tw_group_call.others", c.operation, "all-gather", ""});
  for (std::int64_t i = 0; i < c.others_count; ++i) {
    check_given("tw_group_call.others", c.others);
    other_calls.push_back(std::make_unique<gemm_call>(c.others[i]));
    others.push_back(read(c, g.ranks(), g.rank(), *other_calls.back()).gemm);
    if (others.back().place.is_host() != r.gemm.place.is_host())
      throw rejected({"TW0484", "tensors of a group", "some in host memory, some on a GPU",
                      "all in one place", ""});
  }
  check_place(group, r);
  gemm_operands o = r.gemm.operands;
  if (group.device >= 0) {
    on_device const here(group.device);
    o.workspace = args.workspace;
    o.workspace_bytes = args.workspace == nullptr ? 0 : args.workspace_bytes;
    r.how.stream = static_cast<cudaStream_t>(args.stream);
    run(r, g, o, others);
    return;
  }
  set_emulator(r, args);
  run(r, g, o, others);
}

int device_of(dist::group const& g) { return g.state().device(); }

}  // namespace
}  // namespace tw::capi

extern "C" {

tw_status tw_group_from_nccl(void* comm, tw_group_options const* options, char const* library,
                             tw_group** group) {
  return tw::capi::guarded([&] {
    tw::capi::check_given("group", group);
    *group = nullptr;
    tw::capi::check_given("comm", comm);
    auto made =
        tw::dist::group::from_nccl(static_cast<ncclComm_t>(comm), tw::capi::options_of(options),
                                   std::string(tw::capi::word(library)));
    int const device = tw::capi::device_of(made);
    *group = new tw_group{std::move(made), device};
  });
}

tw_status tw_group_from_addresses(int32_t rank, int32_t ranks, void* const* arenas, int32_t on_gpu,
                                  tw_group_options const* options, tw_group** group) {
  return tw::capi::guarded([&] {
    tw::capi::check_given("group", group);
    *group = nullptr;
    tw::capi::check_given("arenas", arenas);
    std::vector<void*> const list(arenas, arenas + std::clamp(ranks, 0, tw::dist::max_ranks + 1));
    auto const o = tw::capi::options_of(options);
    auto made = on_gpu != 0 ? tw::dist::group::from_gpu_addresses(rank, list, o)
                            : tw::dist::group::from_addresses(rank, list, o);
    int const device = tw::capi::device_of(made);
    *group = new tw_group{std::move(made), device};
  });
}

tw_status tw_group_arena_bytes(tw_group_options const* options, int32_t on_gpu, int64_t* bytes) {
  return tw::capi::guarded([&] {
    tw::capi::check_given("bytes", bytes);
    auto const o = tw::capi::options_of(options);
    *bytes = on_gpu != 0 ? tw::dist::group::gpu_arena_bytes(o) : tw::dist::group::arena_bytes(o);
  });
}

tw_status tw_group_gemm(tw_group* group, tw_group_call const* call, tw_gemm_args const* args) {
  return tw::capi::guarded([&] {
    tw::capi::check_given("group", group);
    tw::capi::compute(*group, call, args);
  });
}

tw_status tw_group_gathered_bytes(int32_t ranks, int32_t rank, tw_group_call const* call,
                                  tw_gemm_args const* args, int64_t* bytes) {
  return tw::capi::guarded([&] {
    tw::capi::check_given("bytes", bytes);
    if (ranks < 1 || ranks > tw::dist::max_ranks || rank < 0 || rank >= ranks)
      throw tw::rejected({"TW0903", "rank", fmt::format("{} of {}", rank, ranks),
                          fmt::format("a rank of 1 to {}", tw::dist::max_ranks), ""});
    tw::capi::gemm_call const given(args);
    tw::capi::rank_gemm const r = tw::capi::read(tw::capi::own_copy_of(call), ranks, rank, given);
    *bytes = tw::dist::gathered_bytes(r.op, r.gemm.problem, *r.how.rows, r.how.float32_partials,
                                      r.how.via);
  });
}

tw_status tw_group_explain(tw_group* group, tw_group_call const* call, tw_gemm_args const* args,
                           char** text, char** json) {
  return tw::capi::guarded([&] {
    for (char** const to : {text, json})
      if (to != nullptr) *to = nullptr;
    tw::capi::check_given("group", group);
    tw::dist::group_plan const plan = tw::capi::explained(*group, call, args);
    if (json != nullptr) {
      nlohmann::ordered_json record{{"schema", "tilewright.group_plan/1"}};
      record.update(tw::group_plan_json(plan));
      *json = tw::capi::text_for_caller(tw::json_text(record));
    }
    if (text != nullptr) *text = tw::capi::text_for_caller(to_text(plan));
  });
}

tw_status tw_group_check(tw_group const* group) {
  return tw::capi::guarded([&] {
    tw::capi::check_given("group", group);
    group->ranks.check();
  });
}

tw_status tw_group_abort(tw_group const* group) {
  return tw::capi::guarded([&] {
    tw::capi::check_given("group", group);
    group->ranks.abort();
  });
}

void tw_group_free(tw_group* group) { delete group; }

}  // extern "C"
