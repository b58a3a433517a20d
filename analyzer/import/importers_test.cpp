// What holds of every importer.
#include "analyzer/import/importers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/import/kineto/importer.h"
#include "analyzer/import/test_files.h"

namespace lockstep::analyzer {
namespace {

using testing::HasSubstr;

const std::filesystem::path kSource = LOCKSTEP_SOURCE_DIR;

TEST(Importers, EachHasNamesOfItsOwn) {
  std::set<std::string_view> names, sources;
  for (const Importer* const importer : all_importers()) {
    EXPECT_TRUE(names.insert(importer->name).second) << importer->name;
    for (const std::string_view text :
         {importer->title, importer->description, importer->understood, importer->sample})
      EXPECT_FALSE(text.empty()) << importer->name;
    EXPECT_EQ(importer->description.find('\n'), std::string_view::npos) << importer->name;
    EXPECT_FALSE(importer->examples.empty()) << importer->name;
    ASSERT_NE(importer->recognise, nullptr) << importer->name;
    // It reads ranks, or what stands beside them.
    EXPECT_NE(importer->read == nullptr, importer->add == nullptr) << importer->name;
    if (importer->read != nullptr) {
      EXPECT_TRUE(sources.insert(importer->source).second) << importer->name;
      EXPECT_FALSE(importer->source.empty()) << importer->name;
      EXPECT_FALSE(importer->files.empty()) << importer->name;
    } else {
      EXPECT_FALSE(importer->why_not_alone.empty()) << importer->name;
      EXPECT_FALSE(importer->counts_by_name) << importer->name;
    }
  }
}

TEST(Importers, EachRecognisesItsOwnFilesAndNoneOfTheOthers) {
  const TemporaryFolder folder;
  for (const Importer* const importer : all_importers()) {
    for (const std::string& content : {std::string(importer->sample), gzip(importer->sample)}) {
      const std::string file = folder.write("a file", content);
      const Recognition found = must(recognise_file(file));
      ASSERT_NE(found.importer, nullptr) << importer->name;
      EXPECT_EQ(found.importer->name, importer->name);
      EXPECT_GE(found.certainty, Certainty::likely) << importer->name;
      const FileBeginning beginning = must(FileBeginning::read(file));
      for (const Importer* const other : all_importers()) {
        if (other == importer) continue;
        EXPECT_LT(other->recognise(beginning), found.certainty) << other->name;
      }
    }
  }
}

// A text of the importers that read ranks, or of those that read what stands beside, as it is to be listed.
std::string listed(std::string_view Importer::*text, bool of_ranks, const std::string& between,
                   const std::string& before_last) {
  std::vector<std::string> texts;
  for (const Importer* const importer : all_importers())
    if ((importer->read != nullptr) == of_ranks && !(importer->*text).empty())
      texts.emplace_back(importer->*text);
  std::string list;
  for (std::size_t i = 0; i < texts.size(); ++i)
    list += (i == 0 ? "" : i + 1 == texts.size() ? before_last : between) + texts[i];
  return list;
}

// Parts of sentences: neither ended nor broken into lines.
TEST(Importers, TextsFitIntoSentences) {
  for (const Importer* const importer : all_importers())
    for (const std::string_view text : {importer->title, importer->description, importer->understood,
                                        importer->files, importer->content, importer->why_not_alone}) {
      if (text.empty()) continue;
      EXPECT_EQ(text.find('\n'), std::string_view::npos) << text;
      EXPECT_FALSE(text.starts_with(' ') || text.ends_with(' ') || text.ends_with('.')) << text;
    }
}

TEST(Importers, WhatIsOfNoKindIsToldWhatIsUnderstood) {
  const TemporaryFolder folder;
  const Result<Recognition> text = recognise_file(folder.write("notes", "what we saw"));
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().message, folder / "notes" + ": neither " +
                                      listed(&Importer::content, true, ", nor ", ", nor ") + ", nor " +
                                      listed(&Importer::content, false, ", nor ", ", nor ") + ". " +
                                      what_is_understood());
  EXPECT_EQ(what_is_understood(), "Lockstep reads " + listed(&Importer::understood, true, ", ", ", and ") +
                                      ": one file a rank, or a folder of them; and beside them " +
                                      listed(&Importer::understood, false, ", ", " and "));
  EXPECT_EQ(names_of_files(), listed(&Importer::files, true, ", ", " or "));
  EXPECT_FALSE(recognise_file(folder / "absent").ok());
}

// Broken JSON, and an empty file, may have been a trace; any word in it makes it one.
TEST(Importers, JsonIsKinetosWhereItIsNothingElse) {
  const TemporaryFolder folder;
  for (const char* content : {"", "  \n", "{}", "[1]"}) {
    const Recognition found = must(recognise_file(folder.write("x", content)));
    EXPECT_EQ(found.importer, &importers::kineto) << content;
    EXPECT_EQ(found.certainty, Certainty::possible) << content;
  }
}

// Each folder with an importer.cpp has its line in the list.
TEST(Importers, NoFolderIsForgotten) {
  std::set<std::string> folders, names;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "analyzer/import"))
    if (std::filesystem::exists(entry.path() / "importer.cpp")) folders.insert(entry.path().filename());
  for (const Importer* const importer : all_importers()) names.insert(std::string(importer->name));
  EXPECT_EQ(folders, names);
}

