#include "viewer/window/shell.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "analyzer/report/unicode.h"
#include "viewer/widgets/style.h"
#include "viewer/window/apply_first_look.h"

namespace lockstep::viewer {

namespace {

// So long a page stays while the next run is opened: mapped ones are there by then.
constexpr std::chrono::milliseconds kBlink{100};
// So long the welcome page waits to know which runs are there, so that none is seen to go.
constexpr std::chrono::milliseconds kGlance{30};
constexpr int kSettling = 3;

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Shell::Shell(Window& window, BackgroundOpening& opening, ShellOptions options)
    : window_(window),
      opening_(opening),
      options_(std::move(options)),
      dark_(options_.dark),
      presence_(options_.wake, options_.look_for_run) {}

Shell::~Shell() {
  put_app_away();
}

void Shell::open(const RunRequest& request) {
  opening_.open(request);
  await(request);
}

void Shell::await(const RunRequest& request) {
  again_ = false;
  if (kind_ == Kind::welcome) from_welcome_ = welcome_ != nullptr;
  request_ = request;
  opening_.wait_for(kBlink);
  if (opening_.state() == OpeningState::opening)
    show(Kind::opening);
  else
    take_outcome();
}

void Shell::update() {
  if (std::vector<std::string> dropped = window_.take_dropped(); !dropped.empty())
    wish_.open = as_options_say(request_of(std::move(dropped)));
  if (window_.take_was_focused() && run_ && run_->watch) run_->watch->look_now();
  carry_out_wishes();
  take_outcome();
}

RunRequest Shell::as_options_say(RunRequest request) const {
  request.keep = options_.keep;
  request.clocks = options_.clocks;
  request.communication = options_.communication;
  request.cycle = options_.cycle;
  request.all_steps = options_.all_steps;
  return request;
}

void Shell::carry_out_wishes() {
  const Wish wish = std::exchange(wish_, {});
  wish_.quit = wish.quit;
  if (wish.forget) {
    (void)forget_run(options_.recent_file, *wish.forget).ok();  // it stays on the list, then
    show(Kind::welcome);
  }
  if (wish.open) {
    open(*wish.open);
  } else if (wish.again) {
    open_again();
  } else if (wish.recent) {
    opening_.cancel();
    show(Kind::welcome);
  } else if (wish.leave) {
    leave();
  }
}

void Shell::open_again() {
  if (kind_ == Kind::failed) {
    open(request_);
  } else if (kind_ == Kind::run && !again_) {
    again_ = true;
    message_.clear();
    opening_.open(run_->opened.request);
  }
}

void Shell::leave() {
  if (kind_ == Kind::run) return;
  opening_.cancel();
  if (run_) {
    show_run();
  } else if (kind_ != Kind::welcome && from_welcome_) {
    show(Kind::welcome);
  } else if (kind_ != Kind::welcome) {
    wish_.quit = true;
  }
}

void Shell::take_outcome() {
  std::optional<Result<OpenedRun>> outcome = opening_.take();
  if (!outcome) return;
  const bool again = std::exchange(again_, false);
  if (!outcome->ok()) {
    options_.say(outcome->error().message);
    if (again) {
      const std::string& why = outcome->error().message;
      message_ = "It cannot be opened again: " + why.substr(0, why.find('\n'));
      return;
    }
    failure_ = outcome->error().message;
    advice_ = advice_on(request_);
    show(Kind::failed);
    return;
  }
  put_app_away();
  auto run = std::make_unique<Run>();
  run->opened = std::move(*outcome).value();
  if (options_.keep) run->session_file = session_file_of(run->opened.request.paths);
  if (again && run_) run->session = std::move(run_->session);
  run->watch = std::make_unique<RunWatch>(run->opened.on_disk, options_.wake);
  run_ = std::move(run);
  message_.clear();
  hidden_ = OnDisk::same;
  remember();
  show_run();
}

void Shell::show(Kind kind) {
  put_app_away();
  window_.renew();
  kind_ = kind;
  again_ = false;
  settling_ = kSettling;
  theme_ = dark_ ? dark_theme() : light_theme();
  fonts_ = load_fonts(options_.scale);
  apply_style(theme_, options_.scale);
  welcome_.reset();
  if (kind == Kind::welcome) {
    std::vector<RecentRun> runs = read_recent_runs(options_.recent_file);
    presence_.look(runs);
    presence_.wait_for(kGlance);
    welcome_ = std::make_unique<WelcomePage>(std::move(runs), seconds_now(), presence_);
  }
  window_.set_title(kind == Kind::welcome ? "Lockstep" : "Lockstep: " + name_of(request_));
}

void Shell::show_run() {
  put_app_away();
  welcome_.reset();
  window_.renew();
  kind_ = Kind::run;
  from_welcome_ = false;
  const Scene& scene = *run_->opened.scene;
  app_ = std::make_unique<App>(scene, dark_ ? dark_theme() : light_theme(), options_.scale);
  if (run_->opened.other)
    app_->compare_with(*run_->opened.other);
  else
    app_->keep_layout_in(options_.layout_file, window_.size());
  app_->add_command("Open another run", "Ctrl O", [this] { prompt_.ask(); });
  app_->add_command("Open this run again", "Ctrl R", [this] { wish_.again = true; });
  app_->add_command("Recent runs", "", [this] { wish_.recent = true; });
  app_->add_command("Quit", "Ctrl Q", [this] { wish_.quit = true; });
  restore_session();
  window_.set_title("Lockstep: " + analyzer::printable(scene.report().path));
}

// What the user left there. A place that was asked for comes before it.
void Shell::restore_session() {
  if (!run_->session && !run_->session_file.empty()) {
    Result<Session> kept = read_session(run_->session_file);
    if (kept.ok())
      run_->session = std::move(kept).value();
    else
      options_.say("warning: " + kept.error().message);
  }
  UnderstoodFlags flags;
  if (std::exchange(first_, false)) {
    Runs runs{run_->opened.scene.get()};
    if (run_->opened.other) runs.push_back(run_->opened.other.get());
    const bool selected = run_->session && selected_in(*run_->session, run_->opened.scene->timeline());
    flags = understand(options_.first_look, runs, selected);
    if (run_->session && run_->session->dark && !options_.theme_asked_for)
      app_->set_theme(*run_->session->dark);
  }
  for (const FlagError& wrong : flags.wrong) {
    options_.say(wrong.message);
    add_message(wrong.message);
  }
  for (const std::string& warning : flags.warnings) {
    options_.say("warning: " + warning);
    add_message(warning);
  }
  if (run_->session && flags.look.shows_a_place()) run_->session->view.reset();
  if (run_->session) app_->restore_session(*run_->session);
  apply_first_look(flags.look, *app_);
  search_asked_ = flags.look.search;
}

void Shell::add_message(const std::string& text) {
  message_ += (message_.empty() ? "" : "; ") + text;
}

void Shell::tell_of_search() {
  if (search_asked_.empty() || app_->search().busy()) return;
  const Search& search = app_->search().search();
  if (search.text() == search_asked_ && search.hits().empty()) {
    const std::string warning = warning_of_search(search_asked_, search.why_none());
    options_.say("warning: " + warning);
    add_message(warning);
  }
  search_asked_.clear();
}

void Shell::put_app_away() {
  if (!app_) return;
  run_->session = app_->session();
  dark_ = app_->theme().dark;
  app_.reset();
  if (run_->session_file.empty()) return;
  // A convenience: a folder where nobody may write costs no word but one.
  const Status kept = write_session(run_->session_file, *run_->session);
  if (!kept.ok()) options_.say("warning: view and notes are not kept: " + kept.error().message);
}

void Shell::remember() const {
  if (options_.recent_file.empty()) return;
  // A convenience too, and nobody misses it.
  (void)remember_run(options_.recent_file, recent_run_of(run_->opened, seconds_now())).ok();
}

bool Shell::busy() const {
  return settling_ > 0 || (app_ && app_->busy());
}

Color Shell::background() const {
  return app_ ? app_->theme().background : theme_.background;
}

std::optional<std::string> Shell::failure() const {
  return kind_ == Kind::failed ? std::optional(failure_) : std::nullopt;
}

std::optional<Notice> Shell::notice() const {
  if (kind_ != Kind::run) return std::nullopt;
  Circumstances circumstances;
  if (again_) circumstances.opening_again = opening_.progress();
  circumstances.hint = app_->hint();
  circumstances.message = message_;
  const OpenedRun& opened = run_->opened;
  circumstances.cut = opened.scene->tables().was_cut() || (opened.other && opened.other->tables().was_cut());
  circumstances.on_disk = run_->watch->state();
  if (circumstances.on_disk == hidden_) circumstances.on_disk = OnDisk::same;
  return notice_of(circumstances);
}

void Shell::frame() {
  settling_ = std::max(settling_ - 1, 0);
  if (ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_O)) prompt_.ask();
  if (ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_R)) wish_.again = true;
  if (ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_Q)) wish_.quit = true;
  if (kind_ == Kind::run) {
    draw_run();
  } else {
    page_keys();
    draw_page();
  }
  const Theme& theme = app_ ? app_->theme() : theme_;
  if (const std::optional<std::string> path = prompt_.draw(theme, app_ ? app_->fonts() : fonts_))
    wish_.open = as_options_say(request_of({*path}));
}

