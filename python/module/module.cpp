// SPDX-License-Identifier: Apache-2.0
// module.cpp  tilewright._tw: the functions of tilewright.h for Python, and nothing else.
//
// The package's Python files name arguments, choose defaults and allocate results. Functions here
// take all arguments by position: the tensors of a call, its words, and its numbers.
#include <unistd.h>

#include <atomic>

#include "tensors.hpp"

namespace tw_python {
namespace {

// ---- Errors ------------------------------------------------------------------------------------

nb::handle make_error;  // tilewright._errors.error_of(status, code, what, got, need, hint, text)

[[noreturn]] void raise(int status, char const* code, char const* what, char const* got,
                        char const* need, char const* hint, char const* text) {
  nb::object const x = make_error(status, code, what, got, need, hint, text);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(x.ptr())), x.ptr());
  throw nb::python_error();
}

void check(tw_status status) {
  if (status == TW_OK) return;
  if (status == TW_INTERRUPTED && PyErr_Occurred() != nullptr) throw nb::python_error();
  tw_error const* const e = tw_last_error();
  raise(status, e->code, e->what, e->got, e->need, e->hint, e->text);
}

[[noreturn]] void raise(bad_argument const& x) {
  raise(TW_REFUSED, x.code, x.what.c_str(), x.got.c_str(), x.need, x.hint, "");
}

// ---- Runs without the GIL ----------------------------------------------------------------------

// Set when the interpreter ends. From then on a thread other than the main one must not take the
// GIL: Python would end the thread within this library, whose frames cannot be unwound.
std::atomic<bool> at_exit{false};
std::atomic<int> taking{0};     // threads that wait for the GIL, or are about to
unsigned long main_thread = 0;  // by PyThread_get_thread_ident()

bool in_main_thread() { return PyThread_get_thread_ident() == main_thread; }

template <class F>
tw_status without_gil(F const& f) {
  PyThreadState* const state = PyEval_SaveThread();
  tw_status const status = f();
  ++taking;
  if (at_exit && !in_main_thread()) {
    --taking;
    for (;;) pause();
  }
  PyEval_RestoreThread(state);
  --taking;
  return status;
}

/// At the end of the interpreter: threads that wait for the GIL get it, no other one does.
void end() {
  at_exit = true;
  PyThreadState* const state = PyEval_SaveThread();
  for (int ms = 0; taking != 0 && ms < 2000; ++ms) usleep(1000);
  PyEval_RestoreThread(state);
}

/// In the child of a fork the thread that forked is the main thread, and the only one.
void after_fork() {
  main_thread = PyThread_get_thread_ident();
  taking = 0;
}

/// Python sees signals in its main thread alone.
int interrupted(void*) {
  if (!in_main_thread()) return at_exit ? 1 : 0;
  PyGILState_STATE const state = PyGILState_Ensure();
  int const answer = PyErr_CheckSignals() == 0 ? 0 : 1;
  PyGILState_Release(state);
  return answer;
}

// ---- Calls -------------------------------------------------------------------------------------

char const* word(nb::handle h, char const* name) {
  if (h.is_none()) return nullptr;
  if (PyUnicode_Check(h.ptr()) == 0) throw bad_argument{"TW0486", name, type_text(h), "a word"};
  char const* const text = PyUnicode_AsUTF8AndSize(h.ptr(), nullptr);
  if (text == nullptr) throw nb::python_error();
  return text;
}

template <class T>
T number(nb::handle h, char const* name) {
  T value{};
  if (nb::try_cast(h, value)) return value;
  PyErr_Clear();
  throw bad_argument{"TW0486", name, type_text(h),
                     std::is_floating_point_v<T> ? "a number" : "an integer of 32 bits"};
}

/// The text of a JSON function or of a picture.
nb::str owned(char* text) {
  std::unique_ptr<char, decltype(&tw_free)> const p(text, &tw_free);
  return nb::str(p.get());
}

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

/// 0 is never in Python, and the default in C.
std::int32_t promote_of(std::int32_t k) {
  if (k < 0)
    throw bad_argument{"TW0437", "promotion interval", std::to_string(k), "128, 64 or 0 (never)"};
  return k == 0 ? TW_PROMOTE_NEVER : k;
}

