#!/bin/sh
# Prints the commits since a tag, one on each line: hash, area, subject.
# Without an argument, since the last tag; without any tag, all of them.
set -eu

since=${1:-$(git describe --tags --abbrev=0 2>/dev/null || true)}
git log --no-merges --format='%h %s' ${since:+"$since..HEAD"} |
	sed 's/^\([0-9a-f]*\) \([a-z-]*\): /\1\t\2\t/'
