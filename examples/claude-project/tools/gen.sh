#!/bin/sh
# Makes generated/count.txt: how many greetings there are.
mkdir -p generated
wc -l < greetings.txt > generated/count.txt
