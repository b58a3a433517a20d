// For this folder's tests: files in a temporary folder, plain and gzip.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "analyzer/model/job.h"
#include "base/result.h"
#include "tests/temporary_folder.h"

namespace lockstep::analyzer {

using test::TemporaryFolder;

inline std::string gzip(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

template <class T>
T must(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << result.error().message;
    std::abort();
  }
  return std::move(result).value();
}

// The first warning with this code; null if there is none.
inline const Warning* find_warning(const std::vector<Warning>& warnings, std::string_view code) {
  for (const Warning& warning : warnings)
    if (warning.code == code) return &warning;
  return nullptr;
}

}  // namespace lockstep::analyzer
