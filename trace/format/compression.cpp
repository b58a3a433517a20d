#include "trace/format/compression.h"

// For contexts with an allocator of one's own, which every version since 1.3 has.
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#include <zstd_errors.h>

#include <new>

namespace lockstep::trace::format {

namespace {

// All memory of a writer comes from new: in a traced process that is one that can be told what to do
// (tracer/inject/allocation.cpp).
void* allocate(void* /*opaque*/, std::size_t bytes) {
  return ::operator new(bytes, std::nothrow);
}
void give_back(void* /*opaque*/, void* block) {
  ::operator delete(block);
}

}  // namespace

void Compressor::Free::operator()(ZSTD_CCtx_s* context) const noexcept {
  ZSTD_freeCCtx(context);
}
void Decompressor::Free::operator()(ZSTD_DCtx_s* context) const noexcept {
  ZSTD_freeDCtx(context);
}

Compressor::Compressor(int level) noexcept
    : context_(ZSTD_createCCtx_advanced({allocate, give_back, nullptr})) {
  if (context_ == nullptr) return;
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_contentSizeFlag, 0);  // the chunk header says it
  ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 0);     // likewise
}

bool Compressor::compress(std::span<const std::span<const std::byte>> parts,
                          std::vector<std::byte>& out) noexcept {
  if (context_ == nullptr) return false;
  std::size_t raw_size = 0;
  for (const auto& part : parts) raw_size += part.size();
  const std::size_t begin = out.size();
  // Each flush ends a block early and costs a block header of 3 bytes.
  const std::size_t bound = ZSTD_compressBound(raw_size) + 8 * parts.size();
  try {
    out.resize(begin + bound);
  } catch (const std::bad_alloc&) {
    return false;
  }
  ZSTD_CCtx_reset(context_.get(), ZSTD_reset_session_only);
  ZSTD_CCtx_setPledgedSrcSize(context_.get(), raw_size);
  ZSTD_outBuffer to{out.data() + begin, bound, 0};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ZSTD_inBuffer from{parts[i].data(), parts[i].size(), 0};
    const ZSTD_EndDirective directive = i + 1 == parts.size() ? ZSTD_e_end : ZSTD_e_flush;
    std::size_t left = 0;
    do {
      left = ZSTD_compressStream2(context_.get(), &to, &from, directive);
      if (ZSTD_isError(left) || (left != 0 && to.pos == to.size)) return false;
    } while (left != 0);
  }
  out.resize(begin + to.pos);
  return true;
}

Decompressor::Decompressor() noexcept : context_(ZSTD_createDCtx_advanced({allocate, give_back, nullptr})) {}

bool Decompressor::decompress(std::span<const std::byte> frame, std::span<std::byte> out) {
  if (context_ == nullptr) throw std::bad_alloc();
  const std::size_t size =
      ZSTD_decompressDCtx(context_.get(), out.data(), out.size(), frame.data(), frame.size());
  if (ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation) throw std::bad_alloc();
  return size == out.size();
}

}  // namespace lockstep::trace::format
