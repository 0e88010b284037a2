#!/usr/bin/env bash
# Tries ./dev on a Debian 12 that has nothing installed: what this machine has would hide a missing step.
#
#   tools/fresh_root.sh [--keep] ROOT COMMAND...      e.g.  tools/fresh_root.sh /tmp/fresh ./dev test
#
# Makes a minimal bookworm in ROOT (kept between calls with --keep, else remade), clones this repository's HEAD into it and runs
# COMMAND there, as root. Apt's sources, pip's configuration and the certificates of this machine are copied, so that both find
# their registries. A folder `shared` beside the repository, where there is one, is copied too. Needs root and debootstrap.
set -euo pipefail
arguments=("$@")
keep=0
[[ ${1:-} == --keep ]] && { keep=1; shift; }
[[ $# -ge 2 ]] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
# Mounts are made in a namespace of their own: a killed run leaves none behind, through which removing ROOT by hand would remove
# this machine's devices.
[[ -n ${FRESH_ROOT_NAMESPACE:-} ]] || FRESH_ROOT_NAMESPACE=1 exec unshare --mount --propagation private "$0" "${arguments[@]}"
root=$1
shift
repository=$(dirname "$(dirname "$(readlink -f "$0")")")

unmount() {
  for mounted in dev/shm dev proc sys; do umount -q -R -l "$root/$mounted" || true; done
}
trap unmount EXIT
if [[ $keep == 0 || ! -e $root/etc/debian_version ]]; then
  unmount
  rm -rf --one-file-system "$root"
  debootstrap --variant=minbase bookworm "$root" http://deb.debian.org/debian
fi
cp -r /etc/ssl/certs "$root/etc/ssl/"
mkdir -p "$root/usr/local/share"
[[ ! -d /usr/local/share/ca-certificates ]] || cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
[[ ! -f /etc/pip.conf ]] || cp /etc/pip.conf "$root/etc/"
cp -r /etc/apt/apt.conf.d "$root/etc/apt/"
rm -f "$root"/etc/apt/apt.conf.d/{20packagekit,50appstream}
mkdir -p "$root/srv/project"
rm -rf "$root/srv/project/shared"
[[ ! -d $repository/../shared ]] || cp -r "$repository/../shared" "$root/srv/project/shared"
if [[ ! -d $root/srv/project/sardonyx/.git ]]; then
  git clone -q --no-hardlinks "$repository" "$root/srv/project/sardonyx"
else
  git -C "$repository" bundle create -q "$root/srv/project/head.bundle" HEAD
  git -C "$root/srv/project/sardonyx" fetch -q "$root/srv/project/head.bundle" HEAD
  git -C "$root/srv/project/sardonyx" reset -q --hard FETCH_HEAD
fi
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys" && mount --make-rslave "$root/sys"
mount --bind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"
kept=()
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE \
  PIP_CERT PIP_INDEX_URL PIP_DEFAULT_TIMEOUT; do
  [[ -z ${!name:-} ]] || kept+=("$name=${!name}")
done
chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "${kept[@]}" \
  bash -c 'cd /srv/project/sardonyx && exec "$@"' bash "$@"
