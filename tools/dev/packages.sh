# shellcheck shell=bash
# Debian packages. A list is a text file of one package a line; `#` starts a comment.

package_names() { sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' "$@"; }

# missing_packages LIST...: those of the lists that are not installed
missing_packages() {
  local names
  names=$(package_names "$@")
  # shellcheck disable=SC2086
  comm -23 <(sort -u <<<"$names") \
    <(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' $names 2>/dev/null | awk '$1 == "ii" {print $2}' | sort -u)
}

# install_packages LIST...: installs what is missing; asks apt for nothing when all is there
install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    die "this is not Debian (no dpkg and apt-get): packages cannot be installed" \
      "install the equivalents of $* by hand, then use cmake --preset release && ninja -C build/release"
  fi
  local missing
  missing=$(missing_packages "$@" | tr '\n' ' ')
  [[ -n ${missing// /} ]] || return 0

  local sudo=()
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || die "Debian packages are missing and neither root nor sudo is at hand" \
      "as root: apt-get install $missing"
    sudo=(sudo)
  fi
  say "installing Debian packages: $missing"
  local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0)
  "${apt[@]}" update >&2 || die "apt-get update failed" "check the network and /etc/apt/sources.list, then run this again"
  # shellcheck disable=SC2086
  "${apt[@]}" install -y --no-install-recommends $missing >&2 ||
    die "apt-get install failed" "Debian 12 (bookworm) has every package of $*: see apt's message above"
}
