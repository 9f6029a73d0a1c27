// SPDX-License-Identifier: Apache-2.0
// module.cpp  tilewright._tw: the functions of tilewright.h for Python, and nothing else.
//
// The package's Python files name arguments, choose defaults and allocate results. Functions here
// take all arguments by position: the tensors of a call, its words, and its numbers.
#include <atomic>
#include <string>
#include <utility>

#include "calls.hpp"
#include "direct.hpp"
#include "groups.hpp"
#include "plan.hpp"
#include "weights.hpp"

namespace tw_python {
namespace {

/// In the child of a fork the thread that forked is the main thread, and the only one. Plans are
/// forgotten, so that each GEMM of CUDA tensors comes to the check of the process.
void after_fork() {
  main_thread = PyThread_get_thread_ident();
  taking = 0;
  forget_plans();
}

/// The answer of f, which runs with the GIL; `at_end` if the interpreter ends: the thread must not
/// take the GIL then.
template <class F>
int with_gil(int at_end, F const& f) {
  bool const counted = !in_main_thread();
  if (counted) ++taking;
  if (counted && at_exit) {
    --taking;
    return at_end;
  }
  PyGILState_STATE const state = PyGILState_Ensure();
  int const answer = f();
  PyGILState_Release(state);
  if (counted) --taking;
  return answer;
}

nb::handle interrupt_function;  // of set_interrupt(); borrowed from the module's Python files
std::atomic<bool> has_interrupt_function{false};

/// Python sees signals in its main thread alone. An exception ends the run, and is raised by it.
int interrupted(void*) {
  if (!in_main_thread() && !has_interrupt_function) return at_exit ? 1 : 0;
  return with_gil(1, [] {
    if (in_main_thread() && PyErr_CheckSignals() != 0) return 1;
    if (!interrupt_function) return 0;
    nb::object const f = nb::borrow(interrupt_function);
    PyObject* const answer = PyObject_CallNoArgs(f.ptr());
    if (answer == nullptr) return 1;
    int const yes = PyObject_IsTrue(answer);
    Py_DECREF(answer);
    return yes == 0 ? 0 : 1;
  });
}

void set_interrupt(nb::object f) {
  bool const given = !f.is_none();
  nb::handle const before = interrupt_function;
  interrupt_function = given ? f.release() : nb::handle();
  has_interrupt_function = given;
  before.dec_ref();
}

nb::handle log_function;  // of set_log()

/// A log function that raises is reported as Python reports errors in destructors.
void log_line(void*, int level, char const* line) {
  with_gil(0, [&] {
    if (!log_function) return 0;
    nb::object const f = nb::borrow(log_function);
    PyObject *type, *value, *trace;  // an exception of the caller, such as of an interrupt
    PyErr_Fetch(&type, &value, &trace);
    PyObject* const done = PyObject_CallFunction(f.ptr(), "is", level, line);
    if (done == nullptr) PyErr_WriteUnraisable(f.ptr());
    Py_XDECREF(done);
    PyErr_Restore(type, value, trace);
    return 0;
  });
}

void set_log(nb::object f) {
  bool const given = !f.is_none();
  nb::handle const before = log_function;
  log_function = given ? f.release() : nb::handle();
  tw_set_log(given ? &log_line : nullptr, nullptr);
  before.dec_ref();
}

// ---- Calls -------------------------------------------------------------------------------------

nb::tuple tuple_of(DLDataType t) { return nb::make_tuple(t.code, t.bits, t.lanes); }

nb::tuple tuple_of(std::int64_t const* values, int count) {
  nb::list all;
  for (int i = 0; i < count; ++i) all.append(values[i]);
  return nb::tuple(all);
}

/// (shape, type, scale shape, scale strides, scale type, scale bytes, second offset)
nb::tuple tuple_of(tw_result const& r) {
  return nb::make_tuple(tuple_of(r.shape, r.ndim), tuple_of(r.dtype),
                        tuple_of(r.scale_shape, r.scale_ndim),
                        tuple_of(r.scale_strides, r.scale_ndim), tuple_of(r.scale_dtype),
                        r.scale_bytes, r.second_offset);
}

void gemm(nb::tuple const& tensors, nb::tuple const& words, nb::tuple const& numbers) {
  gemm_call const call(tensors, words, numbers);
  check(without_gil([&] { return tw_gemm(&call.args); }));
}

nb::tuple result_shape(nb::tuple const& tensors, nb::tuple const& words, nb::tuple const& numbers) {
  gemm_call const call(tensors, words, numbers);
  tw_result r{};
  r.size = sizeof r;
  check(tw_result_shape(&call.args, &r));
  return tuple_of(r);
}

/// A GEMM of CUDA tensors by a plan that is made once. Returns None after the launch. If the plan
/// needs a workspace and none is given, nothing is launched, and the plan is returned.
nb::object gemm_by_plan(nb::tuple const& tensors, nb::tuple const& words,
                        nb::tuple const& numbers) {
  plan_table& plans = the_plans();
  gemm_call const call(tensors, words, numbers);
  if (computes_nothing(call.args)) {
    check(without_gil([&] { return tw_gemm(&call.args); }));
    return nb::none();
  }
  plan_key const key(call.args);
  auto found = plans.find(std::string_view(key));
  if (found == plans.end()) {
    nb::object made = nb::cast(new plan(call.args), nb::rv_policy::take_ownership);
    found = remember(key, {std::move(made)});
  }
  nb::object const chosen = found->second.plan;  // another thread may clear the plans
  plan const& p = nb::cast<plan const&>(chosen);
  if (p.workspace_bytes() > 0 && call.args.workspace == nullptr) return chosen;
  p.run(call.args);
  return nb::none();
}

/// The next call with these arguments and without d allocates its result like a prototype:
/// remembered_gemm() takes the plan of the call with d. result: the prototype and the requested
/// type.
void remember_result(nb::tuple const& tensors, nb::tuple const& words, nb::tuple const& numbers,
                     nb::tuple const& result) {
  gemm_call call(tensors, words, numbers);
  auto const found = the_plans().find(std::string_view(plan_key(call.args)));
  if (found == the_plans().end()) return;
  nb::object const made = found->second.plan;
  call.args.d = nullptr;
  remember(plan_key(call.args, nb::object(result[1])), {made, result[0], result[1]});
}

/// At the end of the interpreter: threads that wait for the GIL get it, no other one does.
void end() {
  at_exit = true;
  PyThreadState* const state = PyEval_SaveThread();
  for (int ms = 0; taking != 0 && ms < 2000; ++ms) usleep(1000);
  PyEval_RestoreThread(state);
  the_plans().clear();
}

/// tensors: x, d, scale_d, second_d; words: to, scaling; numbers: flags, stream, workspace,
/// workspace_bytes
struct quantize_call {
  tensor x, d, scale_d, second_d;
  tw_quantize_args args{};

