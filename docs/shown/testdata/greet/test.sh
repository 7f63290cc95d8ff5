#!/bin/sh
# test.sh checks the output of greet.sh.
got=$(sh greet.sh)
[ "$got" = "Hello, World!" ] || { echo "FAIL: $got"; exit 1; }
echo ok
