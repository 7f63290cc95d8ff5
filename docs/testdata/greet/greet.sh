#!/bin/sh
# greet.sh NAME greets somebody, without a name the world.
echo "Hello, ${1:-world}!"
