// A report's page in a headless Chromium, as it stands after its scripts ran; tests skip where there is none.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <regex>
#include <sstream>
#include <string>

#include "analyzer/html/html.h"
#include "tests/temporary_folder.h"

namespace lockstep::analyzer {

// "" where there is none.
inline std::string browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}) {
    if (std::system(fmt::format("command -v {} > /dev/null 2>&1", name).c_str()) == 0) return name;
  }
  return "";
}

class Browser : public testing::Test {
 protected:
  void SetUp() override {
    if (browser().empty()) GTEST_SKIP() << "no Chromium on this machine";
  }

  // The document as it stands after its scripts ran; `address` is what follows the file's name.
  std::string document_of(const std::string& html, const std::string& address = "") {
    const std::string file = folder_.write("page.html", html);
    const std::string command = fmt::format(
        "timeout 120 {} --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir='{}' "
        "--window-size=1400,1000 --dump-dom 'file://{}{}' 2> /dev/null",
        browser(), (folder_.path() / "profile").string(), file, address);
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::string out;
    std::array<char, 65536> part;
    for (std::size_t got; (got = std::fread(part.data(), 1, part.size(), pipe.get())) > 0;)
      out.append(part.data(), got);
    return out;
  }
  // `then`: a script that does what a reader would.
  std::string document_of(const Report& report, const std::string& address = "",
                          const std::string& then = "") {
    std::ostringstream out;
    write_html(report, {}, out);
    return document_of(out.str() + "<script>" + then + "</script>", address);
  }

 private:
  test::TemporaryFolder folder_;
};

// The part of the document from an element with this id to the next section's beginning.
inline std::string section(const std::string& document, const std::string& id) {
  const std::size_t begin = document.find("id=\"" + id + "\"");
  if (begin == std::string::npos) return "";
  const std::size_t start = document.rfind('<', begin);
  return document.substr(start, document.find("</section>", begin) - start);
}

// What a reader sees: each cell, each paragraph after a blank.
inline std::string words(const std::string& html) {
  std::string text = std::regex_replace(html, std::regex("<[^>]*>"), " ");
  text = std::regex_replace(text, std::regex("&lt;"), "<");
  text = std::regex_replace(text, std::regex("&gt;"), ">");
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

}  // namespace lockstep::analyzer
