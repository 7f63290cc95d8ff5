#!/bin/sh
# greet.sh NAME greets NAME. Without a name, it greets the world.
echo "Hello, ${1:-world}!"
