# Shared by the scripts of this folder (sourced, not run): where things are, and how things are said.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${LOCKSTEP_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lockstep}
script=$(basename "$0")

say() { printf '%s: %s\n' "$script" "$*"; }
fail() { printf '%s: %s\n' "$script" "$*" >&2; exit 1; }
# A script's help is the comment at its top.
show_help() { awk 'NR > 1 { if (!sub(/^# ?/, "")) exit; print }' "$0"; }
usage_error() { printf '%s: %s (see scripts/%s --help)\n' "$script" "$*" "$script" >&2; exit 2; }

# in_minutes SECONDS: "3 min", "45 s".
in_minutes() { if [ "$1" -lt 120 ]; then echo "$1 s"; else echo "$((($1 + 30) / 60)) min"; fi; }

# tell_progress LOG: once a minute, how far a build is; ninja begins its lines with "[done/all]". Ends when it is killed, or this script is
# gone; a sleep that is left over then holds no pipe open.
tell_progress() {
  local begin=$SECONDS line
  while sleep 60 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
    line=$(grep -ao '^\[[0-9]*/[0-9]*\]' "$1" 2>/dev/null | tail -n 1 | tr -d '[]') || true
    [ -z "$line" ] || say "${line%/*} of ${line#*/} built after $(in_minutes $((SECONDS - begin)))"
  done
}

# build PRESET [TARGET...]: configures if need be and builds, quietly unless it fails.
build() {
  local preset=$1
  shift
  export CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-5G}
  local log=$root/build/$preset/build.log begin=$SECONDS code=0
  mkdir -p "$root/build/$preset"
  say "building preset $preset (log: build/$preset/build.log)"
  : >"$log"
  tell_progress "$log" &
  local teller=$!
  (cd "$root" && cmake --preset "$preset" && cmake --build --preset "$preset" -j "${LOCKSTEP_JOBS:-$(nproc)}" \
    ${1:+--target "$@"}) >"$log" 2>&1 || code=1
  kill "$teller"
  wait "$teller" 2>/dev/null || true
  if [ $code != 0 ]; then
    tail -n 40 "$log" >&2
    fail "the build failed; the end of build/$preset/build.log is above"
  fi
  say "built in $(in_minutes $((SECONDS - begin)))"
}
