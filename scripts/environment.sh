# Sourced by the scripts beside it, with $root set to the checkout: leaves in $python an interpreter of the
# checkout's own virtual environment, which is made on first use (see set_up.py).

# A name on PATH may be a shim that does not run, or a Python without venv: only a run tells.
is_suitable() {
    "$1" -I -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_interpreter() {
    if [ -n "${PYTHON:-}" ]; then
        is_suitable "$PYTHON" && printf '%s\n' "$PYTHON" && return
        echo "PYTHON=$PYTHON is not a Python 3.11 or newer that runs and has venv." >&2
        return 1
    fi
    for candidate in "$root/.venv/bin/python" python3.13 python3.12 python3.11 python3; do
        is_suitable "$candidate" && printf '%s\n' "$candidate" && return
    done
    echo "No Python 3.11 or newer was found that runs and has venv. Name one: PYTHON=/path/to/python $0" >&2
    return 1
}

interpreter=$(find_interpreter) || exit 2
"$interpreter" -I "$root/scripts/set_up.py" || exit
python=$root/.venv/bin/python
