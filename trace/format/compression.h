// zstd frames for chunk bodies.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace lockstep::trace::format {

// No function throws.
class Compressor {
 public:
  explicit Compressor(int level) noexcept;

  // Appends one frame that holds `parts`, with a block boundary after each, to `out`. False if memory ran
  // out; `out` may then have grown, but by nothing of use.
  bool compress(std::span<const std::span<const std::byte>> parts, std::vector<std::byte>& out) noexcept;

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const noexcept;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
};

class Decompressor {
 public:
  Decompressor() noexcept;

  // True if `frame` is one zstd frame that decompresses to exactly out.size() bytes. Throws std::bad_alloc: a
  // frame is not damaged because memory ran out.
  bool decompress(std::span<const std::byte> frame, std::span<std::byte> out);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const noexcept;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
};

}  // namespace lockstep::trace::format
