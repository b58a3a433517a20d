// NVTX's types and constants without its client functions: this library implements the other side.
#pragma once

#ifndef NVTX_NO_IMPL
#define NVTX_NO_IMPL
#endif
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
