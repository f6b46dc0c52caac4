#!/bin/sh
# Installs skillsd @VERSION@ from its tarball, after comparing the checksum:
#
#     sh install.sh [PREFIX]
#
# PREFIX is ~/.local, for root /usr/local. SKILLSD_DOWNLOADS names another place of the tarballs.
# packaging/release fills in the version and the checksums.
set -eu
if [ "$(id -u)" = 0 ]; then
	prefix=${1:-/usr/local}
	# For all users, whatever the mask of root.
	umask 022
else
	prefix=${1:-${HOME:?is not set: set it, or name a PREFIX}/.local}
fi
downloads=${SKILLSD_DOWNLOADS:-@DOWNLOADS@}

wanted=
case $(uname -s)-$(uname -m) in
Linux-x86_64) target=x86_64-unknown-linux-musl wanted=@x86_64-unknown-linux-musl@ ;;
Linux-aarch64) target=aarch64-unknown-linux-musl wanted=@aarch64-unknown-linux-musl@ ;;
Darwin-arm64) target=aarch64-apple-darwin wanted=@aarch64-apple-darwin@ ;;
Darwin-x86_64) target=x86_64-apple-darwin wanted=@x86_64-apple-darwin@ ;;
esac
[ -n "$wanted" ] || {
	echo "there is no program for $(uname -s) on $(uname -m): run \`cargo install --path daemon\` in a checkout" >&2
	exit 1
}

if command -v curl >/dev/null; then
	download="curl -fsSL -o"
elif command -v wget >/dev/null; then
	download="wget -q -O"
else
	echo "neither curl nor wget is installed: install one of them" >&2
	exit 1
fi

name=skillsd-@VERSION@-$target
[ ! -d "$prefix/bin/skillsd" ] || {
	echo "$prefix/bin/skillsd is a directory: remove it, or name another PREFIX" >&2
	exit 1
}
scratch=
trap 'rm -rf "$scratch"' EXIT
# A signal does not run the trap of EXIT in every shell.
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
scratch=$(mktemp -d)
$download "$scratch/$name.tar.gz" "$downloads/$name.tar.gz"
if command -v sha256sum >/dev/null; then sums="sha256sum"; else sums="shasum -a 256"; fi
found=$($sums "$scratch/$name.tar.gz" | cut -d ' ' -f 1)
[ "$found" = "$wanted" ] || {
	echo "$downloads/$name.tar.gz has the checksum $found, not $wanted: nothing was installed" >&2
	exit 1
}

tar -xzf "$scratch/$name.tar.gz" -C "$scratch"
mkdir -p "$prefix"
prefix=$(CDPATH="" cd "$prefix" && pwd)
mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" \
	"$prefix/share/zsh/site-functions" "$prefix/share/fish/vendor_completions.d"
cd "$scratch/$name"
# A copy over the file of a running daemon fails; a rename replaces it, and a failed copy leaves it.
cp skillsd "$prefix/bin/skillsd.new"
mv -f "$prefix/bin/skillsd.new" "$prefix/bin/skillsd"
cp man/man1/*.1 "$prefix/share/man/man1"
cp completions/skillsd.bash "$prefix/share/bash-completion/completions/skillsd"
cp completions/skillsd.zsh "$prefix/share/zsh/site-functions/_skillsd"
cp completions/skillsd.fish "$prefix/share/fish/vendor_completions.d/skillsd.fish"
echo "installed $prefix/bin/skillsd"
