#!/bin/sh
# Write requirements.txt and requirements-dev.txt from the ranges in pyproject.toml.
# $1 is the Python to resolve for: use the oldest supported one (3.11), since newer ones can
# install what it can, while the newest releases may leave it out.
set -eu
python=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$python" -m pip install --quiet --disable-pip-version-check pip-tools==7.6.2
compile() {
    "$python" -m piptools compile --quiet --upgrade --strip-extras --no-header --no-annotate \
        --no-emit-index-url --no-emit-find-links --no-emit-trusted-host "$@" pyproject.toml
}
compile --extra app --output-file "$scratch/runtime"
compile --extra app --extra dev --constraint "$scratch/runtime" --output-file "$scratch/all"

{
    echo "# The app's packages with all that they need. Written by 'make lock'; not edited by hand."
    cat "$scratch/runtime"
} >requirements.txt
{
    echo "# What 'make test' needs besides. Written by 'make lock'; not edited by hand."
    echo "-r requirements.txt"
    grep -vxFf "$scratch/runtime" "$scratch/all"
} >requirements-dev.txt