/// The arguments of a GEMM, from three tuples.
///
///   tensors  a, b, c, d, aux, bias, scale_a, scale_b, scale_d, second_a, second_b
///   words    scale_a_as, scale_b_as, scale_d_as, format, activation, gate, device
///   numbers  alpha, beta (or None), promote, threads, flags, stream, workspace,
///            workspace_bytes
struct gemm_call {
  tensor a, b, c, d, aux, bias, scale_a, scale_b, scale_d, second_a, second_b;
  float alpha = 1, beta = 0;
  tw_gemm_args args{};

  gemm_call(nb::tuple const& t, nb::tuple const& w, nb::tuple const& n)
      : a(t[0], "a"),
        b(t[1], "b"),
        c(t[2], "c"),
        d(t[3], "out", true),
        aux(t[4], "aux", true),
        bias(t[5], "bias"),
        scale_a(t[6], "scale_a"),
        scale_b(t[7], "scale_b"),
        scale_d(t[8], "scale_out", true),
        second_a(t[9], "level of a"),
        second_b(t[10], "level of b") {
    args.size = sizeof args;
    args.a = a.get(), args.b = b.get(), args.c = c.get(), args.d = d.get(), args.aux = aux.get();
    args.bias = bias.get(), args.scale_a = scale_a.get(), args.scale_b = scale_b.get();
    args.scale_d = scale_d.get(), args.second_a = second_a.get(), args.second_b = second_b.get();
    args.scale_a_as = word(w[0], "scale_a_as"), args.scale_b_as = word(w[1], "scale_b_as");
    args.scale_d_as = word(w[2], "scale_out"), args.format = word(w[3], "format");
    args.activation = word(w[4], "activation"), args.gate = word(w[5], "gate");
    args.device = word(w[6], "device");
    alpha = number<float>(n[0], "alpha");
    args.alpha = &alpha;
    if (!n[1].is_none()) beta = number<float>(n[1], "beta"), args.beta = &beta;
    args.promote = promote_of(number<std::int32_t>(n[2], "promote"));
    args.threads = nb::cast<std::int32_t>(n[3]);
    args.flags = nb::cast<std::uint32_t>(n[4]);
    args.stream = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(n[5]));
    args.workspace = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(n[6]));
    args.workspace_bytes = nb::cast<std::int64_t>(n[7]);
  }
};

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

class plan {
 public:
  plan(nb::tuple const& tensors, nb::tuple const& words, nb::tuple const& numbers) {
    gemm_call const call(tensors, words, numbers);
    check(without_gil([&] { return tw_plan_make(&call.args, &made_); }));
  }
  plan(plan const&) = delete;
  plan& operator=(plan const&) = delete;
  ~plan() { tw_plan_free(made_); }

  void run(nb::tuple const& tensors, nb::tuple const& words, nb::tuple const& numbers) const {
    gemm_call const call(tensors, words, numbers);
    check(without_gil([&] { return tw_plan_run(made_, &call.args); }));
  }
  nb::str json(int top) const {
    char* text = nullptr;
    check(without_gil([&] { return tw_plan_json(made_, top, &text); }));
    return owned(text);
  }
  std::int64_t workspace_bytes() const { return tw_plan_workspace_bytes(made_); }

 private:
  tw_plan* made_ = nullptr;
};

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
    args.stream = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(n[1]));
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
      .def("__init__",
           [](plan* self, nb::tuple const& t, nb::tuple const& w, nb::tuple const& n) {
             try {
               new (self) plan(t, w, n);
             } catch (bad_argument const& x) {
               raise(x);
             }
           })
      .def("run",
           [](plan const& p, nb::tuple const& t, nb::tuple const& w, nb::tuple const& n) {
             try {
               p.run(t, w, n);
             } catch (bad_argument const& x) {
               raise(x);
             }
           })
      .def("json", &plan::json)
      .def_prop_ro("workspace_bytes", &plan::workspace_bytes);
  m.def("gemm", guarded(&gemm));
  m.def("result_shape", guarded(&result_shape));
  m.def("quantize", guarded(&quantize));
  m.def("quantize_shape", guarded(&quantize_shape));
  m.def("layout_json", &text_of<&tw_layout_eval>);
  m.def("layout_svg", &text_of<&tw_layout_svg>);
  m.def("explain", &text_of<&tw_explain>);
  m.def("devices_json", [] {
    char* text = nullptr;
    check(without_gil([&] { return tw_devices_json(&text); }));
    return owned(text);
  });
  m.def("version", [] { return nb::str(tw_version()); });
  m.def("end", &end);
  m.def("after_fork", &after_fork);
}
