// SPDX-License-Identifier: Apache-2.0
// cublaslt.cu  cuBLASLt through dlopen. Source: cuBLAS documentation, "Using the cuBLASLt API".
#include "tools/measure/gpu/cublaslt.hpp"

#include <dlfcn.h>

#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_scaled.hpp"

namespace tw::bench {
namespace {

constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

[[noreturn]] void unusable(std::string const& what, std::string const& got,
                           std::string const& need) {
  throw rejected({"TW0712", what, got, need, "--baseline none measures without it"});
}

void* open_library(std::string const& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::string const why = library == nullptr ? dlerror() : "";
  if (library == nullptr)
    library = dlopen(("/usr/local/cuda/lib64/" + file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) unusable("cuBLASLt", why, "the library of CUDA 13 on the search path");
  return library;
}

}  // namespace

struct cublaslt::functions {
  void* library;
  decltype(&cublasLtCreate) create = find<decltype(&cublasLtCreate)>("cublasLtCreate");
  decltype(&cublasLtDestroy) destroy = find<decltype(&cublasLtDestroy)>("cublasLtDestroy");
  decltype(&cublasLtGetVersion) version = find<decltype(&cublasLtGetVersion)>("cublasLtGetVersion");
  decltype(&cublasLtGetStatusName) status_name =
      find<decltype(&cublasLtGetStatusName)>("cublasLtGetStatusName");
  decltype(&cublasLtMatmul) matmul = find<decltype(&cublasLtMatmul)>("cublasLtMatmul");
  decltype(&cublasLtMatmulDescCreate) product_create =
      find<decltype(&cublasLtMatmulDescCreate)>("cublasLtMatmulDescCreate");
  decltype(&cublasLtMatmulDescDestroy) product_destroy =
      find<decltype(&cublasLtMatmulDescDestroy)>("cublasLtMatmulDescDestroy");
  decltype(&cublasLtMatmulDescSetAttribute) product_set =
      find<decltype(&cublasLtMatmulDescSetAttribute)>("cublasLtMatmulDescSetAttribute");
  decltype(&cublasLtMatrixLayoutCreate) layout_create =
      find<decltype(&cublasLtMatrixLayoutCreate)>("cublasLtMatrixLayoutCreate");
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy =
      find<decltype(&cublasLtMatrixLayoutDestroy)>("cublasLtMatrixLayoutDestroy");
  decltype(&cublasLtMatrixLayoutSetAttribute) layout_set =
      find<decltype(&cublasLtMatrixLayoutSetAttribute)>("cublasLtMatrixLayoutSetAttribute");
  decltype(&cublasLtMatmulPreferenceCreate) preference_create =
      find<decltype(&cublasLtMatmulPreferenceCreate)>("cublasLtMatmulPreferenceCreate");
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy =
      find<decltype(&cublasLtMatmulPreferenceDestroy)>("cublasLtMatmulPreferenceDestroy");
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set =
      find<decltype(&cublasLtMatmulPreferenceSetAttribute)>("cublasLtMatmulPreferenceSetAttribute");
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic =
      find<decltype(&cublasLtMatmulAlgoGetHeuristic)>("cublasLtMatmulAlgoGetHeuristic");
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) algorithm_get =
      find<decltype(&cublasLtMatmulAlgoConfigGetAttribute)>("cublasLtMatmulAlgoConfigGetAttribute");

