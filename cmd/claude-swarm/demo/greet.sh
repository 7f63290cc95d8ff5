#!/bin/sh
# greet.sh [NAME] greets somebody by name.
echo "Hello, $1!"
