# shellcheck shell=bash
# Messages of ./dev. They go to standard error, so that standard output stays the program's own.

say() { printf 'dev: %s\n' "$*" >&2; }

# die WHAT WHAT_TO_DO [STATUS]
die() {
  printf 'dev: error: %s\n     %s\n' "$1" "$2" >&2
  exit "${3:-1}"
}

# How many compilations run at once: as many as the processors this process may use, and no more than memory carries
# (the heaviest files take about 1.2 GiB).
jobs() {
  if [[ -n ${SARDONYX_JOBS:-} ]]; then
    echo "$SARDONYX_JOBS"
    return
  fi
  local cores memory_kib limit
  cores=$(nproc)
  memory_kib=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
  limit=$((memory_kib / (1200 * 1024)))
  [[ $limit -ge 1 ]] || limit=1
  echo $((cores < limit ? cores : limit))
}