  template <class Function>
  Function find(char const* name) const {
    void* const symbol = dlsym(library, name);
    if (symbol == nullptr)
      unusable("cuBLASLt", "a library without " + std::string(name), "CUDA 13's");
    return reinterpret_cast<Function>(symbol);
  }
  void check(cublasStatus_t status, char const* what) const {
    if (status != CUBLAS_STATUS_SUCCESS)
      unusable(what, status_name(status), "CUBLAS_STATUS_SUCCESS");
  }
};

cublaslt::cublaslt(std::string const& file)
    : api_(new functions{open_library(file)}),
      workspace_(workspace_bytes) {
  Dl_info where{};
  if (dladdr(reinterpret_cast<void*>(api_->create), &where) != 0) path_ = where.dli_fname;
  api_->check(api_->create(&handle_), "cublasLtCreate");
}

cublaslt::~cublaslt() {
  if (handle_ != nullptr) api_->destroy(handle_);
}

std::string cublaslt::version() const {
  std::size_t const v = api_->version();
  return std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." +
         std::to_string(v % 100);
}

namespace {

cudaDataType_t data_type(elem e) {
  switch (e) {
    case elem::bf16: return CUDA_R_16BF;
    case elem::f16: return CUDA_R_16F;
    case elem::e4m3: return CUDA_R_8F_E4M3;
    case elem::e5m2: return CUDA_R_8F_E5M2;
    case elem::e2m1: return CUDA_R_4F_E2M1;
    case elem::s8: return CUDA_R_8I;
    case elem::u8: return CUDA_R_8U;
    case elem::s32: return CUDA_R_32I;
    default: return CUDA_R_32F;
  }
}

struct computation {
  cublasComputeType_t sums;
  cudaDataType_t factors;  // the type of alpha and beta
};
computation computation_of(gemm_problem const& p) {
  if (is_8_bit_integer(p.a.type)) return {CUBLAS_COMPUTE_32I, CUDA_R_32I};
  if (is_multiplied_as_tf32(p.a.type)) return {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F};
  if (may_sum_in_f16(p)) return {CUBLAS_COMPUTE_16F, CUDA_R_16F};
  return {CUBLAS_COMPUTE_32F, CUDA_R_32F};
}

/// Its bias has a value per row of the column-major D^T: per column of D.
cublasLtEpilogue_t epilogue_of(gemm_epilogue const& e) {
  bool const bias = e.bias == along::cols;
  if (e.act == activation::relu) return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  if (e.act == activation::gelu_tanh)
    return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

/// Source of the block-scaled modes: cuBLAS documentation, "1D Block Scaling for FP8 and FP4 Data
/// Types". They need a Blackwell GPU; nothing of this has run on one.
cublasLtMatmulMatrixScale_t scale_mode_of(scale_desc const& s) {
  if (is_block_scale(s))
    return s.type == elem::ue4m3 ? CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3
                                 : CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0;
  switch (scaling_of(s)) {
    case scaling::row: return CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
    case scaling::block_1x128: return CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F;
    case scaling::block_128x128: return CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F;
    default: return CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
  }
}

}  // namespace

lt_product::lt_product(cublaslt const& library, gemm_problem const& p, float second_levels)
    : library_(library),
      alpha_{p.alpha * second_levels, static_cast<std::int32_t>(p.alpha), to_f16(p.alpha).bits},
      beta_{},
      factors_(computation_of(p).factors),
      c_(p.c.has_value()),
      bias_(p.epilogue.bias != along::none),
      scaled_{scale(p, role::a).has_value(), scale(p, role::b).has_value()},
      pointers_(p.d.has_pointers()) {
  auto const& api = *library_.api_;
  if (p.c) beta_ = {p.beta, static_cast<std::int32_t>(p.beta), to_f16(p.beta).bits};
  // A row-major matrix read column by column is its transpose. cuBLAS's left operand is our B^T
  // (n x k): as stored, B col_major is k x n and must be transposed; B row_major is n x k already.
  // Its right operand is our A^T (k x m): A row_major is k x m as stored, A col_major is m x k.
  bool const b_as_stored = p.b.ord == order::row_major, a_as_stored = p.a.ord == order::row_major;
  auto const k = static_cast<std::uint64_t>(p.k);
  auto const m = static_cast<std::uint64_t>(p.m), n = static_cast<std::uint64_t>(p.n);
  cublasOperation_t const left = b_as_stored ? CUBLAS_OP_N : CUBLAS_OP_T;
  cublasOperation_t const right = a_as_stored ? CUBLAS_OP_N : CUBLAS_OP_T;
  try {
    api.check(api.product_create(&product_, computation_of(p).sums, factors_),
              "cublasLtMatmulDescCreate");
    std::int8_t const fast = is_fp8(p.a.type) && p.precision.promote_k == 0 ? 1 : 0;
    api.check(api.product_set(product_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast),
              "FAST_ACCUM");
    api.check(api.product_set(product_, CUBLASLT_MATMUL_DESC_TRANSA, &left, sizeof left), "TRANSA");
    api.check(api.product_set(product_, CUBLASLT_MATMUL_DESC_TRANSB, &right, sizeof right),
              "TRANSB");
    cublasLtEpilogue_t const epilogue = epilogue_of(p.epilogue);
    if (epilogue != CUBLASLT_EPILOGUE_DEFAULT)
      api.check(
          api.product_set(product_, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue),
          "EPILOGUE");
    cudaDataType_t const bias_type = data_type(p.epilogue.bias.type);
    if (bias_)
      api.check(api.product_set(product_, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &bias_type,
                                sizeof bias_type),
                "BIAS_DATA_TYPE");
    auto const set_scale = [&](cublasLtMatmulDescAttributes_t mode_attribute,
                               cublasLtMatmulDescAttributes_t pointer, scale_desc const& s) {
      cublasLtMatmulMatrixScale_t const mode = scale_mode_of(s);
      api.check(api.product_set(product_, mode_attribute, &mode, sizeof mode), "SCALE_MODE");
      // The heuristic wants an aligned address; enqueue() sets that of the operands.
      void const* const aligned = library_.workspace_.data();
      api.check(api.product_set(product_, pointer, &aligned, sizeof aligned), "SCALE_POINTER");
    };
    if (scaled_.b)  // its A is our B
      set_scale(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
                *scale(p, role::b));
    if (scaled_.a)
      set_scale(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
                *scale(p, role::a));
    api.check(api.layout_create(&left_, data_type(p.b.type), b_as_stored ? n : k,
                                b_as_stored ? k : n, p.b.pitch_elems),
              "cublasLtMatrixLayoutCreate");
    api.check(api.layout_create(&right_, data_type(p.a.type), a_as_stored ? k : m,
                                a_as_stored ? m : k, p.a.pitch_elems),
              "cublasLtMatrixLayoutCreate");
    api.check(api.layout_create(&result_, data_type(p.d.type), n, m, p.d.pitch_elems),
              "cublasLtMatrixLayoutCreate");
    // C has no 8-bit type; without beta it is not read.
    elem const c_type = p.c ? p.c->type : size_bytes(p.d.type) == 1 ? elem::bf16 : p.d.type;
    api.check(api.layout_create(&addend_, data_type(c_type), n, m,
                                p.c ? p.c->pitch_elems : p.d.pitch_elems),
              "cublasLtMatrixLayoutCreate");
    auto const set_batch = [&](cublasLtMatrixLayout_t layout, std::int64_t stride) {
      auto const count = static_cast<std::int32_t>(p.batch);
      api.check(api.layout_set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
                "BATCH_COUNT");
      std::uint32_t const mode = CUBLASLT_BATCH_MODE_POINTER_ARRAY;
      if (pointers_)
        api.check(api.layout_set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, &mode, sizeof mode),
                  "BATCH_MODE");
      else
        api.check(api.layout_set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                 sizeof stride),
                  "STRIDED_BATCH_OFFSET");
    };
    if (p.batch > 1) {
      set_batch(left_, p.b.batch_stride_elems);
      set_batch(right_, p.a.batch_stride_elems);
      set_batch(result_, p.d.batch_stride_elems);
      set_batch(addend_, p.c ? p.c->batch_stride_elems : p.d.batch_stride_elems);
    }
  } catch (...) {
    destroy();
    throw;
  }
}

