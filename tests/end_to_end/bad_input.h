// Input that is changed for the worse, and what `lockstep analyze` is to say to it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/end_to_end/kineto_files.h"
#include "tests/end_to_end/support.h"

namespace lockstep::end_to_end {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

class BadInput : public testing::Test {
 public:
  static std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 protected:
  void SetUp() override { write_two_ranks(traces_); }

  std::string write(const std::string& name, const std::string& content) const {
    fs::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name, std::ios::binary) << content;
    return folder_ / name;
  }
  std::string rank(int number) const { return traces_ + "/rank-" + std::to_string(number) + ".json"; }
  std::string good(int number) const { return read(rank(number)); }
  void replace(int number, const std::string& what, const std::string& with) const {
    std::string text = good(number);
    const std::size_t at = text.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    text.replace(at, what.size(), with);
    std::ofstream(rank(number), std::ios::binary) << text;
  }

  static Outcome analyze(std::vector<std::string> paths) {
    std::vector<std::string> arguments{binary("lockstep"), "analyze"};
    arguments.insert(arguments.end(), paths.begin(), paths.end());
    return run(arguments);
  }

  // Fails, prints no report, and says `message`.
  static void expect_error(const std::vector<std::string>& paths, const std::string& message) {
    const Outcome outcome = analyze(paths);
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_THAT(outcome.standard_output, IsEmpty());
    EXPECT_THAT(outcome.standard_error, HasSubstr(message));
  }

  // Succeeds; the warning stands in the JSON under its code and, in its words, in the text. Returns the JSON.
  json expect_warning(const std::vector<std::string>& paths, const std::string& code,
                      const std::string& words) const {
    std::vector<std::string> with_json = paths;
    with_json.insert(with_json.end(), {"--json", folder_ / "report.json", "--width", "200"});
    const Outcome outcome = analyze(with_json);
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.standard_error;
    const json report = json::parse(read(folder_ / "report.json"), nullptr, false);
    if (!report.is_object()) {
      ADD_FAILURE() << "no JSON report; standard error: " << outcome.standard_error;
      return json::object();
    }
    std::string messages;
    for (const json& warning : report.at("warnings"))
      if (warning.at("code") == code) messages += warning.at("message").get<std::string>() + "\n";
    EXPECT_THAT(messages, HasSubstr(words)) << report.at("warnings").dump(2);
    EXPECT_THAT(joined(outcome.standard_output + outcome.standard_error), HasSubstr(joined(words)));
    return report;
  }

  // The text report breaks lines: compared without white space.
  static std::string joined(std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    return text;
  }

  const TemporaryFolder folder_;
  const std::string traces_ = folder_ / "traces";
};

}  // namespace lockstep::end_to_end
