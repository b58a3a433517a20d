// Tables of `lockstep export --format csv`, as a test reads them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

namespace lockstep::end_to_end {

using Row = std::map<std::string, std::string>;  // by the names of the columns

// Of a line of RFC 4180 whose texts have no quotes and no ends of lines.
inline std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

// A table of `export --format csv`.
inline std::vector<Row> read_table(const std::string& path) {
  std::istringstream lines(test::read_whole_file(path));
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> names = fields_of(line);
  std::vector<Row> rows;
  while (std::getline(lines, line)) {
    const std::vector<std::string> fields = fields_of(line);
    EXPECT_EQ(fields.size(), names.size()) << line;
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(fields.size(), names.size()); ++i) row[names[i]] = fields[i];
  }
  return rows;
}

inline std::int64_t number(const Row& row, const std::string& column) {
  return std::stoll(row.at(column));
}

}  // namespace lockstep::end_to_end