TEST(Importers, StandInTheTableOfInputs) {
  const std::string text = test::read_whole_file(kSource / "README.md");
  const std::size_t begin = text.find("\n## Input\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string section = text.substr(begin, text.find("\n## ", begin + 1) - begin);
  for (const Importer* const importer : all_importers())
    EXPECT_THAT(section, HasSubstr(std::string(importer->title)));
}

// The codes of the warnings that the code of a folder gives.
std::set<std::string> codes_of(const std::filesystem::path& folder) {
  static const std::regex kWarning(
      R"re((?:warn\(|push_back\(\s*\{)\s*(?:\w+ \? )?"([a-z_]+)"(?: : "([a-z_]+)")?)re");
  std::set<std::string> codes;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (!(name.ends_with(".cpp") || name.ends_with(".h")) || name.ends_with("_test.cpp")) continue;
    const std::string text = test::read_whole_file(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), kWarning), end; at != end; ++at)
      for (const std::size_t group : {1, 2})
        if ((*at)[group].matched) codes.insert((*at)[group]);
  }
  return codes;
}

// The codes in the first cells of a page's tables.
std::set<std::string> codes_on(const std::string& page) {
  static const std::regex kCode("`([a-z_]+)`");
  std::set<std::string> codes;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string cell = line.substr(2, line.find('|', 2) - 2);
    for (std::sregex_iterator at(cell.begin(), cell.end(), kCode), end; at != end; ++at)
      codes.insert((*at)[1]);
  }
  return codes;
}

// docs/metrics.md and SECURITY.md send the reader there.
TEST(Importers, EachHasAPageWithItsWarnings) {
  for (const Importer* const importer : all_importers()) {
    const std::string name(importer->name);
    const std::string page = test::read_whole_file(kSource / "docs/inputs" / (name + ".md"));
    EXPECT_TRUE(page.starts_with("# Input: " + std::string(importer->title) + "\n")) << name;
    EXPECT_THAT(page, HasSubstr("\n## Untrusted files\n")) << name;
    EXPECT_EQ(codes_of(kSource / "analyzer/import" / name), codes_on(page)) << name;
  }
}

TEST(Importers, EachIsFuzzed) {
  for (const Importer* const importer : all_importers()) {
    const std::string name(importer->name);
    const std::filesystem::path folder = kSource / "analyzer/import" / name;
    EXPECT_TRUE(std::filesystem::exists(folder / (name + "_fuzzer.cpp"))) << name;
    EXPECT_THAT(test::read_whole_file(folder / "CMakeLists.txt"),
                HasSubstr("lockstep_fuzzer(" + name + "_fuzzer"));
    EXPECT_TRUE(std::filesystem::exists(kSource / "tests/fuzz/corpus" / (name + "_fuzzer.tar.zst"))) << name;
  }
}

}  // namespace
}  // namespace lockstep::analyzer
