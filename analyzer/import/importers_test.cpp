// What holds of every importer.
#include "analyzer/import/importers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

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

TEST(Importers, WhatIsOfNoKindIsToldWhatIsUnderstood) {
  const TemporaryFolder folder;
  const Result<Recognition> text = recognise_file(folder.write("notes", "what we saw"));
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().message,
            folder / "notes" + ": neither a trace of ours, nor JSON, nor a pickle, nor a log of NCCL. " +
                what_is_understood());
  for (const Importer* const importer : all_importers())
    EXPECT_THAT(what_is_understood(), HasSubstr(std::string(importer->understood)));
  EXPECT_EQ(what_is_understood(),
            "Understood are run folders of `lockstep record` and their .lst files, Kineto JSON "
            "(torch.profiler), plain or gzip, SQLite exports of Nsight Systems (`nsys export --type "
            "sqlite`), and dumps of PyTorch's flight recorder; one file a rank or a folder of them; beside "
            "them NCCL's logs (NCCL_DEBUG=INFO)");
  EXPECT_EQ(names_of_files(), "rank-<N>.lst, *.json, *.sqlite or flight recorder's dump");
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

}  // namespace
}  // namespace lockstep::analyzer
