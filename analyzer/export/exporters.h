// All formats of `lockstep export`. exporters.def lists them.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/export/exporter.h"
#include "base/result.h"

namespace lockstep::analyzer {

// In the order of exporters.def.
std::span<const Exporter* const> all_exporters();
// nullptr if no format has that name.
const Exporter* find_exporter(std::string_view name);

// Whether write_export() could write there, as far as that is known before there is anything to write.
Status can_export(const Exporter& exporter, const std::filesystem::path& target, Overwrite overwrite);
// A file, or a folder, that appears whole or not at all.
Status write_export(const Exporter& exporter, const Job& job, const Analysis& analysis,
                    const ExportOptions& options, const std::filesystem::path& target);

namespace exporters {

#define LOCKSTEP_EXPORTER(name) extern const Exporter name;
#include "analyzer/export/exporters.def"

}  // namespace exporters

}  // namespace lockstep::analyzer
