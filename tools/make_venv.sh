#!/bin/sh
# Make the virtual environment in the folder $1 with the first Python >= 3.11 that can.
# PYTHON names one to use instead of those looked for.
set -eu
venv=$1

recent() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

python=
for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.14 python}; do
    if recent "$candidate"; then
        python=$candidate
        break
    fi
done

if [ -z "$python" ]; then
    found=$("${PYTHON:-python3}" --version 2>/dev/null || echo none)
    cat >&2 <<MESSAGE
hetviz needs Python 3.11 or newer; found: $found.
  Debian 12+, Ubuntu 24.04+:  sudo apt install python3 python3-venv
  macOS:                      brew install python
  elsewhere:                  https://www.python.org/downloads/
If it is installed under another name:  make PYTHON=/path/to/python
MESSAGE
    exit 1
fi

if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    cat >&2 <<MESSAGE
Python $version is here, but not the part of it that makes virtual environments.
  Debian, Ubuntu:  sudo apt install python3-venv     (or: python$version-venv)
Then run make again.
MESSAGE
    exit 1
fi

# --clear removes an incomplete environment.
"$python" -m venv --clear "$venv" || { rm -rf "$venv"; exit 1; }
echo "Made $venv with $("$python" --version)."
