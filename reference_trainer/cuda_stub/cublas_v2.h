// What libtorch's CUDA headers name of cuBLAS, and nothing of it: the library comes as a package of half a
// gigabyte, and the trainer calls none of it. Beside this, the same for its neighbours.
#pragma once

using cublasHandle_t = struct cublasContext*;
using cublasLtHandle_t = struct cublasLtContext*;
enum cublasStatus_t : int;
