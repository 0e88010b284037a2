# shellcheck shell=bash
# Formatting and static checks.

cxx_files() { git ls-files --cached --others --exclude-standard '*.h' '*.cc' | sort -u; }

# changed_files: C++ files that differ from the main branch, or are new
changed_files() {
  local base
  base=$(git merge-base HEAD origin/main 2>/dev/null || git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
  {
    git diff --name-only --diff-filter=d "$base" -- '*.h' '*.cc'
    git ls-files --others --exclude-standard '*.h' '*.cc'
  } | sort -u
}

format_sources() {
  install_packages tools/packages-lint.txt
  cxx_files | xargs -r clang-format-19 -i
}

# tidy_files FILE...: clang-tidy of the .cc files among them, as many at once as there are processors
tidy_files() {
  configure release
  printf '%s\n' "$@" | grep '\.cc$' | grep -v '\.simd\.cc$' |
    xargs -r -P "$(jobs)" -n 1 clang-tidy-19 -p build/release --quiet --warnings-as-errors='*' \
      --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-ignored-optimization-argument
}

lint() {
  local failed=0 files
  install_packages tools/packages.txt tools/packages-lint.txt
  if [[ ${1:-} == --all ]]; then files=$(cxx_files); else files=$(changed_files); fi
  say "layers"
  python3 tools/check_layers.py || failed=1
  if [[ -n $files ]]; then
    say "formatting"
    xargs clang-format-19 --dry-run --Werror <<<"$files" || { failed=1; say "./dev format repairs it"; }
    say "clang-tidy on $(wc -l <<<"$files") files"
    # shellcheck disable=SC2086
    tidy_files $files || failed=1
  fi
  [[ $failed == 0 ]] || die "lint found faults" "see above"
  say "clean"
}
