// See cublas_v2.h.
#pragma once

#include "cusolver_common.h"

using cusolverDnHandle_t = struct cusolverDnContext*;
