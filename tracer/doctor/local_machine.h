// The machine that we run on.
#pragma once

#include "tracer/doctor/machine.h"

namespace lockstep::tracer::doctor {

class LocalMachine final : public Machine {
 public:
  std::optional<std::string> variable(const std::string& name) const override;
  std::vector<std::string> variable_names() const override;
  std::optional<std::string> read(const std::string& path) const override;
  std::vector<std::string> list(const std::string& folder) const override;
  bool is_executable(const std::string& path) const override;
  std::string real_path(const std::string& path) const override;
  std::optional<ElfFacts> inspect(const std::string& path) const override;
  LibraryFacts load(const std::string& library, const std::vector<Call>& calls) const override;
  CommandResult run(const std::vector<std::string>& argv, std::uint32_t milliseconds) const override;
  std::optional<FileSystemFacts> file_system(const std::string& path) const override;
  WriteRate measure_writing(const std::string& path) const override;
  bool is_root() const override;
  std::uint32_t processors() const override;
};

}  // namespace lockstep::tracer::doctor
