// Copying a text of unknown length at the cost of one pass: most messages are short.
#pragma once

#include <string.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace lockstep::tracer::nvtx {

// Texts up to here are copied in one pass, without knowing their length.
constexpr std::uint32_t kShortText = 64;
constexpr std::uint32_t kNotShort = 0xFFFFFFFFU;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LOCKSTEP_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LOCKSTEP_SANITIZED 1
#endif
#endif

// Copies a text of at most kShortText - 1 characters to `out`, which has room for kShortText bytes, and
// returns its length; kNotShort for a longer one. May write anything behind the text.
inline std::uint32_t copy_short_text(const char* text, std::byte* out) noexcept {
#if defined(__SSE2__) && !defined(LOCKSTEP_SANITIZED)
  constexpr std::uintptr_t kPage = 4096;
  const __m128i zero = _mm_setzero_si128();
  for (std::uint32_t done = 0; done < kShortText; done += sizeof(__m128i)) {
    // Up to 15 bytes behind the text's end are read too: harmless, as long as they lie in the same page.
    if ((reinterpret_cast<std::uintptr_t>(text + done) & (kPage - 1)) > kPage - sizeof(__m128i))
      return kNotShort;
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + done));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + done), part);
    const auto ends = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(part, zero)));
    if (ends != 0) return done + static_cast<std::uint32_t>(std::countr_zero(ends));
  }
#else
  const std::size_t length = strnlen(text, kShortText);
  if (length < kShortText) {
    std::memcpy(out, text, length);
    return static_cast<std::uint32_t>(length);
  }
#endif
  return kNotShort;
}

}  // namespace lockstep::tracer::nvtx
