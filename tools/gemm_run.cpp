// SPDX-License-Identifier: Apache-2.0
// gemm_run.cpp  Copies operands to the device that runs the GEMM, and D back.
#include "tools/gemm_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "tilewright/arch/emu/cores.hpp"
#include "tilewright/problem/block_scaled.hpp"
#include "tools/device_memory.hpp"
#include "tools/family_choice.hpp"
#include "tools/io/refuse.hpp"
#include "tools/progress_bar.hpp"

namespace tw {
namespace {

void require_device_memory(gemm_files const& f, gemm_data const& data) {
  bytes need =
      data.a().view().padded_size() + data.b().view().padded_size() + f.d_shape().padded_size();
  if (f.problem().aux) need = need + f.aux_shape().padded_size();
  if (data.c()) need = need + data.c()->view().padded_size();
  need = need + bytes{device_workspace::size_bytes};  // rows on the device are padded: no copies
  bytes const available = free_device_memory();
  if (need > available) {
    auto const gib = [](bytes n) {
      return fmt::format("{:.2f} GiB", static_cast<double>(n.count) / (1 << 30));
    };
    refuse("TW0613", "memory of the GPU", gib(available) + " free", gib(need),
           "the emulator uses the host's memory: --device emu");
  }
}

/// The values of an operand on the GPU, in the order of memory: one line without padding.
void* upload_line(std::optional<device_matrix>& to, std::optional<operand> const& host) {
  if (!host) return nullptr;
  matrix_view line = host->view();
  line.cols *= line.rows * line.matrices, line.rows = line.matrices = 1;
  line.ord = order::row_major;
  to.emplace(line);
  to->upload();
  return to->data();
}

/// One number on the GPU, or nullptr.
float const* upload_number(std::optional<device_matrix>& to, float const* host) {
  if (host == nullptr) return nullptr;
  to.emplace(
      matrix_view{elem::f32, order::row_major, 1, 1, reinterpret_cast<std::byte const*>(host)});
  to->upload();
  return static_cast<float const*>(to->data());
}

/// The vectors of an epilogue on the GPU.
class device_epilogue {
 public:
  device_epilogue(epilogue_data const& from, gemm_operands& o) {
    o.bias = upload_line(bias_, from.bias);
    o.row_scale = static_cast<float const*>(upload_line(row_scale_, from.row_scale));
    o.col_scale = static_cast<float const*>(upload_line(col_scale_, from.col_scale));
  }

 private:
  std::optional<device_matrix> bias_, row_scale_, col_scale_;
};

}  // namespace

bool choose_gpu(device_choice choice) {
  if (choice == device_choice::emu) return false;
  if (choice == device_choice::gpu && !gpu().usable) {
    rejection why = gpu().why_not;  // what the other verbs say too, and what this one can do
    why.hint += ", or run in the emulator with --device emu";
    throw no_usable_gpu(why);
  }
  return gpu().usable;
}

gemm_run run_on_gpu(gemm_files const& files, gemm_data& data, std::string const& family) {
  require_device_memory(files, data);
  device_matrix a(data.a().view()), b(data.b().view()), d(data.d());
  std::optional<device_matrix> c;
  gemm_problem p = files.problem();
  a.upload();
  b.upload();
  p.a = a.desc();
  p.b = b.desc();
  p.d = d.desc();
  if (p.c) {
    c.emplace(data.c()->view());
    c->upload();
    p.c = c->desc();
  }
  gemm_operands o{a.data(), b.data(), c ? c->data() : nullptr, d.data()};
  std::int64_t const workspace_bytes = p.scale_d || is_block_scaled(p)
                                           ? gemm_workspace_bytes(p, o, gpu_device())
                                           : device_workspace::size_bytes;
  device_workspace const workspace(workspace_bytes);
  o.workspace = workspace.data(), o.workspace_bytes = workspace_bytes;
  device_epilogue const vectors(data.epilogue(), o);
  std::optional<device_matrix> scale_a, scale_b;
  o.scale_a = upload_line(scale_a, data.scale_a());
  o.scale_b = upload_line(scale_b, data.scale_b());
  std::optional<device_matrix> second_a, second_b;
  o.second_level_a = upload_number(second_a, files.second_level_a());
  o.second_level_b = upload_number(second_b, files.second_level_b());
  std::optional<device_matrix> scale_d;
  if (files.scale_d()) {
    scale_d.emplace(files.scale_d()->memory());
    scale_d->upload();
    o.scale_d = scale_d->data();
  }
  std::optional<device_matrix> aux;
  if (p.aux) {
    aux.emplace(data.aux());
    p.aux = aux->desc();
    o.aux = aux->data();
  }
  gemm_run run;
  run.on_gpu = true;
  run.device = gpu().name;
  run.plan = plan_of_family(p, o, gpu_device(), family);
  device_time const t = time_on_device([&](cudaStream_t stream) { gemm(run.plan, o, stream); });
  run.seconds = t.seconds;
  run.timed_runs = t.runs;
  d.download(data.d_data());
  if (aux) aux->download(data.aux_data());
  if (scale_d) scale_d->download(static_cast<std::byte*>(data.operands().scale_d));
  return run;
}

gemm_run run_emulated(gemm_request const& r, gemm_files const& files, gemm_data& data,
                      emu::trace* record) {
  emu_options options;
  options.os_threads = r.threads > 0 ? r.threads : record != nullptr ? 1 : emu::usable_cores();
  options.record = record;
  progress_bar bar(!r.quiet);
  emu::statistics counts;
  options.counted = &counts;
  options.hazards = r.hazards;    // they cost time
  options.catch_crashes = false;  // an input that is truncated meanwhile: main() names the file
  options.progress = [&](double share) { bar.update(share); };
  gemm_run run;
  run.device = "emulator";
  run.threads = record != nullptr ? 1 : options.os_threads;
  run.plan = plan_of_family(files.problem(), data.operands(),
                            emulated_device(options, device_of(r.arch, r.family)), r.family);
  require_memory(bytes{run.plan.workspace_bytes}, "workspace of the emulated GEMM");
  auto const start = std::chrono::steady_clock::now();
  gemm_emulated(run.plan, data.operands(), options);  // makes its workspace
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.hazards = counts.hazards;
  run.ordinary_accesses = counts.plain_accesses_seen;
  return run;
}

}  // namespace tw
