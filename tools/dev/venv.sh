# shellcheck shell=bash
# The Python environment of the tests, in .dev/venv. Each set of requirements leaves a stamp with its hash, so that an unchanged
# set costs nothing. pip's own configuration (index, certificates, cache) is honoured.

kVenv=.dev/venv

# make_venv SET FILE: makes .dev/venv hold what the requirements in FILE ask for; SET names the stamp
make_venv() {
  local set=$1 file=$2 stamp="$kVenv/.$1.sha256" hash
  hash=$(sha256sum <"$file")
  if [[ -x $kVenv/bin/python && $(cat "$stamp" 2>/dev/null) == "$hash" ]]; then
    return 0
  fi
  if ! "$kVenv/bin/python" -c '' 2>/dev/null; then
    say "making a Python environment in $kVenv"
    rm -rf "$kVenv"
    python3 -m venv "$kVenv" || die "python3 -m venv failed" "Debian's package python3-venv must be installed"
  fi
  say "installing Python packages ($set)"
  "$kVenv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$file" >&2 ||
    die "pip could not install $file" "see pip's message above; its index and certificates come from pip's own configuration"
  echo "$hash" >"$stamp"
}
