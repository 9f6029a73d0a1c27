# SPDX-License-Identifier: Apache-2.0
"""family_headers.py  The headers that every family of kernels has, for gen/instances.py: they
differ in the names of the configuration, the parameters and the kernel alone."""
import string

SYSTEM = {"instances.hpp": ["span"], "launchers.hpp": ["span"], "kernels.hpp": ["string_view"]}

SENTENCES = {
    "instances.hpp": "The compiled kernels of the family $family, from instances.txt.",
    "launchers.hpp": "Launches a compiled kernel of the family $family by its index.",
    "launch_emu.hpp": "Compiles kernels of the family $family for the emulator.",
    "launch_gpu.cuh": "Compiles kernels of the family $family for the GPU.",
    "kernels.hpp": "The tables of the family $family as one type, for family_of.hpp.",
}

BODIES = {
    "instances.hpp": """\
using instance = instance_of<$config>;

/// All kernels, also those that this build lacks. An index into them names a kernel in a process.
std::span<instance const> instances();

/// The index of the kernel with this configuration, or -1.
int index_of($config const& c);

/// The kernel of a plan of this family.
inline $config const& config_of(gemm_plan const& plan) {
  return instances()[static_cast<std::size_t>(plan.instance)].config;
}
""",
    "launchers.hpp": """\
using emu_launcher = void (*)(int ctas, $params const&, emu::options const&);
/// Returns a cudaError_t as int; 0 is success. pdl: as in arch/cuda/launch.hpp.
using gpu_launcher = int (*)(int ctas, $params const&, cudaStream_t, bool pdl);

/// By index into instances(); nullptr if this build lacks the kernel.
std::span<emu_launcher const> emu_launchers();
std::span<gpu_launcher const> gpu_launchers();

/// A kernel that is also compiled with a record of its stages (pipeline/stage_profile.hpp).
struct profiled {
  int kernel;   // its index into instances()
  bool on_gpu;  // also compiled for the GPU
  void (*emu)(int ctas, $params const&, stage_log const&, emu::options const&);
  int (*gpu)(int ctas, $params const&, stage_log const&, cudaStream_t);
};
/// nullptr in it: this build lacks the kernel with a record.
std::span<profiled const> profiled_kernels();

/// Defined in launch_emu.hpp and launch_gpu.cuh, for the generated sources.
template <$config C>
void launch_emu(int ctas, $params const&, emu::options const&);
template <$config C>
int launch_gpu(int ctas, $params const&, cudaStream_t, bool pdl);
template <$config C>
void launch_emu_profiled(int ctas, $params const&, stage_log const&, emu::options const&);
template <$config C>
int launch_gpu_profiled(int ctas, $params const&, stage_log const&, cudaStream_t);
""",
    "launch_emu.hpp": """\
template <$config C>
void launch_emu(int ctas, $params const& p, emu::options const& o) {
  launch<$kernel<C>>(ctas, p, o);
}
""",
    "launch_gpu.cuh": """\
template <$config C>
int launch_gpu(int ctas, $params const& p, cudaStream_t stream, bool pdl) {
  return static_cast<int>(launch<$kernel<C>>(ctas, p, stream, pdl));
}
""",
    "kernels.hpp": """\
struct kernels {
  static constexpr std::string_view id = "$family";
  using config = $config;
  using params = $params;
  static std::span<instance const> list() { return instances(); }
  static std::span<emu_launcher const> emu() { return emu_launchers(); }
  static std::span<gpu_launcher const> gpu() { return gpu_launchers(); }
  static std::span<profiled const> with_record() { return profiled_kernels(); }
};
""",
}

