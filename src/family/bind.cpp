// SPDX-License-Identifier: Apache-2.0
// bind.cpp  The form as run, and copies of operands that TMA cannot address.
#include "family/bind.hpp"

#include "family/normal_form.hpp"
#include "family/workspace.hpp"

namespace tw {

namespace {

std::int64_t round_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b * b; }

}  // namespace

padded padded_copy(matrix_desc const& m, extents e, std::int64_t batch) {
  std::int64_t const lines = round_up(e.inner, 128 / size_bytes(m.type));
  std::int64_t const pitch =
      lines - e.inner <= e.inner / 20 ? lines : round_up(e.inner, 16 / size_bytes(m.type));
  bool const one = batch == 1 || m.batch_stride_elems == 0;
  std::int64_t const matrices = one ? 1 : batch;
  return {pitch, one ? 0 : pitch * e.outer, matrices,
          matrices * pitch * e.outer * size_bytes(m.type)};
}

launch_form form_of(gemm_plan const& plan, gemm_operands const& given) {
  check_operands(plan.problem, given);
  check_workspace(plan, given);
  launch_form f{plan.normal, plan.swapped ? transposed(given) : given, {}};
  if (!plan.repitch_a && !plan.repitch_b) return f;
  workspace_layout const where = workspace_of(plan);
  auto const copy = [&](repitch_of& c, matrix_desc& m, extents e, void const*& base,
                        void const* const* array, std::int64_t offset) {
    padded const target = padded_copy(m, e, f.problem.batch);
    void* const to = static_cast<std::byte*>(f.operands.workspace) + offset;
    auto const count = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
    c = {base,
         m.has_pointers() ? array : nullptr,
         to,
         m.pitch_elems,
         m.batch_stride_elems,
         count(e.inner),
         count(e.outer),
         count(target.matrices),
         count(target.pitch_elems / 8)};
    m.pitch_elems = target.pitch_elems;
    m.batch_stride_elems = target.batch_stride_elems;
    base = to;
  };
  if (plan.repitch_a)
    copy(f.copies.operand[0], f.problem.a, extents_of_a(f.problem), f.operands.a,
         f.operands.a_array, where.copy_a);
  if (plan.repitch_b)
    copy(f.copies.operand[1], f.problem.b, extents_of_b(f.problem), f.operands.b,
         f.operands.b_array, where.copy_b);
  return f;
}

extents extents_of_a(gemm_problem const& q) {
  return major_of_a(q.a) == operand_major::k ? extents{q.k, q.m} : extents{q.m, q.k};
}
extents extents_of_b(gemm_problem const& q) {
  return major_of_b(q.b) == operand_major::k ? extents{q.k, q.n} : extents{q.n, q.k};
}

c_view view_of_c(gemm_problem const& q, gemm_operands const& o) {
  if (!q.c || q.beta == 0.0F) return {nullptr, 0, 0, 0, elem::f32, nullptr};
  bool const row_major = q.c->ord == order::row_major;
  bool const pointers = q.c->has_pointers();
  return {pointers ? o.c_array : o.c,
          row_major ? q.c->pitch_elems : 1,
          row_major ? 1 : q.c->pitch_elems,
          q.c->batch_stride_elems,
          q.c->type,
          pointers ? o.c_array : nullptr};
}

}  // namespace tw