  quantize_call(nb::tuple const& t, nb::tuple const& w, nb::tuple const& n)
      : x(t[0], "x"),
        d(t[1], "out", true),
        scale_d(t[2], "scale", true),
        second_d(t[3], "level", true) {
    args.size = sizeof args;
    args.x = x.get(), args.d = d.get(), args.scale_d = scale_d.get();
    args.second_d = second_d.get();
    args.to = word(w[0], "to"), args.scaling = word(w[1], "scaling");
    args.flags = nb::cast<std::uint32_t>(n[0]);
    args.stream = stream_of(n[1], t[0], args.x);
    args.workspace = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(n[2]));
    args.workspace_bytes = nb::cast<std::int64_t>(n[3]);
  }
};

void quantize(nb::tuple const& tensors, nb::tuple const& words, nb::tuple const& numbers) {
  quantize_call const call(tensors, words, numbers);
  check(without_gil([&] { return tw_quantize(&call.args); }));
}

nb::tuple quantize_shape(nb::tuple const& tensors, nb::tuple const& words,
                         nb::tuple const& numbers) {
  quantize_call const call(tensors, words, numbers);
  tw_result r{};
  r.size = sizeof r;
  check(tw_quantize_shape(&call.args, &r));
  return tuple_of(r);
}

template <tw_status (*F)(char const*, char**)>
nb::str text_of(char const* argument) {
  char* text = nullptr;
  check(F(argument, &text));
  return owned(text);
}

/// A call whose arguments are no tensors ends in RefusedError.
template <class R, class... Args>
auto guarded(R (*f)(Args...)) {
  return [f](Args... args) -> R {
    try {
      return f(static_cast<Args>(args)...);
    } catch (bad_argument const& x) {
      raise(x);
    }
  };
}

auto guarded_method(void (group::*f)() const) {
  return [f](group const& g) {
    try {
      (g.*f)();
    } catch (bad_argument const& x) {
      raise(x);
    }
  };
}

}  // namespace
}  // namespace tw_python

