/* SPDX-License-Identifier: Apache-2.0
   torch_tensor.c  A stand-in for torch's tensors on CUDA device 0: shape, strides and type, with the
                   functions of DLPack by which tilewright reads torch's. Nothing is at its address. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tilewright.h"

typedef struct {
  PyObject_HEAD PyObject* dtype;
  int64_t shape[3], strides[3];
  DLTensor t;
} tensor;

static PyTypeObject tensor_type;

static tensor* made(int rank, const int64_t* shape, const int64_t* strides, PyObject* dtype,
                    DLDataType type) {
  tensor* x = PyObject_New(tensor, &tensor_type);
  static uintptr_t next = 0x7f0000000000;
  memset(&x->t, 0, sizeof x->t);
  for (int i = 0; i < rank; ++i) x->shape[i] = shape[i], x->strides[i] = strides[i];
  x->dtype = Py_NewRef(dtype);
  x->t = (DLTensor){(void*)(next += 1 << 30), {kDLCUDA, 0}, rank, type, x->shape, x->strides, 0};
  return x;
}

static PyObject* new_tensor(PyTypeObject* of, PyObject* args, PyObject* names) {
  (void)of, (void)names;
  PyObject *shape, *strides, *dtype;
  int code, bits;
  int64_t s[3], r[3];
  if (!PyArg_ParseTuple(args, "OOO(ii)", &shape, &strides, &dtype, &code, &bits)) return NULL;
  int rank = (int)PySequence_Size(shape);
  for (int i = 0; i < rank; ++i) {
    s[i] = PyLong_AsLong(PySequence_GetItem(shape, i));
    r[i] = PyLong_AsLong(PySequence_GetItem(strides, i));
  }
  return (PyObject*)made(rank, s, r, dtype, (DLDataType){(uint8_t)code, (uint8_t)bits, 1});
}

static void end_of(PyObject* x) {
  Py_DECREF(((tensor*)x)->dtype);
  PyObject_Free(x);
}

static PyObject* extents(PyObject* x, void* which) {
  tensor* t = (tensor*)x;
  PyObject* all = PyTuple_New(t->t.ndim);
  for (int i = 0; i < t->t.ndim; ++i)
    PyTuple_SET_ITEM(all, i, PyLong_FromLongLong((which ? t->strides : t->shape)[i]));
  return all;
}
static PyObject* answer(PyObject* x, void* what) { return (void)x, Py_NewRef((PyObject*)what); }
static PyObject* dtype_of(PyObject* x, void* n) { return (void)n, Py_NewRef(((tensor*)x)->dtype); }
static PyObject* rank_of(PyObject* x, void* n) {
  return (void)n, PyLong_FromLong(((tensor*)x)->t.ndim);
}
static PyObject* transpose(PyObject* x, void* n) {
  (void)n;
  tensor *t = (tensor*)x, *y = made(t->t.ndim, t->shape, t->strides, t->dtype, t->t.dtype);
  int last = t->t.ndim - 1;
  y->t.data = t->t.data;
  y->shape[last] = t->shape[last - 1], y->shape[last - 1] = t->shape[last];
  y->strides[last] = t->strides[last - 1], y->strides[last - 1] = t->strides[last];
  return (PyObject*)y;
}
static PyObject* expand(PyObject* x, PyObject* to) {
  tensor* t = (tensor*)x;
  int64_t shape[3], none[3] = {0};
  for (int i = 0; i < t->t.ndim; ++i) shape[i] = PyLong_AsLong(PyTuple_GetItem(to, i));
  return (PyObject*)made(t->t.ndim, shape, none, t->dtype, t->t.dtype);
}
static PyObject* numel(PyObject* x, PyObject* args) {
  (void)args;
  long n = 1;
  for (int i = 0; i < ((tensor*)x)->t.ndim; ++i) n *= ((tensor*)x)->shape[i];
  return PyLong_FromLong(n);
}
static PyObject* dim(PyObject* x, PyObject* args) { return (void)args, rank_of(x, NULL); }

static PyObject* place(PyObject* x, PyObject* args) {
  return (void)x, (void)args, Py_BuildValue("ii", kDLCUDA, 0);
}

static PyGetSetDef members[] = {{"shape", extents, 0, 0, 0},
                                {"dtype", dtype_of, 0, 0, 0},
                                {"ndim", rank_of, 0, 0, 0},
                                {"T", transpose, 0, 0, 0},
                                {"requires_grad", answer, 0, 0, Py_False},
                                {"is_cuda", answer, 0, 0, Py_True},
                                {"device", answer, 0, 0, Py_None},
                                {0}};
static PyMethodDef methods[] = {
    {"expand", expand, METH_O, 0},         {"numel", numel, METH_NOARGS, 0},
    {"dim", dim, METH_NOARGS, 0},          {"__dlpack_device__", place, METH_NOARGS, 0},
    {"__dlpack__", place, METH_NOARGS, 0}, {0}};
static PyTypeObject tensor_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "torch.Tensor",
                                   .tp_basicsize = sizeof(tensor),
                                   .tp_dealloc = end_of,
                                   .tp_flags = Py_TPFLAGS_DEFAULT,
                                   .tp_getset = members,
                                   .tp_methods = methods,
                                   .tp_new = new_tensor};

static int read_tensor(void* x, DLTensor* to) { return *to = ((tensor*)x)->t, 0; }
static int current(DLDeviceType kind, int32_t index, void** stream) {
  return (void)kind, (void)index, *stream = NULL, 0;
}
static struct {
  uint32_t major, minor;
  void *previous, *unused[3];
  int (*read)(void*, DLTensor*);
  int (*current)(DLDeviceType, int32_t, void**);
} functions = {1, 3, 0, {0}, read_tensor, current};

static PyObject* empty_like(PyObject* m, PyObject* x) {
  (void)m;
  tensor* t = (tensor*)x;
  int64_t strides[3], step = 1;
  for (int i = t->t.ndim - 1; i >= 0; --i) strides[i] = step, step *= t->shape[i];
  return (PyObject*)made(t->t.ndim, t->shape, strides, t->dtype, t->t.dtype);
}
static PyObject* grad_enabled(PyObject* m, PyObject* n) {
  return (void)m, (void)n, Py_NewRef(Py_True);
}
static PyMethodDef of_module[] = {
    {"empty_like", empty_like, METH_O, 0}, {"is_grad_enabled", grad_enabled, METH_NOARGS, 0}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "torch_tensor", 0, -1, of_module};

PyMODINIT_FUNC PyInit_torch_tensor(void) {
  if (PyType_Ready(&tensor_type) != 0) return NULL;
  PyObject* m = PyModule_Create(&module);
  PyObject* c = PyCapsule_New(&functions, "dlpack_exchange_api", NULL);
  PyDict_SetItemString(tensor_type.tp_dict, "__dlpack_c_exchange_api__", c);
  PyModule_AddObject(m, "Tensor", Py_NewRef((PyObject*)&tensor_type));
  return m;
}
