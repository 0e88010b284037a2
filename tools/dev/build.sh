# shellcheck shell=bash
# Configuring, building, testing, measuring.

# configure PRESET: runs CMake where there is no build folder yet, or where the Python of the tests is not the one configured
configure() {
  local preset=$1 options=() cache="build/$1/CMakeCache.txt"
  local python="$PWD/$kVenv/bin/python"
  [[ -x $python ]] && options+=("-DSARDONYX_PYTHON=$python")
  if [[ -f build/$preset/build.ninja ]]; then
    [[ ${#options[@]} == 0 ]] && return 0
    grep -qxF "SARDONYX_PYTHON:FILEPATH=$python" "$cache" && return 0
  fi
  say "configuring build/$preset"
  cmake --preset "$preset" "${options[@]}" >"build-$preset.log" 2>&1 || {
    cat "build-$preset.log" >&2
    rm -f "build-$preset.log"
    die "cmake failed" "see its message above; ./dev clean starts from nothing"
  }
  rm -f "build-$preset.log"
}

# build_target PRESET TARGET...
build_target() {
  local preset=$1
  shift
  install_packages tools/packages.txt
  configure "$preset"
  # A terminal gets ninja's status line; a log gets messages only.
  local started=$SECONDS status=0
  if [[ -t 2 ]]; then
    ninja -C "build/$preset" -j "$(jobs)" "$@" >&2 || status=$?
  else
    say "building build/$preset: $*"
    set +e
    ninja --quiet -C "build/$preset" -j "$(jobs)" "$@" 2>&1 | grep -v '^ninja: \(no work\|Entering\)' >&2
    status=${PIPESTATUS[0]}
    set -e
  fi
  [[ $status == 0 ]] || die "the build failed" "see the compiler's first message above" "$status"
  [[ $((SECONDS - started)) -lt 2 ]] || say "built in $((SECONDS - started)) s"
}

# run_ctest PRESET [OPTION...]: ends with ctest's own closing lines
run_ctest() {
  local preset=$1
  shift
  say "running the tests of build/$preset"
  ctest --test-dir "build/$preset" --output-on-failure -j "$(jobs)" "$@"
}

# run_micro_benchmarks: those of each layer
run_micro_benchmarks() {
  local program
  for program in build/release/*_bench; do
    [[ -x $program ]] || continue
    say "running $program"
    "$program"
  done
}

# run_model_benchmarks [OPTION...]: whole models beside other runtimes
run_model_benchmarks() {
  "$kVenv/bin/python" bench/compare.py --program build/release/apps/sardonyx "$@"
}

# run_tokenizer_benchmarks [OPTION...]: tokenizers beside the package `tokenizers`
run_tokenizer_benchmarks() {
  "$kVenv/bin/python" bench/tokenizers/bench.py --build build/release "$@"
}
