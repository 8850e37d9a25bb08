#!/bin/sh
# Check the types of the browser code with TypeScript. $1 is the virtual environment, which has node and npm.
# Without the npm registry the check is skipped with a message, since no check may need a network.
set -eu
PATH=$(cd "$1/bin" && pwd):$PATH
cd "$(dirname "$0")/javascript"

if ! cmp -s package-lock.json node_modules/installed-lock.json; then
    echo 'Installing TypeScript.'
    if ! message=$(npm ci --no-audit --no-fund --fetch-retries 1 2>&1); then
        echo "$message" | tail -n 3
        echo 'NOT CHECKED: types of the browser code. TypeScript could not be installed from the npm registry.'
        exit 0
    fi
    cp package-lock.json node_modules/installed-lock.json
fi
exec node_modules/.bin/tsc --project .