void Shell::page_keys() {
  if (ImGui::GetIO().WantTextInput || prompt_.is_open()) return;
  if (ImGui::IsKeyPressed(ImGuiKey_Escape, false)) wish_.leave = true;
  if (ImGui::IsKeyPressed(ImGuiKey_T, false)) {
    dark_ = !dark_;
    theme_ = dark_ ? dark_theme() : light_theme();
    apply_style(theme_, options_.scale);
  }
}

void Shell::draw_page() {
  if (kind_ == Kind::welcome) {
    WelcomeChoice choice =
        welcome_->draw(theme_, fonts_, run_ ? name_of(run_->opened.request) : "", !prompt_.is_open());
    if (choice.ask_for_path) prompt_.ask();
    if (choice.open) wish_.open = as_options_say(std::move(*choice.open));
    wish_.forget = std::move(choice.forget);
  } else if (kind_ == Kind::opening) {
    draw_opening_page(request_, opening_.progress(), opening_.elapsed(), way_out(), theme_, fonts_);
  } else {
    const FailedChoice choice = draw_failed_page(request_, failure_, advice_, way_out(), theme_, fonts_);
    if (choice.ask_for_path) prompt_.ask();
    wish_.again = wish_.again || choice.again;
    wish_.recent = wish_.recent || choice.recent;
    wish_.leave = wish_.leave || choice.leave;
  }
}

void Shell::draw_run() {
  const std::optional<Notice> shown = notice();
  // The panels make room a frame later.
  if (shown.has_value() != notice_drawn_.has_value()) settling_ = kSettling;
  notice_drawn_ = shown;
  if (shown) {
    const NoticeChoice choice = draw_notice(*shown, app_->theme(), app_->fonts());
    if (choice.open_again) wish_.again = true;
    if (choice.hide && !app_->hint().empty())
      app_->drop_hint();
    else if (choice.hide && !message_.empty())
      message_.clear();
    else if (choice.hide)
      hidden_ = run_->watch->state();
  }
  app_->frame();
  tell_of_search();
}

}  // namespace lockstep::viewer