lt_product::~lt_product() { destroy(); }

void const* lt_product::data_of(factor const& x) const {
  if (factors_ == CUDA_R_32I) return &x.s32;
  if (factors_ == CUDA_R_16F) return &x.f16;
  return &x.f32;
}

void lt_product::destroy() {
  auto const& api = *library_.api_;
  for (auto* layout : {left_, right_, addend_, result_})
    if (layout != nullptr) api.layout_destroy(layout);
  if (product_ != nullptr) api.product_destroy(product_);
}

std::vector<lt_algorithm> lt_product::algorithms(int count) const {
  auto const& api = *library_.api_;
  cublasLtMatmulPreference_t preference = nullptr;
  api.check(api.preference_create(&preference), "cublasLtMatmulPreferenceCreate");
  std::size_t const bytes = workspace_bytes;
  cublasStatus_t status = api.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &bytes, sizeof bytes);
  std::unique_ptr<cublasLtMatmulHeuristicResult_t[]> const results(
      new cublasLtMatmulHeuristicResult_t[count]);
  int found = 0;
  if (status == CUBLAS_STATUS_SUCCESS)
    status = api.heuristic(library_.handle_, product_, left_, right_, addend_, result_, preference,
                           count, results.get(), &found);
  api.preference_destroy(preference);
  api.check(status, "cublasLtMatmulAlgoGetHeuristic");

  std::vector<lt_algorithm> usable;
  for (int i = 0; i < found; ++i)
    if (results[i].state == CUBLAS_STATUS_SUCCESS) usable.push_back({results[i].algo});
  if (usable.empty()) unusable("cuBLASLt's heuristic", "no algorithm", "one for this GEMM");
  return usable;
}

