//! Table of shell commands ([`CommandRow`]): the meaning of their options and operands.
//!
//! For an unknown command, operands that look like paths are used.

/// Description of similar commands.
#[derive(Debug)]
pub(super) struct CommandRow {
    /// Names of the commands, separated by spaces.
    pub(super) names: &'static str,
    /// Options with a value that is not a path, separated by spaces: `-n --lines`.
    pub(super) valued: &'static str,
    /// Options with a value that is a path.
    pub(super) paths: &'static str,
    /// Options with the directory to which the command changes first.
    pub(super) dirs: &'static str,
    /// Meaning of the operands.
    pub(super) shape: OperandShape,
}

/// Meaning of the operands of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OperandShape {
    /// Each is a path.
    Paths,
    /// Each is a path; defaults to the working directory.
    Listing,
    /// The first is a pattern or a program, unless one of these options gives it; the rest are
    /// paths.
    Pattern(&'static str),
    /// A pattern, then paths, which default to the working directory.
    Grep(&'static str),
    /// The first N are not paths; the rest are.
    Skip(usize),
    /// Each is a path, unless it is on another machine: `host:path`.
    Copies,
    /// None is a path.
    Nothing,
    /// The first is a program that is run, unless one of these options gives it; later operands
    /// that look like paths are used.
    Script(&'static str),
    /// Operands that look like paths.
    Guess,
    /// A command follows after N operands and any assignments.
    Prefix(usize),
    /// Like a prefix if the first operand is one of these words, otherwise like
    /// [`OperandShape::Guess`].
    Runner(&'static str),
    /// Changes the directory.
    Cd,
    /// Changes back to the previous directory.
    Popd,
    /// `sh -c 'text'`, `sh file`, `sh <<E`.
    Shell,
    /// All operands together form a command.
    Eval,
    /// `find dir… tests -exec command ;`.
    Find,
    /// `test -f path`.
    Test,
    /// `name=value` operands: `dd if=a of=b`.
    Pairs,
    /// The git commands; see [`super::git`].
    Git,
    /// `tar xzf a.tgz`.
    Tar,
    /// Reads a patch from a here-document or an argument.
    Patch,
}

const fn row(names: &'static str, valued: &'static str, shape: OperandShape) -> CommandRow {
    CommandRow { names, valued, paths: "", dirs: "", shape }
}

impl CommandRow {
    const fn paths(self, paths: &'static str) -> CommandRow {
        CommandRow { paths, ..self }
    }

    const fn dirs(self, dirs: &'static str) -> CommandRow {
        CommandRow { dirs, ..self }
    }

    /// Returns whether an option takes a value.
    pub(super) fn is_valued(&self, option: &str) -> bool {
        [self.valued, self.paths, self.dirs].iter().any(|it| has(it, option))
    }
}

/// Row for unknown commands.
pub(super) const UNKNOWN: CommandRow = row("", "", OperandShape::Guess);

/// Returns the row of a command.
pub(super) fn row_of(name: &str) -> Option<&'static CommandRow> {
    COMMANDS.iter().find(|row| has(row.names, name))
}

/// Returns whether `list` contains `word`.
pub(super) fn has(list: &str, word: &str) -> bool {
    list.split(' ').any(|one| one == word && !word.is_empty())
}

use OperandShape::{
    Cd, Copies, Eval, Find, Git, Grep, Guess, Listing, Nothing, Pairs, Patch, Paths, Pattern, Popd,
    Prefix, Runner, Script, Shell, Skip, Tar, Test,
};

const COMMANDS: &[CommandRow] = &[
    // Reading.
    row("cat tac nl zcat bzcat xzcat zstdcat gzcat rev sponge tee", "", Paths),
    row("strings", "-n -t -e --bytes", Paths),
    row("head tail", "-n -c -s --lines --bytes --pid --sleep-interval", Paths),
    row("less more most pg", "-p -P -j -x -b", Paths),
    row(
        "bat batcat",
        "-l -r -H -m --language --line-range --highlight-line --style --theme --color --paging --map-syntax --wrap --tabs",
        Paths,
    ),
    row("wc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum", "", Paths)
        .paths("--files0-from"),
    row("stat", "-c -f -t --format --printf", Paths),
    row("file", "-m -F -P", Paths).paths("-f"),
    row("od xxd hexdump hd", "-l -s -c -g -n -A -j -N -e -t -w", Paths),
    row("cut paste column fold fmt expand unexpand pr comm join look", "-d -f -c -b -w -t -s -o -1 -2 -a -v -e --delimiter --fields --characters --width --separator",
        Paths),
    row("sort", "-k -t -S --key --field-separator --buffer-size --parallel --batch-size", Paths)
        .paths("-o --output -T --files0-from"),
    row("uniq", "-f -s -w --skip-fields --skip-chars --check-chars", Paths),
    row("diff colordiff delta cmp diff3 sdiff wdiff", "-U -C -I -x -W -F -n -i --context --unified --ignore-matching-lines --exclude --label",
        Paths),
    row("base64 base32 uuencode", "-w --wrap", Paths),
    row("jq", "--indent --tab --arg --argjson", Pattern("-f --from-file"))
        .paths("-f --from-file -L"),
    row("yq dasel fx gron xq", "-o -p -I --output-format --input-format", Pattern("-f")),
    row("xmllint", "--xpath --format --encode", Paths).paths("--schema --output"),
    row("readlink realpath basename dirname", "-s --suffix --relative-to --relative-base", Paths),
    row("open xdg-open", "-a", Paths),
    // Searching.
    row(
        "grep egrep fgrep zgrep rgrep ugrep ug",
        "-e -A -B -C -m --regexp --after-context --before-context --context --max-count --include --exclude --exclude-dir --color --colour --label -d -D --binary-files",
        Grep("-e -f --regexp --file"),
    )
    .paths("-f --file --exclude-from"),
    row(
        "rg ripgrep",
        "-e -A -B -C -m -g -t -T -r -M -j -E -d --regexp --after-context --before-context --context --max-count --glob --iglob --type --type-not --type-add --replace --max-columns --max-depth --threads --encoding --engine --sort --sortr --color --colors --max-filesize --context-separator --path-separator --pre-glob --field-match-separator",
        Grep("-e -f --regexp --file --files --type-list"),
    )
    .paths("-f --file --ignore-file --pre"),
    row("ag ack pt sift", "-A -B -C -m -G -g --depth --ignore --ignore-dir --type --after --before --context",
        Grep("-g --match")),
    row("ast-grep sg", "-p -l -r --pattern --lang --rewrite --json --strictness", Guess),
    row("fd fdfind", "-e -t -d -E -S -c -j -o --extension --type --max-depth --min-depth --exact-depth --exclude --size --changed-within --changed-before --color --threads --owner",
        Grep("")),
    row("find gfind", "", Find),
    row("ls dir vdir tree eza exa lsd ll la", "-I -w -T -L -P --ignore --hide --sort --time --color --level --format --width --git-ignore",
        Listing),
    row("du ncdu df", "-d -B -t --max-depth --block-size --exclude --threshold", Listing),
    // Editing in streams.
    row("sed gsed", "-l -e --line-length --expression", Pattern("-e -f --expression --file"))
        .paths("-f --file"),
    row("awk gawk mawk nawk", "-F -v --field-separator --assign", Pattern("-f --file"))
        .paths("-f --file"),
    row("perl", "-M -I -F -e -E", Script("-e -E")),
    row("sd", "-f -n", Skip(2)),
    row("patch", "-p -F -d -r -V", Paths).paths("-i --input -o"),
    row("apply_patch applypatch", "", Patch),
    // Writing.
    row("cp install rsync ditto", "-m -o -g -S -e --mode --owner --group --suffix --exclude --include --rsh --filter --max-size --bwlimit",
        Copies)
        .paths("-t --target-directory --exclude-from --files-from"),
    row("ln mv rename", "-S --suffix", Copies).paths("-t --target-directory"),
    row("scp sftp", "-i -P -o -F -c -l", Copies),
    row("rm rmdir unlink shred srm trash", "-n", Paths),
    row("mkdir mkfifo mknod", "-m --mode -Z", Paths),
    row("touch", "-d -t --date --time", Paths).paths("-r --reference"),
    row("truncate fallocate", "-s -l -o --size --length --offset", Paths).paths("-r"),
    row("chmod chown chgrp chattr setfacl", "-m -x", Skip(1)).paths("--reference"),
    row("mktemp", "-p --suffix", Nothing),
    row("dd", "", Pairs),
    row("split csplit", "-l -b -n -a -d --lines --bytes", Paths),
    row("tar bsdtar", "-I --exclude --transform --strip-components", Tar).paths("-C --directory"),
    row("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4", "-S --suffix", Paths),
    row("zip 7z 7za unzip unrar", "-x -P", Paths).paths("-d"),
    row("vi vim nvim nano emacs ed ex micro hx code subl kak", "-c -S -u --cmd", Paths),
    // Running.
    row("sh bash zsh dash ksh ash fish", "-o -O +o +O --rcfile --init-file", Shell),
    row("source .", "", Script("")),
    row("eval", "", Eval),
    row("python python2 python3 pypy pypy3 py", "-W -X -Q -c -m", Script("-c -m")),
    row("node nodejs", "-r -e -p --eval --print --require --import --loader --max-old-space-size --conditions --test-name-pattern", Script("-e -p --eval --print"))
        .paths("--env-file"),
    row("ruby", "-I -r -E -C", Script("-e")),
    row("php", "-d -S -t -r", Script("-r")).paths("-f -c"),
    row("lua luajit Rscript julia swift groovy tsx ts-node ts-node-esm babel-node osascript guile racket elixir escript",
        "-l -e -E --eval --loader --project", Script("-e -E --eval")),
    row("java", "-cp -classpath --class-path -p", Script("-jar")).paths("-jar"),
    row("deno", "--config --import-map --allow-read", Runner("run test bench check lint fmt cache eval task")),
    row("bun", "--cwd --config", Runner("run test x")),
    row("make gmake just task", "-j -l -o -W", Guess)
        .paths("-C --directory -f --file --makefile --justfile -d -I"),
    row("cmake", "-G -D -U -T -A --target --preset --config -j", Guess)
        .paths("-S -B --build -P --install"),
    row("ninja meson", "-j -k -l -t", Guess).paths("-C -f"),
    row("gcc g++ cc c++ clang clang++ rustc javac tsc go", "-D -U -l -std -target -p --target --edition --crate-type --emit -run -tags -ldflags", Guess)
        .paths("-o -I -L -p --project --outDir -C"),
    row("gofmt goimports rustfmt prettier black isort clang-format autopep8 yapf shfmt", "--edition --config-path --parser --line-length -l --style", Guess),
    row("cargo", "-p -j -F --package --features --bin --example --test --bench --target --profile --color --message-format --exclude", Guess)
        .paths("--manifest-path -C --target-dir --path"),
    row("npm pnpm yarn lerna nx turbo", "-w --workspace --filter -F --registry", Runner("exec dlx"))
        .dirs("--prefix -C --dir --cwd"),
    row("uv poetry pdm pipenv hatch rye conda mamba", "-p --python --group --extra --with -n --name", Runner("run"))
        .dirs("--directory --project -C"),
    row("npx bunx uvx pipx", "-p --package -c --python --from --with", Prefix(0)),
    row("pytest py.test", "-k -m -n -p -o -W --maxfail --tb --durations --cov-report --timeout", Guess)
        .paths("-c --rootdir --cov --ignore --junitxml"),
    row("docker podman docker-compose", "-e -v -p -t --name --network --platform --build-arg --target", Guess)
        .paths("-f --file --env-file"),
    row("kubectl helm oc", "-n -l -o --namespace --context --selector --set", Guess)
        .paths("-f --filename -k --values"),
    row("terraform tofu", "-var -target", Guess).paths("-chdir -var-file -out"),
    row("curl", "-H -X -d -u -A -e -b -m -w -x -F --header --request --data --data-raw --data-urlencode --user --max-time --write-out --form --retry --url --json", Nothing)
        .paths("-o --output -T --upload-file -K --cacert -c"),
    row("wget", "-U -t -T --header --user-agent --tries --timeout", Nothing)
        .paths("-O -o -P -i"),
    row("gh glab hub", "-R -t -b -l -a -r -q --repo --title --body --label --jq --json --state --limit --method -X -f --field", Nothing)
        .paths("-F --body-file --input"),
    row("git", "", Git),
    row("test [ [[", "", Test),
    row("sqlite3", "-cmd -separator", Guess),
    row("psql mysql redis-cli mongosh ssh", "-h -p -U -u -d -c -e -i -o -l", Nothing).paths("-f"),
    // Commands that run another command.
    row("sudo doas", "-u -g -h -p -C -r -t -U --user --group --host --prompt", Prefix(0)),
    row("env", "-u -S --unset --split-string", Prefix(0)).dirs("-C --chdir"),
    row("nice ionice chrt taskset renice", "-n -c -p --adjustment --class --classdata", Prefix(0)),
    row("timeout gtimeout", "-k -s --kill-after --signal", Prefix(1)),
    row("flock", "-w -E", Prefix(1)),
    row("time command builtin exec nohup setsid caffeinate chronic unbuffer then do else noglob doit", "-a -o -f --format --output", Prefix(0)),
    row("stdbuf strace ltrace", "-i -o -e -p -s --input --output --error", Prefix(0)),
    row("watch entr hyperfine", "-n -w -r --interval --warmup --runs", Prefix(0)),
    row("xargs gxargs parallel", "-n -I -i -P -L -l -d -E -s -j --max-args --replace --max-procs --max-lines --delimiter --max-chars --jobs",
        Prefix(0))
        .paths("-a --arg-file"),
    row("cd chdir pushd", "", Cd),
    row("popd", "", Popd),
    // Commands without paths.
    row("locate which whereis type hash tr seq expr bc echo printf true false : exit return break continue shift set unset export declare local readonly trap wait kill pkill killall sleep date whoami id uname hostname ps top free uptime jobs fg bg alias unalias ulimit umask read let pwd clear history tput stty nproc arch yes man info apropos apt apt-get brew pip pip3 gem systemctl journalctl service ping nc dig host nslookup openssl", "", Nothing),
];
