#!/bin/sh
# test.sh proves what greet.sh says.
got=$(sh greet.sh)
[ "$got" = "Hello, World!" ] || { echo "FAIL: $got"; exit 1; }
echo ok