std::string lt_product::describe(lt_algorithm const& algorithm) const {
  std::string text;
  auto const add = [&](char const* name, cublasLtMatmulAlgoConfigAttributes_t attribute,
                       auto value) {
    std::size_t written = 0;
    if (library_.api_->algorithm_get(&algorithm.value, attribute, &value, sizeof value, &written) ==
        CUBLAS_STATUS_SUCCESS)
      text += name + std::to_string(value);
  };
  add("algo ", CUBLASLT_ALGO_CONFIG_ID, std::int32_t{0});
  add(" tile ", CUBLASLT_ALGO_CONFIG_TILE_ID, std::uint32_t{0});
  add(" stages ", CUBLASLT_ALGO_CONFIG_STAGES_ID, std::uint32_t{0});
  add(" splitk ", CUBLASLT_ALGO_CONFIG_SPLITK_NUM, std::int32_t{0});
  add(" swizzle ", CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, std::uint32_t{0});
  add(" option ", CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, std::uint32_t{0});
  add(" inner ", CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, std::uint16_t{0});
  add(" cluster ", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, std::uint16_t{0});
  return text;
}

void lt_product::enqueue(lt_algorithm const& algorithm, gemm_operands const& o,
                         cudaStream_t stream) const {
  if (bias_)
    library_.api_->check(library_.api_->product_set(product_, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                                    &o.bias, sizeof o.bias),
                         "BIAS_POINTER");
  auto const set_scales = [&](cublasLtMatmulDescAttributes_t attribute, void const* scales) {
    library_.api_->check(library_.api_->product_set(product_, attribute, &scales, sizeof scales),
                         "SCALE_POINTER");
  };
  if (scaled_.b) set_scales(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, address(o, scales_of(role::b)));
  if (scaled_.a) set_scales(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, address(o, scales_of(role::a)));
  void const* const c = c_ ? o.c : o.d;
  if (pointers_) {  // arrays of addresses instead of addresses
    library_.api_->check(
        library_.api_->matmul(library_.handle_, product_, data_of(alpha_), o.b_array, left_,
                              o.a_array, right_, data_of(beta_), o.d_array, addend_,
                              const_cast<void**>(o.d_array), result_, &algorithm.value,
                              library_.workspace_.data(), workspace_bytes, stream),
        "cublasLtMatmul");
    return;
  }
  library_.api_->check(
      library_.api_->matmul(library_.handle_, product_, data_of(alpha_), o.b, left_, o.a, right_,
                            data_of(beta_), c, addend_, o.d, result_, &algorithm.value,
                            library_.workspace_.data(), workspace_bytes, stream),
      "cublasLtMatmul");
}

}  // namespace tw::bench
