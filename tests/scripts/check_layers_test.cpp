#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/end_to_end/support.h"
#include "tests/temporary_folder.h"

namespace lockstep::end_to_end {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Outcome check(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{LOCKSTEP_SOURCE_DIR "/scripts/check_layers"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run(command);
}

TEST(Layers, TheCodeKeepsToThem) {
  const Outcome outcome = check({});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
}

// Two folders, the upper of which includes the lower, with a test.
class PlantedLayers : public testing::Test {
 protected:
  void SetUp() override {
    tree_.write("docs/layers.txt", "tests: *_test.cpp test_*.h\n\nlower:\nupper: lower\n");
    tree_.write("lower/ground.h", "// What all stand on.\n#pragma once\nint ground();\n");
    tree_.write("lower/ground.cpp", "#include \"lower/ground.h\"\nint ground() { return 1; }\n");
    tree_.write("upper/roof.h", "// What stands on it.\n#pragma once\n#include \"lower/ground.h\"\n");
    tree_.write("upper/roof.cpp",
                "#include \"upper/roof.h\"\n#include <string>\nint roof() { return ground(); }\n");
    tree_.write("lower/ground_test.cpp", "#include \"upper/roof.h\"\n#include \"upper/test_roof.h\"\n");
    tree_.write("upper/test_roof.h", "#pragma once\n");
  }

  // What stands in standard error; "" where all is well.
  std::string problems(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--root", tree_.path().string()});
    const Outcome outcome = check(more);
    EXPECT_EQ(outcome.exit_code, outcome.standard_error.empty() ? 0 : 1) << outcome.standard_error;
    return outcome.standard_error;
  }

  test::TemporaryFolder tree_;
};

TEST_F(PlantedLayers, WhatKeepsToThemPasses) {
  EXPECT_EQ(problems(), "");
}

TEST_F(PlantedLayers, AnIncludeUpwardIsFound) {
  tree_.write("lower/ground.cpp", "#include \"lower/ground.h\"\n#include \"upper/roof.h\"\n");
  EXPECT_THAT(problems(),
              HasSubstr("lower/ground.cpp:2: includes upper/roof.h, and lower/ may not include upper/"));
}

TEST_F(PlantedLayers, ACycleOfFoldersIsFound) {
  tree_.write("docs/layers.txt", "tests: *_test.cpp test_*.h\nlower: upper\nupper: lower\n");
  tree_.write("lower/ground.cpp", "#include \"lower/ground.h\"\n#include \"upper/roof.h\"\n");
  EXPECT_THAT(problems(), HasSubstr("docs/layers.txt:2: lower/ names upper/, which does not stand above it"));
}

TEST_F(PlantedLayers, AFolderWithoutALineIsFound) {
  tree_.write("annex/shed.cpp", "#include \"lower/ground.h\"\n");
  EXPECT_THAT(problems(), HasSubstr("annex/shed.cpp: its folder has no line in docs/layers.txt"));
}

TEST_F(PlantedLayers, ALineThatNothingNeedsIsFound) {
  tree_.write("docs/layers.txt", "tests: *_test.cpp test_*.h\nlower:\ncellar:\nupper: lower\n");
  EXPECT_THAT(problems(), HasSubstr("docs/layers.txt:3: cellar/ holds no source"));
  tree_.write("cellar/wine.cpp", "int wine;\n");
  tree_.write("docs/layers.txt", "tests: *_test.cpp test_*.h\nlower:\ncellar:\nupper: lower cellar\n");
  EXPECT_THAT(problems(), HasSubstr("docs/layers.txt:4: upper/ no longer includes cellar/"));
}

// Two folders that one line is about, the first of which the folder above includes.
class LayersOfManyFolders : public PlantedLayers {
 protected:
  void SetUp() override {
    PlantedLayers::SetUp();
    lines("lower:\nrooms/*: lower\nupper: lower rooms/*\n");
    for (const std::string name : {"hall", "kitchen"})
      tree_.write("rooms/" + name + "/room.h", "// A room.\n#pragma once\n#include \"lower/ground.h\"\n");
    tree_.write("upper/roof.cpp", "#include \"upper/roof.h\"\n#include \"rooms/hall/room.h\"\n");
  }
  void lines(const std::string& text) {
    tree_.write("docs/layers.txt", "tests: *_test.cpp test_*.h\n" + text);
  }
};

TEST_F(LayersOfManyFolders, HaveOneLine) {
  EXPECT_EQ(problems(), "");
  // Another one needs no line, and nobody has to include it.
  tree_.write("rooms/cellar/room.cpp", "#include \"lower/ground.h\"\n");
  EXPECT_EQ(problems(), "");
  // What stands in such a folder does.
  tree_.write("rooms/cellar/shelf/wine.cpp", "int wine;\n");
  EXPECT_THAT(problems(), HasSubstr("rooms/cellar/shelf/wine.cpp: its folder has no line"));
}

TEST_F(LayersOfManyFolders, StandInTheTableOnce) {
  const Outcome outcome = check({"--root", tree_.path().string(), "--table"});
  EXPECT_THAT(outcome.standard_output,
              HasSubstr("| `rooms/*/` | `lower/` |\n| `upper/` | `lower/`, `rooms/*/` |\n"));
}

TEST_F(LayersOfManyFolders, MayNotIncludeEachOther) {
  tree_.write("rooms/hall/room.cpp", "#include \"rooms/kitchen/room.h\"\n");
  EXPECT_THAT(problems(),
              HasSubstr("rooms/hall/room.cpp:1: includes rooms/kitchen/room.h, and rooms/hall/ may "
                        "not include rooms/kitchen/"));
  lines("lower:\nrooms/*: lower rooms/*\nupper: lower rooms/*\n");
  EXPECT_THAT(problems(), AllOf(HasSubstr("docs/layers.txt:3: rooms/*/ names rooms/*/, which does not stand "
                                          "above it"),
                                HasSubstr("rooms/hall/ may not include rooms/kitchen/")));
}

TEST_F(LayersOfManyFolders, HideNoCycle) {
  lines("lower:\nrooms/*: lower upper\nupper: lower rooms/*\n");
  tree_.write("rooms/hall/room.cpp", "#include \"upper/roof.h\"\n");
  EXPECT_THAT(problems(),
              HasSubstr("docs/layers.txt:3: rooms/*/ names upper/, which does not stand above it: a cycle"));
}

TEST_F(LayersOfManyFolders, MayIncludeOnlyWhatTheirLineSays) {
  tree_.write("attic/box.h", "// A box.\n#pragma once\n#include \"lower/ground.h\"\n");
  lines("lower:\nattic: lower\nrooms/*: lower\nupper: lower rooms/*\n");
  tree_.write("rooms/hall/room.cpp", "#include \"attic/box.h\"\n");
  EXPECT_THAT(problems(), HasSubstr("rooms/hall/room.cpp:1: includes attic/box.h, and rooms/hall/ may not "
                                    "include attic/"));
}

TEST_F(LayersOfManyFolders, MayBeIncludedOnlyWhereTheyAreNamed) {
  lines("lower:\nrooms/*: lower\nupper: lower\n");
  EXPECT_THAT(problems(),
              HasSubstr("upper/roof.cpp:2: includes rooms/hall/room.h, and upper/ may not include "
                        "rooms/hall/"));
}

TEST_F(LayersOfManyFolders, HoldNoFolderThatHasALineOfItsOwn) {
  lines("lower:\nrooms/hall:\nrooms/*: lower\nupper: lower rooms/*\n");
  EXPECT_THAT(problems(), AllOf(HasSubstr("rooms/hall/room.h:3: includes lower/ground.h, and rooms/hall/ may "
                                          "not include lower/"),
                                HasSubstr("upper/roof.cpp:2: includes rooms/hall/room.h, and upper/ may not "
                                          "include rooms/hall/")));
  lines("lower:\nrooms/*: lower\nrooms/hall: lower rooms/*\nupper: lower rooms/hall\n");
  tree_.write("rooms/hall/room.cpp", "#include \"rooms/kitchen/room.h\"\n");
  EXPECT_EQ(problems(), "");
}

TEST_F(LayersOfManyFolders, AreThere) {
  lines("lower:\nsheds/*: lower\nrooms/*: lower\nupper: lower sheds/* rooms/*\n");
  EXPECT_THAT(problems(), AllOf(HasSubstr("docs/layers.txt:3: sheds/*/ holds no source"),
                                HasSubstr("docs/layers.txt:5: upper/ no longer includes sheds/*/")));
}

TEST_F(LayersOfManyFolders, AreThoseDirectlyInOne) {
  for (const std::string name : {"*", "ro*", "rooms*", "*/hall", "rooms/*/hall"}) {
    lines("lower:\n" + name + ": lower\nrooms/*: lower\nupper: lower rooms/*\n");
    EXPECT_THAT(problems(), HasSubstr("docs/layers.txt:3: " + name + " is neither FOLDER nor FOLDER/*"));
  }
}

TEST_F(PlantedLayers, ALibraryThatIncludesTestCodeIsFound) {
  tree_.write("upper/roof.cpp", "#include \"upper/roof.h\"\n#include \"upper/test_roof.h\"\n");
  EXPECT_THAT(problems(), HasSubstr("upper/roof.cpp:2: includes upper/test_roof.h, which is test code"));
}

TEST_F(PlantedLayers, AHeaderWithoutItsPurposeIsFound) {
  tree_.write("upper/roof.h", "#pragma once\n#include \"lower/ground.h\"\n");
  EXPECT_THAT(problems(), HasSubstr("upper/roof.h:1: a header says in its first line what it is for"));
}

TEST_F(PlantedLayers, AHeaderThatDoesNotCompileAloneIsFound) {
  const std::string source = tree_ / "upper/roof.cpp";
  tree_.write("build/lint/compile_commands.json", "[\n{\n  \"command\": \"/usr/bin/c++ -I" +
                                                      tree_.path().string() + " -std=c++20 -o roof.o -c " +
                                                      source + "\",\n  \"file\": \"" + source + "\"\n}\n]\n");
  EXPECT_EQ(problems({"--headers", "upper/roof.h"}), "");
  tree_.write("upper/roof.h",
              "// What stands on it.\n#pragma once\n#include \"lower/ground.h\"\nstd::string name();\n");
  EXPECT_THAT(problems({"--headers", "upper/roof.h"}), HasSubstr("upper/roof.h: does not compile alone: "));
}

TEST_F(PlantedLayers, ATableInTheDocumentationThatIsOldIsFound) {
  tree_.write("docs/architecture.md",
              "<!-- layers -->\n| folder | its code may include |\n<!-- end of layers -->\n");
  EXPECT_THAT(problems(),
              HasSubstr("docs/architecture.md: the table of layers is not that of docs/layers.txt"));
}

}  // namespace
}  // namespace lockstep::end_to_end