NB_MODULE(_tw, m) {
  namespace nb = nanobind;
  using namespace tw_python;
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
    throw nb::import_error("tilewright works in the main interpreter alone");
  if (tw_abi() != TW_ABI)
    throw nb::import_error("libtilewright.so.0 is of another version than this package");
  make_error = nb::object(nb::module_::import_("tilewright._errors").attr("error_of")).release();
  main_thread = nb::cast<unsigned long>(
      nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  tw_set_interrupt(&interrupted, nullptr);

  nb::class_<spec>(m, "Tensor")
      .def("__init__",
           [](spec* self, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides,
              std::tuple<int, int, int> type, int device, int index) {
             auto const [code, bits, lanes] = type;
             new (self) spec{std::move(shape),
                             std::move(strides),
                             {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits),
                              static_cast<std::uint16_t>(lanes)},
                             {static_cast<DLDeviceType>(device), index}};
           });
  nb::class_<plan>(m, "Plan")
      .def(
          "__init__",
          [](plan* self, nb::tuple const& t, nb::tuple const& w, nb::tuple const& n,
             std::optional<std::string> const& from) {
            try {
              new (self) plan(t, w, n, from ? from->c_str() : nullptr);
            } catch (bad_argument const& x) {
              raise(x);
            }
          },
          nb::arg(), nb::arg(), nb::arg(), nb::arg().none() = nb::none())
      .def("run",
           [](plan const& p, nb::tuple const& t, nb::tuple const& w, nb::tuple const& n) {
             try {
               p.run(gemm_call(t, w, n).args);
             } catch (bad_argument const& x) {
               raise(x);
             }
           })
      .def("run_directly", guarded(&run_directly))
      .def("json", &plan::json)
      .def("text", &plan::text)
      .def_prop_ro("workspace_bytes", &plan::workspace_bytes);
  nb::class_<weights>(m, "Weights")
      .def("__init__",
           [](weights* self, nb::tuple const& t, nb::tuple const& w, nb::tuple const& n) {
             try {
               new (self) weights(t, w, n);
             } catch (bad_argument const& x) {
               raise(x);
             }
           })
      .def("json", &weights::json)
      .def("copy_to",
           [](weights const& w, nb::handle array) {
             try {
               w.copy_to(array);
             } catch (bad_argument const& x) {
               raise(x);
             }
           })
      .def_prop_ro("bytes", &weights::bytes);
  nb::class_<group>(m, "Group")
      .def("__init__",
           [](group* self, int rank, std::vector<std::uintptr_t> const& arenas, bool on_gpu,
              std::int64_t bytes,
              double timeout_s) { new (self) group(rank, arenas, on_gpu, bytes, timeout_s); })
      .def(
          "__init__",
          [](group* self, std::uintptr_t comm, int ranks, nb::object library, std::int64_t bytes,
             double timeout_s) { new (self) group(comm, ranks, library, bytes, timeout_s); },
          nb::arg("comm"), nb::arg("ranks"), nb::arg("library").none(), nb::arg("bytes"),
          nb::arg("timeout_s"))
      .def(
          "gemm",
          [](group const& g, nb::object operation, nb::object path, nb::object rows, bool float32,
             nb::tuple const& t, nb::tuple const& w, nb::tuple const& n, nb::list const& others) {
            try {
              g.gemm<gemm_call>(operation, path, rows, float32, t, w, n, others);
            } catch (bad_argument const& x) {
              raise(x);
            }
          },
          nb::arg("operation"), nb::arg("path").none(), nb::arg("rows").none(), nb::arg("float32"),
          nb::arg("tensors"), nb::arg("words"), nb::arg("numbers"), nb::arg("others") = nb::list())
      .def(
          "explain",
          [](group const& g, nb::object operation, nb::object path, nb::object rows, bool float32,
             nb::tuple const& t, nb::tuple const& w, nb::tuple const& n) {
            try {
              return g.explain<gemm_call>(operation, path, rows, float32, t, w, n);
            } catch (bad_argument const& x) {
              raise(x);
            }
          },
          nb::arg("operation"), nb::arg("path").none(), nb::arg("rows").none(), nb::arg("float32"),
          nb::arg("tensors"), nb::arg("words"), nb::arg("numbers"))
      .def("check", guarded_method(&group::check_ranks))
      .def("abort", guarded_method(&group::abort))
      .def("close", &group::close);
  m.def("group_arena_bytes", &group_arena_bytes);
  m.def("weights_json", guarded(&weights_json));
  m.def("gemm", guarded(&gemm));
  m.def("result_shape", guarded(&result_shape));
  m.def("quantize", guarded(&quantize));
  m.def("quantize_shape", guarded(&quantize_shape));
  m.def("layout_json", &text_of<&tw_layout_eval>);
  m.def("layout_svg", &text_of<&tw_layout_svg>);
  m.def("explain", &text_of<&tw_explain>);
  m.def("plan_model", [](char const* config, char const* request) {
    char* text = nullptr;
    check(without_gil([&] { return tw_plan_model(config, request, &text); }));
    return owned(text);
  });
  m.def("devices_json", [] {
    char* text = nullptr;
    check(without_gil([&] { return tw_devices_json(&text); }));
    return owned(text);
  });
  m.def("version", [] { return nb::str(tw_version()); });
  m.def("gemm_by_plan", guarded(&gemm_by_plan));
  m.def("read_directly", &read_directly);
  m.def("remembered_gemm", guarded(&remembered_gemm));
  m.def("remember_result", guarded(&remember_result));
  m.def("set_log", &set_log, nb::arg("f").none());
  m.def("set_interrupt", &set_interrupt, nb::arg("f").none());
  m.def("end", &end);
  m.def("after_fork", &after_fork);
}
