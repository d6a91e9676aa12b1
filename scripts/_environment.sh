# Sourced by every script of this folder. Gives one function:
#
#     need_environment train        what a run needs
#     need_environment train,dev    what the tests and checks need as well
#
# It makes .venv on the first call (pip, the tested versions of constraints.txt) and again when
# pyproject.toml or constraints.txt changed or an install was cut off. Afterwards `surefit`, `python` and
# `pytest` are those of .venv, and the current folder is the root of the project.
#
# PYTHON names another interpreter (3.11 or newer). pip's own settings (PIP_INDEX_URL, PIP_FIND_LINKS, ...)
# are respected. Without an NVIDIA GPU, torch comes as its CPU build where that can be had.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
venv="$root/.venv"
torch_for_cpu="https://download.pytorch.org/whl/cpu"

# The three lines of a SurefitError, for the moments before surefit can be run.
fail() {
  printf 'error: %s\n  why: %s\n next: %s\n' "$1" "$2" "$3" >&2
  exit 3
}

find_python() {
  local candidate
  for candidate in ${PYTHON:-python3.11 python3.12 python3.13 python3}; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  fail "no Python 3.11 or newer was found" \
    "tried ${PYTHON:-python3.11, python3.12, python3.13 and python3}" \
    "install Python 3.11 (Debian and Ubuntu: apt install python3.11 python3.11-venv), or set PYTHON to its path"
}

fingerprint() {
  local sum="sha256sum"
  command -v sha256sum >/dev/null 2>&1 || sum="shasum -a 256"
  cat "$root/pyproject.toml" "$root/constraints.txt" | $sum | cut -d ' ' -f 1
}

# Whether .venv holds the wanted extras in today's versions, for this very folder.
is_ready() {
  local hash extras
  { read -r hash extras <"$venv/.surefit-installed"; } 2>/dev/null || return 1
  [ "$hash" = "$(fingerprint)" ] && [ -x "$venv/bin/surefit" ] && [ -x "$venv/bin/python" ] || return 1
  [ "$extras" = "$1" ] || [ "$extras" = "train,dev" ]
}

# A cut-off install, a moved folder or a vanished interpreter: nothing in it can be relied on.
is_broken() {
  [ -e "$venv" ] || return 1
  [ ! -e "$venv/.surefit-installing" ] || return 0
  [ "$("$venv/bin/python" -c 'import sys; print(sys.prefix)' 2>/dev/null)" != "$venv" ]
}

has_gpu() { [ -e /dev/nvidiactl ] || command -v nvidia-smi >/dev/null 2>&1; }

# need_disk GIB
need_disk() {
  local free
  free="$(df -Pk "$root" | awk 'NR == 2 { print int($4 / 1048576) }')"
  [ "$free" -ge "$1" ] || fail "not enough disk for the packages" \
    "$free GiB are free in $root, the packages and torch need $1 GiB" \
    "free some space, or move this folder to another disk"
}

pip_install() {
  "$venv/bin/python" -m pip install --quiet --no-input "$@" >>"$venv/install.log" 2>&1 </dev/null
}

# The default torch for Linux carries CUDA: 5 GiB instead of 2. Without a GPU the CPU build is tried first;
# where its index cannot be reached, the default one does the same work.
install_torch_without_cuda() {
  local pin present
  pin="$(grep '^torch==' "$root/constraints.txt")"
  present="$("$venv/bin/python" -c 'from importlib.metadata import version; print(version("torch"))' 2>/dev/null || true)"
  if has_gpu || [ "torch==${present%%+*}" = "$pin" ]; then return; fi
  pip_install --no-deps --retries 0 --timeout 10 --index-url "$torch_for_cpu" "$pin" || need_disk 7
}

install() {
  local extras="$1" python log="$venv/install.log"
  if is_broken; then rm -rf "$venv"; fi
  if [ ! -e "$venv" ]; then
    if has_gpu; then need_disk 9; else need_disk 4; fi
    python="$(find_python)" || exit 3
    "$python" -m venv "$venv" >&2 || fail "cannot make the environment $venv" \
      "$python -m venv ended with $?; its message is above" \
      "install the venv module (Debian and Ubuntu: apt install python3.11-venv)"
  fi
  printf 'surefit: installing the tested packages into .venv (once; minutes) ...\n' >&2
  : >"$venv/.surefit-installing"
  rm -f "$venv/.surefit-installed"
  : >"$log"
  install_torch_without_cuda
  if ! pip_install -c "$root/constraints.txt" -e "$root[$extras]"; then
    tail -n 40 "$log" >&2
    fail "the packages could not be installed" \
      "pip's last lines are above, all of them are in $log" \
      "check the network and the disk, then run the same command again"
  fi
  printf '%s %s\n' "$(fingerprint)" "$extras" >"$venv/.surefit-installed"
  rm -f "$venv/.surefit-installing"
}

need_environment() {
  local extras="$1"
  if ! is_ready "$extras"; then
    # Two scripts at once: the second waits, then finds the work done.
    exec 9>"$root/.venv.lock"
    if command -v flock >/dev/null 2>&1; then flock 9; fi
    # An install for the tests must not be thinned out by one for a run.
    if [ "$extras" = train ] && [ -x "$venv/bin/pytest" ]; then extras="train,dev"; fi
    if ! is_ready "$extras"; then install "$extras" 9>&-; fi
    exec 9>&-
  fi
  cd "$root" || exit 3
  export VIRTUAL_ENV="$venv" PATH="$venv/bin:$PATH"
}
