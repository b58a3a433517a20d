// What holds of every format.
#include "analyzer/export/exporters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include "analyzer/export/sample_job.h"
#include "tests/temporary_folder.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

const std::filesystem::path kSource = LOCKSTEP_SOURCE_DIR;

TEST(Exporters, EachHasANameAndAnEndingOfItsOwn) {
  std::set<std::string_view> names, endings;
  for (const Exporter* const exporter : all_exporters()) {
    EXPECT_TRUE(names.insert(exporter->name).second) << exporter->name;
    EXPECT_TRUE(endings.insert(exporter->ending).second) << exporter->name;
    EXPECT_EQ(find_exporter(exporter->name), exporter);
    EXPECT_FALSE(exporter->title.empty()) << exporter->name;
    EXPECT_FALSE(exporter->description.empty()) << exporter->name;
    EXPECT_TRUE(exporter->write_stream != nullptr || exporter->write_path != nullptr) << exporter->name;
    EXPECT_NE(exporter->write_stream == nullptr, exporter->why_no_stream.empty()) << exporter->name;
  }
  EXPECT_EQ(find_exporter("pdf"), nullptr);
}

TEST(Exporters, EachWritesAJobAndOverwritesOnlyWhereItMay) {
  const test::TemporaryFolder folder;
  const SampleJob sample = sample_job();
  for (const Exporter* const exporter : all_exporters()) {
    const std::filesystem::path target = folder / ("run" + std::string(exporter->ending));
    EXPECT_TRUE(can_export(*exporter, target, Overwrite::refuse).ok()) << exporter->name;
    EXPECT_TRUE(write_export(*exporter, sample.job, sample.analysis, {}, target).ok()) << exporter->name;
    EXPECT_EQ(std::filesystem::is_directory(target), !exporter->file_in_folder.empty()) << exporter->name;
    const std::filesystem::path file =
        exporter->file_in_folder.empty() ? target : target / exporter->file_in_folder;
    EXPECT_FALSE(test::read_whole_file(file).empty()) << exporter->name;
    EXPECT_FALSE(can_export(*exporter, target, Overwrite::refuse).ok()) << exporter->name;
    EXPECT_FALSE(write_export(*exporter, sample.job, sample.analysis, {}, target).ok()) << exporter->name;
    const ExportOptions again{.overwrite = Overwrite::allow};
    EXPECT_TRUE(can_export(*exporter, target, Overwrite::allow).ok()) << exporter->name;
    EXPECT_TRUE(write_export(*exporter, sample.job, sample.analysis, again, target).ok()) << exporter->name;
  }
}

TEST(Exporters, WhatGoesToAStreamIsTheFile) {
  const test::TemporaryFolder folder;
  const SampleJob sample = sample_job();
  for (const Exporter* const exporter : all_exporters()) {
    if (exporter->write_stream == nullptr) continue;
    std::ostringstream out;
    exporter->write_stream(sample.job, sample.analysis, {}, out);
    EXPECT_FALSE(out.str().empty()) << exporter->name;
    if (exporter->write_path != nullptr) continue;
    const std::string target = folder / std::string(exporter->name);
    ASSERT_TRUE(write_export(*exporter, sample.job, sample.analysis, {}, target).ok());
    EXPECT_EQ(test::read_whole_file(target), out.str()) << exporter->name;
  }
}

// Each file that holds a format has its line in the list.
TEST(Exporters, NoFileIsForgotten) {
  std::set<std::string> files, names;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "analyzer/export")) {
    const std::string name = entry.path().stem();
    if (entry.path().extension() == ".cpp" &&
        test::read_whole_file(entry.path()).find("const Exporter exporters::" + name + "{") !=
            std::string::npos)
      files.insert(name);
  }
  for (const Exporter* const exporter : all_exporters()) names.insert(std::string(exporter->name));
  EXPECT_EQ(files, names);
}

TEST(Exporters, StandOnTheirPage) {
  std::string names, headings;
  for (const Exporter* const exporter : all_exporters())
    names += (names.empty() ? "" : "|") + std::string(exporter->name);
  const std::string page = test::read_whole_file(kSource / "docs/export.md");
  EXPECT_THAT(page, HasSubstr("`lockstep export RUN --format " + names + " ["));
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("## ")) headings += line + "\n";
  for (const Exporter* const exporter : all_exporters())
    EXPECT_THAT(headings, HasSubstr(std::string(exporter->title)));
}

}  // namespace
}  // namespace lockstep::analyzer
