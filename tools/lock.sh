#!/bin/sh
# Write requirements.txt, requirements-server.txt and requirements-dev.txt from the ranges in
# pyproject.toml. A version is the same in all three.
# $1 is the Python to resolve for: use the oldest supported one (3.11), since newer ones can
# install what it can, while the newest releases may leave it out.
set -eu
python=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$python" -m pip install --quiet --disable-pip-version-check pip-tools==7.6.2
compile() {
    "$python" -m piptools compile --quiet --upgrade --strip-extras --no-header --no-annotate \
        --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --extra app "$@" pyproject.toml
}
compile --output-file "$scratch/runtime"
compile --extra server --build-deps-for wheel --generate-hashes --allow-unsafe \
    --constraint "$scratch/runtime" --output-file "$scratch/server"
sed -n 's/^\([^ ]*==[^ ]*\).*/\1/p' "$scratch/server" >"$scratch/pins"
compile --extra dev --constraint "$scratch/pins" --output-file "$scratch/all"

{
    echo "# The app's packages with all that they need. Written by 'make lock'; not edited by hand."
    cat "$scratch/runtime"
} >requirements.txt
{
    echo "# A server's packages with hashes, and those that build hetviz: see docs/how-to/deploy.md."
    echo "# Written by 'make lock'; not edited by hand."
    cat "$scratch/server"
} >requirements-server.txt
{
    echo "# What 'make test' needs besides. Written by 'make lock'; not edited by hand."
    echo "-r requirements.txt"
    grep -vxFf "$scratch/runtime" "$scratch/all"
} >requirements-dev.txt