PROFILED = {
    "launch_emu.hpp": """
template <$config C>
void launch_emu_profiled(int ctas, $params const& p, stage_log const& log, emu::options const& o) {
  using kernel = $profiled<C, stage_profile>;
  launch<kernel>(ctas, typename kernel::params{p, log}, o);
}
""",
    "launch_gpu.cuh": """
template <$config C>
int launch_gpu_profiled(int ctas, $params const& p, stage_log const& log, cudaStream_t stream) {
  using kernel = $profiled<C, stage_profile>;
  return static_cast<int>(launch<kernel>(ctas, typename kernel::params{p, log}, stream));
}
""",
}

GATED = {
    "launchers.hpp": """
/// A kernel that is also compiled with a gate before its loads (kernel/sm90/gate.hpp).
struct gated {
  int kernel;  // its index into instances()
  void (*emu)(int ctas, $params const&, gate_params const&, emu::options const&);
  int (*gpu)(int ctas, $params const&, gate_params const&, cudaStream_t, bool pdl);
};
/// nullptr in it: this build lacks the kernel with a gate.
std::span<gated const> gated_kernels();

template <$config C>
void launch_emu_gated(int ctas, $params const&, gate_params const&, emu::options const&);
template <$config C>
int launch_gpu_gated(int ctas, $params const&, gate_params const&, cudaStream_t, bool pdl);
""",
    "launch_emu.hpp": """
template <$config C>
void launch_emu_gated(int ctas, $params const& p, gate_params const& g, emu::options const& o) {
  using kernel = $gated<C>;
  launch<kernel>(ctas, typename kernel::params{p, g}, o);
}
""",
    "launch_gpu.cuh": """
template <$config C>
int launch_gpu_gated(int ctas, $params const& p, gate_params const& g, cudaStream_t stream,
                     bool pdl) {
  using kernel = $gated<C>;
  return static_cast<int>(launch<kernel>(ctas, typename kernel::params{p, g}, stream, pdl));
}
""",
}

FORWARD = {
    "launchers.hpp": """\
typedef struct CUstream_st* cudaStream_t;

namespace tw {
struct stage_log;  // pipeline/stage_profile.hpp
namespace emu {
struct options;  // arch/emu/options.hpp, which device code need not read
}
}  // namespace tw

""",
}

FORWARD_GATED = """\
namespace tw {
struct gate_params;  // kernel/sm90/gate.hpp
}

"""


def includes_of(name, family, description):
    header = {"config": description.CONFIG_HEADER, "params": description.PARAMS_HEADER,
              "kernel": description.KERNEL_HEADER}
    own = f"family/{family}/"
    return {"instances.hpp": ["family/instance.hpp", header["config"]],
            "launchers.hpp": [header["config"], header["params"]],
            "launch_emu.hpp": [own + "launchers.hpp", header["kernel"]],
            "launch_gpu.cuh": [own + "launchers.hpp", header["kernel"]],
            "kernels.hpp": [own + "instances.hpp", own + "launchers.hpp"]}[name]


def headers(family, description):
    """(name, text) of each header."""
    values = {"family": family, "config": description.CONFIG, "params": description.PARAMS,
              "kernel": description.KERNEL, "profiled": description.PROFILED_KERNEL,
              "gated": getattr(description, "GATED_KERNEL", None)}
    for name, body in BODIES.items():
        if description.PROFILED:
            body += PROFILED.get(name, "")
        forward = FORWARD.get(name, "")
        if hasattr(description, "GATED"):
            forward += FORWARD_GATED if name == "launchers.hpp" else ""
            body += GATED.get(name, "")
        system = "".join(f"#include <{h}>\n" for h in SYSTEM.get(name, []))
        includes = "".join(f'#include "{h}"\n' for h in includes_of(name, family, description))
        text = ("// SPDX-License-Identifier: Apache-2.0\n// Generated by gen/instances.py\n"
                f"// {name}  {SENTENCES[name]}\n#pragma once\n\n{system}{chr(10) if system else ''}"
                f"{includes}\n{forward}"
                f"namespace tw::${{family}}_family {{\n\n{body}\n"
                "}  // namespace tw::${family}_family\n")
        yield name, string.Template(text).substitute(values)
