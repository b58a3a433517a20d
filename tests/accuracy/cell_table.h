// The file of results that lockstep_accuracy writes: one row of JSON a cell, and the sums over all of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace lockstep::accuracy {

class CellTable {
 public:
  CellTable(std::string_view what, std::string_view set, std::uint64_t seed);

  // Takes over what another run has counted of the same jobs (`what`, set and seed), all of it: a run of a
  // few cells keeps the others. A file of other jobs, or none, adds nothing.
  void resume(const std::filesystem::path& file);

  // The row of the same ranks, steps, fault, effect and noise; null where there is none.
  const nlohmann::json* find(const nlohmann::json& row) const;

  // Replaces find()'s.
  void put(const nlohmann::json& row);

  void describe_noise(nlohmann::json description) { document_["noise"].push_back(std::move(description)); }

  std::int64_t jobs() const;
  std::int64_t accused() const;

  // The file is replaced whole: a run that is stopped leaves the cells before. False: not written.
  bool write(const std::filesystem::path& file);

 private:
  std::int64_t sum_of(const char* field) const;

  nlohmann::json document_;
};

}  // namespace lockstep::accuracy
