//! Commands as agents write them, with the files that they touch.

use std::path::{Path, PathBuf};

use super::*;

fn dirs() -> CommandDirs {
    CommandDirs { cwd: "/w/p".into(), top: "/w".into(), home: Some("/h".into()) }
}

/// Formats the touched files; paths below the working directory are relative.
fn touched_files(command: &str) -> String {
    let words = files(command, &dirs()).into_iter().map(|path| {
        let path = path.strip_prefix("/w/p").unwrap_or(&path).display().to_string();
        if path.is_empty() { ".".to_owned() } else { path }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn wildcards_name_the_files_on_the_disk() {
    let top = tempfile::TempDir::new().expect("made");
    for file in ["a.rs", "b.rs", "notes.txt", "sub [1]/c.rs"] {
        let path = top.path().join(file);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        std::fs::write(path, "").expect("written");
    }
    let cwd = top.path().join("sub [1]");
    let dirs = CommandDirs { cwd, top: top.path().to_owned(), home: Some(top.path().to_owned()) };
    let check = |command: &str, expected: &[&str]| {
        let found = files(command, &dirs);
        let found = found.iter().map(|it| it.strip_prefix(top.path()).expect("below"));
        let found: Vec<_> = found.map(|it| it.to_str().expect("text")).collect();
        assert_eq!(found, expected, "{command}");
    };
    check("cat *.rs", &["sub [1]", "sub [1]/c.rs"]);
    check("cat '*.rs'", &["sub [1]/*.rs"]);
    check("cat ../*.rs", &["", "a.rs", "b.rs"]);
    check("cat ~/[a]*", &["", "a.rs"]);
    check("cd .. && wc -l {a,n}*", &["", "a.rs", "notes.txt"]);
}

#[track_caller]
fn check(table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .map(|(command, expected)| (command, expected, touched_files(command)))
        .filter(|(_, expected, found)| *expected != found)
        .map(|(command, expected, found)| {
            format!("{command}\n  expected: {expected}\n  found:    {found}")
        })
        .collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn reading_commands_touch_their_files() {
    check(&[
        ("cat a.txt b.txt", "a.txt b.txt"),
        ("cat -n src/main.rs", "src/main.rs"),
        ("cat /etc/hosts", "/etc/hosts"),
        ("cat ./a/../b.txt", "b.txt"),
        ("cat ../up.txt", "/w/up.txt"),
        ("cat -", ""),
        ("cat < in.txt", "in.txt"),
        ("head -n 20 src/lib.rs", "src/lib.rs"),
        ("head -20 src/lib.rs", "src/lib.rs"),
        ("head -n20 src/lib.rs src/b.rs", "src/lib.rs src/b.rs"),
        ("tail -f log/dev.log", "log/dev.log"),
        ("tail --lines=50 log/dev.log", "log/dev.log"),
        ("less +G README.md", "+G README.md"),
        ("nl -ba src/lib.rs | sed -n '10,40p'", "src/lib.rs"),
        ("bat --line-range 1:20 src/lib.rs", "src/lib.rs"),
        ("wc -l src/*.rs", "src"),
        ("sort -k 2 -t , data.csv -o sorted.csv", "sorted.csv data.csv"),
        ("diff -u old.c new.c", "old.c new.c"),
        ("jq '.scripts' package.json", "package.json"),
        ("jq -r .name package.json", "package.json"),
        ("stat -c %s a.bin", "a.bin"),
        ("xxd -l 64 a.bin", "a.bin"),
        ("file a b", "a b"),
        ("cut -d: -f1 /etc/passwd", "/etc/passwd"),
        ("md5sum a.iso", "a.iso"),
        ("cat \"with space.txt\" 'and $this'", "with space.txt and $this"),
        ("cat a\\ b.txt", "a b.txt"),
        ("cat 'it'\"'\"'s.txt'", "it's.txt"),
        ("cat $'tab\\there'", "tab\there"),
        ("cat ~/notes.md ~other/x", "/h/notes.md"),
        ("cat \"$HOME/notes.md\" \"${HOME}/b\"", "/h/notes.md /h/b"),
        ("cat src/{a,b}.rs", "src/a.rs src/b.rs"),
        ("cat {a,{b,c}d}{,.x}", "a a.x bd bd.x cd cd.x"),
        ("cat {a} '{b,c}' x{d,e f}", "{a} {b,c} x{d,e f}"),
        ("cat {{a,b} {c,d}{e}", "{a {b c{e} d{e}"),
        ("cat café/naïve.md", "café/naïve.md"),
    ]);
}

#[test]
fn searching_commands_touch_their_directories() {
    check(&[
        ("rg TODO src", "src"),
        ("rg -n \"fn main\" src tests/a.rs", "src tests/a.rs"),
        ("rg TODO", "."),
        ("rg -g '*.rs' -C 3 TODO crates/core", "crates/core"),
        ("rg --files src", "src"),
        ("rg -e one -e two src", "src"),
        ("rg --type rust 'a b' -l src", "src"),
        ("grep -rn \"pattern\" packages/web", "packages/web"),
        ("grep -rn 'x' --include='*.ts' src/ lib/", "src lib"),
        ("grep -A3 -B 2 needle file.txt", "file.txt"),
        ("grep -f patterns.txt data.txt", "patterns.txt data.txt"),
        ("grep -E '^(a|b)' a.txt || true", "a.txt"),
        ("find . -name '*.rs'", "."),
        ("find src tests -type f -name \"*.py\" -not -path '*/x/*'", "src tests"),
        ("find packages/web -name SKILL.md -exec cat {} \\;", "packages/web"),
        ("find a -newer b.txt -print", "a b.txt"),
        ("find -L lib -maxdepth 2", "lib"),
        ("find . -name '*.rs' | xargs grep -l foo", "."),
        ("find src -name '*.o' -exec rm -f {} + -o -fprint list.txt", "src list.txt"),
        ("ls -la src", "src"),
        ("ls", "."),
        ("tree -L 2 -I node_modules packages", "packages"),
        ("fd -e rs config src", "src"),
        ("du -sh target", "target"),
        ("ag --ignore dist foo app", "app"),
        ("ls src/**/*.rs", "src"),
        ("find . -name '*.ts' -exec mv {} packages/web/ \\;", ". packages/web"),
        ("find . -exec sh -c 'cat notes.txt' \\; -newer b.txt", ". notes.txt b.txt"),
        ("find src -exec grep -l foo extra.txt {} +", "src extra.txt"),
        ("find src -exec ls -l {} + -okdir cp {} out/{} ';'", "src out"),
    ]);
}

#[test]
fn writing_commands_touch_their_targets() {
    check(&[
        ("sed -n 1,10p src/main.rs", "src/main.rs"),
        ("sed -n '1,10p;20q' a.rs b.rs", "a.rs b.rs"),
        ("sed -i 's/a/b/g' src/main.rs", "src/main.rs"),
        ("sed -i.bak -e 's#/x/y#/z#' -e 's/a/b/' conf/app.toml", "conf/app.toml"),
        ("sed -f script.sed in.txt", "script.sed in.txt"),
        ("awk -F, '{print $2}' data.csv", "data.csv"),
        ("awk -v n=3 'NR==n' src/lib.rs", "src/lib.rs"),
        ("awk 'BEGIN{x=1} {print}' n=2 a.txt", "a.txt"),
        ("perl -pi -e 's/a/b/' src/a.rs", "src/a.rs"),
        ("perl -ne 'print if /x/' src/a.rs", "src/a.rs"),
        ("tee out/log.txt", "out/log.txt"),
        ("make 2>&1 | tee -a build.log", "build.log"),
        ("echo hi > out.txt", "out.txt"),
        ("echo hi >> notes/today.md", "notes/today.md"),
        ("cmd > /dev/null 2>&1", ""),
        ("cmd &> all.log", "all.log"),
        ("cmd 2> err.log < in.txt", "err.log in.txt"),
        (
            "cat > src/new.rs <<'EOF'\nfn main() { cat(\"other.txt\") }\n/not/a/path.rs\nEOF",
            "src/new.rs",
        ),
        ("cat <<EOF > out.md\ntext $(cat inner.txt)\nEOF", "out.md inner.txt"),
        ("cat <<EOF | tee a.txt\nx\nEOF", "a.txt"),
        ("cp src/a.rs src/b.rs", "src/a.rs src/b.rs"),
        ("cp -r templates/* out/", "templates out"),
        ("cp -t dest a b", "dest a b"),
        ("mv old.rs new.rs", "old.rs new.rs"),
        ("rm -rf build dist/x", "build dist/x"),
        ("mkdir -p a/b/c && touch a/b/c/d.txt", "a/b/c a/b/c/d.txt"),
        ("chmod +x scripts/run.sh", "scripts/run.sh"),
        ("chmod 755 scripts/run.sh", "scripts/run.sh"),
        ("ln -s ../real.txt link.txt", "/w/real.txt link.txt"),
        ("dd if=in.bin of=out.bin bs=1M", "in.bin out.bin"),
        ("tar czf out.tgz src docs", "out.tgz src docs"),
        ("tar -xzf in.tgz -C dest", "in.tgz dest"),
        ("rsync -av src/ host:/srv/app", "src"),
        ("patch -p1 < fix.patch", "fix.patch"),
        ("truncate -s 0 app.log", "app.log"),
        ("sd foo bar Makefile", "Makefile"),
        ("sd -f i 'a/b' 'c/d' x.txt", "x.txt"),
        ("cat foo:bar.txt", "foo:bar.txt"),
        ("mv a:b.txt c.txt && ln d:e f && cp g:h i", "c.txt f i"),
        ("tar -xzf in.tgz member.txt", "in.tgz"),
        ("tar tf a.tgz src/x", "a.tgz"),
        ("tar -df a.tgz", "a.tgz"),
        ("tar --create --file=a.tar x -C y z", "a.tar y x z"),
        (
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** Add File: b/c.md\n*** End Patch\nEOF",
            "src/a.rs b/c.md",
        ),
    ]);
}

#[test]
fn paths_follow_the_working_directory() {
    check(&[
        ("cd packages/web && cat src/a.ts", "packages/web packages/web/src/a.ts"),
        ("cd packages/web; rg foo", "packages/web"),
        ("cd a && cd b && cat c; cd .. && cat d", "a a/b a/b/c a/d"),
        ("(cd a && cat b); cat c", "a a/b c"),
        ("cd a || exit 1\ncat b", "a a/b"),
        ("cd \"$UNKNOWN\" && cat a.txt /abs.txt", "/abs.txt"),
        ("cd /srv && cat x", "/srv /srv/x"),
        ("cd && cat x", "/h/x"),
        ("cd - && cat x", "x"),
        ("cd a && cat b && cd - && cat c", "a a/b c"),
        ("pushd a >/dev/null && cat b; popd && cat c", "a a/b c"),
        ("cat a | (cd b; cat c) | cat", "a b b/c"),
        ("FILE=src/a.rs; cat \"$FILE\"", "src/a.rs"),
        ("D=src cat \"$D/x.rs\"", "src/x.rs"),
        ("D=packages; E=$D/web; ls ${E}/src", "packages/web/src"),
        ("export F=a.md && cat $F", "a.md"),
        ("cat $UNKNOWN src/$UNKNOWN.rs", "src"),
        ("cat ${F:-x.txt}", ""),
        ("for f in a.rs b.rs; do cat \"src/$f\"; done", "src/a.rs src/b.rs"),
        ("for f in src/*.rs; do wc -l $f; done", "src"),
        ("for f in a b; do for g in x y; do cat $f/$g; done; done", "a/x a/y b/x b/y"),
        ("for f in 'a,b' {c,d}; do cat $f.rs; done", "a,b.rs c.rs d.rs"),
        ("F=a; F+=/b.rs; cat $F", "a/b.rs"),
        ("while read -r l; do echo \"$l\"; done < list.txt", "list.txt"),
        ("if [ -f a.toml ]; then cat a.toml; else cat b.toml; fi", "a.toml b.toml"),
        ("[[ -d src && ! -e out/x ]] && ls src", "src out/x"),
        ("[[ src/a.rs -nt out.o ]]", "src/a.rs out.o"),
        ("[ a.rs -ot b.rs ] || [[ $x == c.rs ]]", "a.rs b.rs"),
        ("test -f package.json && npm test", "package.json"),
        ("case $x in a.txt) cat one;; *) cat two;; esac", "one two"),
        ("f() { cat a.txt; }; f", "a.txt"),
        ("! cat a && { cat b; }", "a b"),
        ("cat $(pwd)/a.txt", "a.txt"),
        ("cat \"$(git rev-parse --show-toplevel)/a.txt\"", "/w/a.txt"),
        ("cat \"$PWD/a.txt\"", "a.txt"),
        ("cat *.md", "."),
        ("cd a && cat b > c", "a a/c a/b"),
        ("cd a && cd b && cat > c <<'E'\nx\nE", "a a/b a/b/c"),
        ("mkdir a && cd a || exit 1 && (cd b; cat c) > d", "a a/d a/b a/b/c"),
    ]);
}

#[test]
fn loops_run_once_for_each_value() {
    check(&[
        (
            "for d in web api; do (cd $d && cat package.json); done",
            "web web/package.json api api/package.json",
        ),
        ("for d in a b; do cd $d && cat x && cd ..; done", "a a/x . b b/x"),
        ("for d in a b; do git -C $d diff -- x.rs; done", "a a/x.rs b b/x.rs"),
        ("for d in web api; do npm --prefix $d test; done", "web api"),
        ("for d in web api; do make -C $d; done", "web api"),
        ("for d in a b; do pushd $d; cat x; popd; done", "a a/x b b/x"),
        ("for f in a.rs b.rs; do bash -c \"cat $f\"; done", "a.rs b.rs"),
        ("for f in a b; do test -f $f; done", "a b"),
        ("for p in useFoo useBar; do rg \"$p\" src; done", "src"),
        ("for i in 1 2 3; do head -n $i a.txt; done", "a.txt"),
        ("for n in 10,20 30,40; do sed -n \"${n}p\" src/a.rs; done", "src/a.rs"),
        ("for f in a.rs b.rs; do mv $f $f.bak; done", "a.rs a.rs.bak b.rs b.rs.bak"),
        ("for f in $(cat list.txt); do cat src/$f; done", "list.txt src"),
        ("for x; do cat \"$x\" a.txt; done", "a.txt"),
        ("f() { for x; do cat \"$x\"; done; }; f a.txt", "a.txt"),
    ]);
}

#[test]
fn many_values_give_the_first_files() {
    let numbered = |text: &str, count| -> Vec<String> {
        (0..count).map(|nth| format!("{text}{nth}")).collect()
    };
    let short = numbered("f", 65).join(" ");
    assert_eq!(touched_files(&format!("for f in {short}; do cat $f; done")), short);
    let long = numbered(&"long/".repeat(20), 56).join(" ");
    assert_eq!(touched_files(&format!("for f in {long}; do cat $f; done")), long);
    let twenty = numbered("d", 20);
    let found = touched_files(&format!(
        "for a in {0}; do for b in {0}; do cat $a/$b; done; done",
        twenty.join(" ")
    ));
    let pairs = twenty.iter().flat_map(|a| twenty.iter().map(move |b| format!("{a}/{b}")));
    assert_eq!(found, pairs.collect::<Vec<_>>().join(" "));

    let braces = |values: &[String]| touched_files(&format!("cat {{{}}}.x", values.join(",")));
    assert_eq!(braces(&numbered("f", 65)), numbered("f", 64).join(".x ") + ".x");
    let long = numbered(&"long/".repeat(20), 56);
    assert_eq!(braces(&long), long.join(".x ") + ".x");
    let found = touched_files(&format!("cat {}", "{a,b}".repeat(7)));
    assert!(found.starts_with("aaaaaaa aaaaaab aaaaaba "), "{found}");
    assert!(!found.contains(['{', ',', '}']), "{found}");
    assert_eq!(found.split(' ').count(), 64);
}

#[test]
fn nested_commands_are_analysed() {
    check(&[
        ("uv run 'cat a.txt'", "a.txt"),
        ("bash <<'E'\nbash\ncat a.txt\nE", "a.txt"),
        ("bash -c 'cat a.txt && rm b.txt'", "a.txt b.txt"),
        ("bash -lc \"cd web && sed -n 1,5p a.ts\"", "web web/a.ts"),
        ("sh scripts/run.sh in.txt", "scripts/run.sh in.txt"),
        ("bash <<'EOF'\ncd sub\ncat a.txt\nEOF", "sub sub/a.txt"),
        ("bash -c \"bash -c 'cat deep.txt'\"", "deep.txt"),
        ("eval \"cat a.txt\"", "a.txt"),
        ("echo \"$(cat a.txt)\" `head b.txt`", "a.txt b.txt"),
        ("diff <(sort a.txt) <(sort b.txt)", "a.txt b.txt"),
        ("x=$(cat version.txt)", "version.txt"),
        ("sudo -u root cat /etc/shadow", "/etc/shadow"),
        ("env A=1 B=2 cat a.txt", "a.txt"),
        ("timeout 10 cat a.txt", "a.txt"),
        ("timeout -k 5 10s rg x src", "src"),
        ("time cat a.txt", "a.txt"),
        ("nice -n 10 make -C build", "build"),
        ("ls | xargs -n 1 -I{} cp {} dest/", ". {} dest"),
        ("xargs -a files.txt rm", "files.txt"),
        ("nohup ./server --port 80 &", "server"),
        ("command cat a.txt", "a.txt"),
        ("watch 'cat a.txt'", "a.txt"),
        ("cat a.txt | grep x | sort > out.txt", "out.txt a.txt"),
    ]);
}

#[test]
fn programs_and_scripts_are_touched_when_run() {
    check(&[
        ("python x.py", "x.py"),
        (
            "python3 -u tools/gen.py data/in.json --out out.json",
            "tools/gen.py data/in.json out.json",
        ),
        ("python -c 'import os; print(\"a/b.py\")'", ""),
        ("python -m pytest tests/test_a.py::test_x -q", "tests/test_a.py"),
        ("python - <<'EOF'\nopen('a.txt')\nEOF", ""),
        ("node scripts/build.js", "scripts/build.js"),
        ("node -e 'require(\"./a.js\")'", ""),
        ("./scripts/run.sh a.txt", "scripts/run.sh a.txt"),
        ("/usr/bin/cat a.txt", "a.txt"),
        ("source .venv/bin/activate && pytest tests/unit", ".venv/bin/activate tests/unit"),
        (". ./env.sh", "env.sh"),
        ("cargo test -p core --test e2e", ""),
        ("cargo run --manifest-path sub/Cargo.toml -- in.txt", "sub/Cargo.toml in.txt"),
        ("npm --prefix web run build", "web"),
        ("npx eslint --fix src/a.ts", "src/a.ts"),
        ("npx tsc -p packages/web/tsconfig.json", "packages/web/tsconfig.json"),
        ("uv run python tools/x.py", "tools/x.py"),
        ("uv run --with rich x.py", "x.py"),
        ("pytest -k name tests/test_a.py", "tests/test_a.py"),
        ("go test ./pkg/...", "pkg/..."),
        ("ruff check src/a.py", "src/a.py"),
        ("prettier --write src/a.ts", "src/a.ts"),
        ("gofmt -w main.go", "main.go"),
        ("make -C sub all", "sub"),
        ("docker compose -f deploy/compose.yml up -d", "deploy/compose.yml"),
        ("kubectl apply -f k8s/app.yaml", "k8s/app.yaml"),
        ("terraform -chdir=infra plan", "infra"),
        ("curl -s https://example.org/a/b.json -o out.json", "out.json"),
        ("curl -d @body.json https://example.org", ""),
        ("wget https://example.org/x.tgz", ""),
        ("echo src/a.rs is a file", ""),
        ("printf '%s\\n' a/b.txt", ""),
        ("kill -9 123", ""),
        ("mytool src/a.rs --config conf/x.toml 1.2.3 --name=a/b", "src/a.rs conf/x.toml"),
        ("code src/a.rs", "src/a.rs"),
        ("gh pr create --title 'a/b.rs' --body-file pr.md", "pr.md"),
    ]);
}

#[test]
fn git_paths_are_told_from_revisions() {
    check(&[
        ("git show HEAD:src/a.rs", "/w/src/a.rs"),
        ("git show HEAD~2:./a.rs", "a.rs"),
        ("git show abc123 -- src/a.rs", "src/a.rs"),
        ("git show --stat HEAD", ""),
        ("git -C packages/web diff -- src/a.ts", "packages/web packages/web/src/a.ts"),
        ("git diff main...feature/x -- docs", "docs"),
        ("git diff HEAD~1 src/a.rs", "src/a.rs"),
        ("git diff origin/main", ""),
        ("git diff v1.2.0..v1.3.0", ""),
        ("git log --oneline -n 5 -- src", "src"),
        ("git log -p --follow src/a.rs", "src/a.rs"),
        ("git blame -L 10,20 src/a.rs", "src/a.rs"),
        ("git add -A src/a.rs b.md", "src/a.rs b.md"),
        ("git commit -m 'touch src/a.rs' -F msg.txt", "msg.txt"),
        ("git commit -am \"fix a/b.rs\"", ""),
        ("git checkout main -- src/a.rs", "src/a.rs"),
        ("git checkout -b feature/new", ""),
        ("git checkout src/a.rs", "src/a.rs"),
        ("git restore --staged src/a.rs", "src/a.rs"),
        ("git rm old.rs", "old.rs"),
        ("git mv a.rs b.rs", "a.rs b.rs"),
        ("git grep -n TODO -- src", "src"),
        ("git grep TODO", "."),
        ("git stash push -- a.rs", "a.rs"),
        ("git status", ""),
        ("git clone https://example.org/x.git dest", "dest"),
        ("git --no-pager -c color.ui=never log -1", ""),
        ("git worktree add ../wt main", "/w/wt"),
        ("git apply fix.patch", "fix.patch"),
        ("git cat-file -p HEAD:README.md", "/w/README.md"),
        ("git push origin feature/x.y", ""),
        ("git status -s packages/web", "packages/web"),
        ("git ls-files -s src", "src"),
        ("git am -s fix.patch", "fix.patch"),
        ("git restore -s HEAD~1 src/a.rs", "src/a.rs"),
        ("git init -b main sub", "sub"),
        ("git add foo:bar.txt", "foo:bar.txt"),
        ("git show HEAD:.github/workflows/ci.yml", "/w/.github/workflows/ci.yml"),
        ("git show HEAD:../a.rs", "/w/a.rs"),
        ("git diff-tree -r HEAD -- src/a.rs", "src/a.rs"),
        ("git submodule update -- x", "x"),
        ("git bisect start HEAD v1.0 -- src", "src"),
        ("git sparse-checkout set -- web", "web"),
        ("git checkout HEAD~1 src/module", "src/module"),
        ("git checkout -- a b", "a b"),
        ("git grep foo main -- src", "src"),
        ("git grep -e foo src", "src"),
    ]);
}

#[test]
fn incomplete_commands_touch_their_known_files() {
    check(&[
        ("", ""),
        ("cat", ""),
        ("cat a.txt &&", "a.txt"),
        ("cat \"unclosed", ""),
        ("cat a.txt; )", "a.txt"),
        ("# cat a.txt", ""),
        ("cat a.txt # and b.txt", "a.txt"),
        ("cat \\\n  a.txt \\\n  b.txt", "a.txt b.txt"),
        ("\0", ""),
    ]);
}

#[test]
fn patch_touches_its_files() {
    let patch =
        "*** Begin Patch\n*** Update File: a/b.rs\n*** Move to: c.rs\n@@ x\n*** Delete File: /d\n";
    let paths: Vec<PathBuf> = patched(patch, Path::new("/w"));
    assert_eq!(paths, [Path::new("/w/a/b.rs"), Path::new("/w/c.rs"), Path::new("/d")]);
}

// Pseudo-random numbers (xorshift), the same in every run.
fn noise(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap_or(0) % below
    }
}

const PIECES: &[&str] = &[
    "cat", " ", "\n", ";", "&&", "|", "(", ")", "{", "}", "$(", "`", "'", "\"", "<<E", "\nE\n",
    ">", "<(", "$x", "${", "[[", "]]", "if", "then", "fi", "for", "in", "do", "done", "case",
    "esac", "a/b.rs", "\\", "=", "*", "~", "--", "-n", "sed", "git", "xargs", "bash -c ", "find",
    "é", "\0", "\r", "$((", "))", ",",
];

#[test]
fn random_commands_do_not_panic() {
    for seed in 1..400 {
        let mut next = noise(seed);
        let text: String = (0..60).map(|_| PIECES[next(PIECES.len())]).collect();
        for path in files(&text, &dirs()) {
            assert!(path.is_absolute(), "{text:?} gives {}", path.display());
        }
    }
}

// Without limits, each of these inputs would take seconds or overflow the stack.
#[test]
fn large_commands_stay_within_limits() {
    let mut next = noise(7);
    let pieces: String = (0..30_000).map(|_| PIECES[next(PIECES.len())]).collect();
    let bytes: String =
        (0..100_000).map(|_| char::from(u8::try_from(next(94)).unwrap_or(0) + 32)).collect();
    let nested = ["(", "$(", "{ ", "\"$(", "`", "<<E\n", "[[ ", "if ", "bash -c '"];
    let nested = nested.map(|it| it.repeat(20_000));
    let braces = format!("cat {}", "{a,b}".repeat(5_000));
    let open_braces = format!("cat {}", "{".repeat(200_000));
    let letters = format!("echo -{}", "n".repeat(60_000));
    let documents = format!("bash <<'E'\n{}E", "bash\n".repeat(2_000));
    let ten = "for v in 0 1 2 3 4 5 6 7 8 9; do ";
    let loops = format!("{} cat $v* {}", ten.repeat(10), "; done".repeat(10));
    for text in
        nested.iter().chain([&pieces, &bytes, &braces, &open_braces, &letters, &documents, &loops])
    {
        assert!(files(text, &dirs()).len() <= MAX_FILES);
    }
    let many = "cat a.txt; ".repeat(100_000);
    assert_eq!(touched_files(&many), "a.txt");
    let doubled = format!("a=xy; {} cat $a b.txt", "a=$a$a; ".repeat(60));
    assert_eq!(touched_files(&doubled), "b.txt");
    let wide: Vec<String> = (0..2_000).map(|n| format!("f{n}")).collect();
    let wide = format!("cat {}", wide.join(" "));
    assert_eq!(files(&wide, &dirs()).len(), MAX_FILES);
}
