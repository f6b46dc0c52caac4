//! Commands as agents write them, with the files that they touch.

use std::path::{Path, PathBuf};

use super::*;

fn dirs() -> CommandDirs {
    CommandDirs { cwd: "/w/p".into(), top: "/w".into(), home: Some("/h".into()) }
}

/// Formats the touched files: `r` read, `w` written, `s` searched, `x` run; paths below the working
/// directory are relative.
fn touched_files(command: &str) -> String {
    let files = files(command, &dirs());
    let words = files.iter().map(|Touched { path, op }| {
        let op = match op {
            Op::Read => 'r',
            Op::Write => 'w',
            Op::Search => 's',
            Op::Exec => 'x',
        };
        let path = path.strip_prefix("/w/p").unwrap_or(path).display().to_string();
        format!("{op}:{}", if path.is_empty() { "." } else { &path })
    });
    words.collect::<Vec<_>>().join(" ")
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
        ("cat a.txt b.txt", "r:a.txt r:b.txt"),
        ("cat -n src/main.rs", "r:src/main.rs"),
        ("cat /etc/hosts", "r:/etc/hosts"),
        ("cat ./a/../b.txt", "r:b.txt"),
        ("cat ../up.txt", "r:/w/up.txt"),
        ("cat -", ""),
        ("cat < in.txt", "r:in.txt"),
        ("head -n 20 src/lib.rs", "r:src/lib.rs"),
        ("head -20 src/lib.rs", "r:src/lib.rs"),
        ("head -n20 src/lib.rs src/b.rs", "r:src/lib.rs r:src/b.rs"),
        ("tail -f log/dev.log", "r:log/dev.log"),
        ("tail --lines=50 log/dev.log", "r:log/dev.log"),
        ("less +G README.md", "r:+G r:README.md"),
        ("nl -ba src/lib.rs | sed -n '10,40p'", "r:src/lib.rs"),
        ("bat --line-range 1:20 src/lib.rs", "r:src/lib.rs"),
        ("wc -l src/*.rs", "r:src"),
        ("sort -k 2 -t , data.csv -o sorted.csv", "w:sorted.csv r:data.csv"),
        ("diff -u old.c new.c", "r:old.c r:new.c"),
        ("jq '.scripts' package.json", "r:package.json"),
        ("jq -r .name package.json", "r:package.json"),
        ("stat -c %s a.bin", "r:a.bin"),
        ("xxd -l 64 a.bin", "r:a.bin"),
        ("file a b", "r:a r:b"),
        ("cut -d: -f1 /etc/passwd", "r:/etc/passwd"),
        ("md5sum a.iso", "r:a.iso"),
        ("cat \"with space.txt\" 'and $this'", "r:with space.txt r:and $this"),
        ("cat a\\ b.txt", "r:a b.txt"),
        ("cat 'it'\"'\"'s.txt'", "r:it's.txt"),
        ("cat $'tab\\there'", "r:tab\there"),
        ("cat ~/notes.md ~other/x", "r:/h/notes.md"),
        ("cat \"$HOME/notes.md\" \"${HOME}/b\"", "r:/h/notes.md r:/h/b"),
        ("cat src/{a,b}.rs", "r:src/a.rs r:src/b.rs"),
        ("cat café/naïve.md", "r:café/naïve.md"),
    ]);
}

#[test]
fn searching_commands_touch_their_directories() {
    check(&[
        ("rg TODO src", "s:src"),
        ("rg -n \"fn main\" src tests/a.rs", "s:src s:tests/a.rs"),
        ("rg TODO", "s:."),
        ("rg -g '*.rs' -C 3 TODO crates/core", "s:crates/core"),
        ("rg --files src", "s:src"),
        ("rg -e one -e two src", "s:src"),
        ("rg --type rust 'a b' -l src", "s:src"),
        ("grep -rn \"pattern\" packages/web", "s:packages/web"),
        ("grep -rn 'x' --include='*.ts' src/ lib/", "s:src s:lib"),
        ("grep -A3 -B 2 needle file.txt", "s:file.txt"),
        ("grep -f patterns.txt data.txt", "r:patterns.txt s:data.txt"),
        ("grep -E '^(a|b)' a.txt || true", "s:a.txt"),
        ("find . -name '*.rs'", "s:."),
        ("find src tests -type f -name \"*.py\" -not -path '*/x/*'", "s:src s:tests"),
        ("find packages/web -name SKILL.md -exec cat {} \\;", "s:packages/web"),
        ("find a -newer b.txt -print", "s:a r:b.txt"),
        ("find -L lib -maxdepth 2", "s:lib"),
        ("find . -name '*.rs' | xargs grep -l foo", "s:."),
        ("find src -name '*.o' -exec rm -f {} + -o -fprint list.txt", "s:src w:list.txt"),
        ("ls -la src", "s:src"),
        ("ls", "s:."),
        ("tree -L 2 -I node_modules packages", "s:packages"),
        ("fd -e rs config src", "s:src"),
        ("du -sh target", "s:target"),
        ("ag --ignore dist foo app", "s:app"),
        ("ls src/**/*.rs", "s:src"),
    ]);
}

#[test]
fn writing_commands_touch_their_targets() {
    check(&[
        ("sed -n 1,10p src/main.rs", "r:src/main.rs"),
        ("sed -n '1,10p;20q' a.rs b.rs", "r:a.rs r:b.rs"),
        ("sed -i 's/a/b/g' src/main.rs", "w:src/main.rs"),
        ("sed -i.bak -e 's#/x/y#/z#' -e 's/a/b/' conf/app.toml", "w:conf/app.toml"),
        ("sed -f script.sed in.txt", "r:script.sed r:in.txt"),
        ("awk -F, '{print $2}' data.csv", "r:data.csv"),
        ("awk -v n=3 'NR==n' src/lib.rs", "r:src/lib.rs"),
        ("awk 'BEGIN{x=1} {print}' n=2 a.txt", "r:a.txt"),
        ("perl -pi -e 's/a/b/' src/a.rs", "w:src/a.rs"),
        ("perl -ne 'print if /x/' src/a.rs", "r:src/a.rs"),
        ("tee out/log.txt", "w:out/log.txt"),
        ("make 2>&1 | tee -a build.log", "w:build.log"),
        ("echo hi > out.txt", "w:out.txt"),
        ("echo hi >> notes/today.md", "w:notes/today.md"),
        ("cmd > /dev/null 2>&1", ""),
        ("cmd &> all.log", "w:all.log"),
        ("cmd 2> err.log < in.txt", "w:err.log r:in.txt"),
        (
            "cat > src/new.rs <<'EOF'\nfn main() { cat(\"other.txt\") }\n/not/a/path.rs\nEOF",
            "w:src/new.rs",
        ),
        ("cat <<EOF > out.md\ntext $(cat inner.txt)\nEOF", "w:out.md r:inner.txt"),
        ("cat <<EOF | tee a.txt\nx\nEOF", "w:a.txt"),
        ("cp src/a.rs src/b.rs", "r:src/a.rs w:src/b.rs"),
        ("cp -r templates/* out/", "r:templates w:out"),
        ("cp -t dest a b", "w:dest r:a r:b"),
        ("mv old.rs new.rs", "w:old.rs w:new.rs"),
        ("rm -rf build dist/x", "w:build w:dist/x"),
        ("mkdir -p a/b/c && touch a/b/c/d.txt", "w:a/b/c w:a/b/c/d.txt"),
        ("chmod +x scripts/run.sh", "w:scripts/run.sh"),
        ("chmod 755 scripts/run.sh", "w:scripts/run.sh"),
        ("ln -s ../real.txt link.txt", "r:/w/real.txt w:link.txt"),
        ("dd if=in.bin of=out.bin bs=1M", "r:in.bin w:out.bin"),
        ("tar czf out.tgz src docs", "w:out.tgz r:src r:docs"),
        ("tar -xzf in.tgz -C dest", "w:dest r:in.tgz"),
        ("rsync -av src/ host:/srv/app", "r:src"),
        ("patch -p1 < fix.patch", "r:fix.patch"),
        ("truncate -s 0 app.log", "w:app.log"),
        (
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** Add File: b/c.md\n*** End Patch\nEOF",
            "w:src/a.rs w:b/c.md",
        ),
    ]);
}

#[test]
fn paths_follow_the_working_directory() {
    check(&[
        ("cd packages/web && cat src/a.ts", "s:packages/web r:packages/web/src/a.ts"),
        ("cd packages/web; rg foo", "s:packages/web"),
        ("cd a && cd b && cat c; cd .. && cat d", "s:a s:a/b r:a/b/c r:a/d"),
        ("(cd a && cat b); cat c", "s:a r:a/b r:c"),
        ("cd a || exit 1\ncat b", "s:a r:a/b"),
        ("cd \"$UNKNOWN\" && cat a.txt /abs.txt", "r:/abs.txt"),
        ("cd /srv && cat x", "s:/srv r:/srv/x"),
        ("cd && cat x", "r:/h/x"),
        ("cd - && cat x", "r:x"),
        ("cd a && cat b && cd - && cat c", "s:a r:a/b r:c"),
        ("pushd a >/dev/null && cat b; popd && cat c", "s:a r:a/b r:c"),
        ("cat a | (cd b; cat c) | cat", "r:a s:b r:b/c"),
        ("FILE=src/a.rs; cat \"$FILE\"", "r:src/a.rs"),
        ("D=src cat \"$D/x.rs\"", "r:src/x.rs"),
        ("D=packages; E=$D/web; ls ${E}/src", "s:packages/web/src"),
        ("export F=a.md && cat $F", "r:a.md"),
        ("cat $UNKNOWN src/$UNKNOWN.rs", "r:src"),
        ("cat ${F:-x.txt}", ""),
        ("for f in a.rs b.rs; do cat \"src/$f\"; done", "r:src/a.rs r:src/b.rs"),
        ("for f in src/*.rs; do wc -l $f; done", "r:src"),
        ("while read -r l; do echo \"$l\"; done < list.txt", "r:list.txt"),
        ("if [ -f a.toml ]; then cat a.toml; else cat b.toml; fi", "r:a.toml r:b.toml"),
        ("[[ -d src && ! -e out/x ]] && ls src", "r:src r:out/x s:src"),
        ("test -f package.json && npm test", "r:package.json"),
        ("case $x in a.txt) cat one;; *) cat two;; esac", "r:one r:two"),
        ("f() { cat a.txt; }; f", "r:a.txt"),
        ("! cat a && { cat b; }", "r:a r:b"),
        ("cat $(pwd)/a.txt", "r:a.txt"),
        ("cat \"$(git rev-parse --show-toplevel)/a.txt\"", "r:/w/a.txt"),
        ("cat \"$PWD/a.txt\"", "r:a.txt"),
        ("cat *.md", "r:."),
    ]);
}

#[test]
fn nested_commands_are_analysed() {
    check(&[
        ("bash -c 'cat a.txt && rm b.txt'", "r:a.txt w:b.txt"),
        ("bash -lc \"cd web && sed -n 1,5p a.ts\"", "s:web r:web/a.ts"),
        ("sh scripts/run.sh in.txt", "x:scripts/run.sh r:in.txt"),
        ("bash <<'EOF'\ncd sub\ncat a.txt\nEOF", "s:sub r:sub/a.txt"),
        ("bash -c \"bash -c 'cat deep.txt'\"", "r:deep.txt"),
        ("eval \"cat a.txt\"", "r:a.txt"),
        ("echo \"$(cat a.txt)\" `head b.txt`", "r:a.txt r:b.txt"),
        ("diff <(sort a.txt) <(sort b.txt)", "r:a.txt r:b.txt"),
        ("x=$(cat version.txt)", "r:version.txt"),
        ("sudo -u root cat /etc/shadow", "r:/etc/shadow"),
        ("env A=1 B=2 cat a.txt", "r:a.txt"),
        ("timeout 10 cat a.txt", "r:a.txt"),
        ("timeout -k 5 10s rg x src", "s:src"),
        ("time cat a.txt", "r:a.txt"),
        ("nice -n 10 make -C build", "s:build"),
        ("ls | xargs -n 1 -I{} cp {} dest/", "s:. r:{} w:dest"),
        ("xargs -a files.txt rm", "r:files.txt"),
        ("nohup ./server --port 80 &", "x:server"),
        ("command cat a.txt", "r:a.txt"),
        ("watch 'cat a.txt'", "r:a.txt"),
        ("cat a.txt | grep x | sort > out.txt", "w:out.txt r:a.txt"),
    ]);
}

#[test]
fn programs_and_scripts_are_touched_when_run() {
    check(&[
        ("python x.py", "x:x.py"),
        (
            "python3 -u tools/gen.py data/in.json --out out.json",
            "x:tools/gen.py r:data/in.json r:out.json",
        ),
        ("python -c 'import os; print(\"a/b.py\")'", ""),
        ("python -m pytest tests/test_a.py::test_x -q", "r:tests/test_a.py"),
        ("python - <<'EOF'\nopen('a.txt')\nEOF", ""),
        ("node scripts/build.js", "x:scripts/build.js"),
        ("node -e 'require(\"./a.js\")'", ""),
        ("./scripts/run.sh a.txt", "x:scripts/run.sh r:a.txt"),
        ("/usr/bin/cat a.txt", "r:a.txt"),
        ("source .venv/bin/activate && pytest tests/unit", "x:.venv/bin/activate r:tests/unit"),
        (". ./env.sh", "x:env.sh"),
        ("cargo test -p core --test e2e", ""),
        ("cargo run --manifest-path sub/Cargo.toml -- in.txt", "r:sub/Cargo.toml r:in.txt"),
        ("npm --prefix web run build", "s:web"),
        ("npx eslint --fix src/a.ts", "r:src/a.ts"),
        ("npx tsc -p packages/web/tsconfig.json", "r:packages/web/tsconfig.json"),
        ("uv run python tools/x.py", "x:tools/x.py"),
        ("uv run --with rich x.py", "x:x.py"),
        ("pytest -k name tests/test_a.py", "r:tests/test_a.py"),
        ("go test ./pkg/...", "r:pkg/..."),
        ("ruff check src/a.py", "r:src/a.py"),
        ("prettier --write src/a.ts", "w:src/a.ts"),
        ("gofmt -w main.go", "w:main.go"),
        ("make -C sub all", "s:sub"),
        ("docker compose -f deploy/compose.yml up -d", "r:deploy/compose.yml"),
        ("kubectl apply -f k8s/app.yaml", "r:k8s/app.yaml"),
        ("terraform -chdir=infra plan", "s:infra"),
        ("curl -s https://example.org/a/b.json -o out.json", "w:out.json"),
        ("curl -d @body.json https://example.org", ""),
        ("wget https://example.org/x.tgz", ""),
        ("echo src/a.rs is a file", ""),
        ("printf '%s\\n' a/b.txt", ""),
        ("kill -9 123", ""),
        ("mytool src/a.rs --config conf/x.toml 1.2.3 --name=a/b", "r:src/a.rs r:conf/x.toml"),
        ("code src/a.rs", "w:src/a.rs"),
        ("gh pr create --title 'a/b.rs' --body-file pr.md", "r:pr.md"),
    ]);
}

#[test]
fn git_paths_are_told_from_revisions() {
    check(&[
        ("git show HEAD:src/a.rs", "r:/w/src/a.rs"),
        ("git show HEAD~2:./a.rs", "r:a.rs"),
        ("git show abc123 -- src/a.rs", "r:src/a.rs"),
        ("git show --stat HEAD", ""),
        ("git -C packages/web diff -- src/a.ts", "s:packages/web r:packages/web/src/a.ts"),
        ("git diff main...feature/x -- docs", "r:docs"),
        ("git diff HEAD~1 src/a.rs", "r:src/a.rs"),
        ("git diff origin/main", ""),
        ("git diff v1.2.0..v1.3.0", ""),
        ("git log --oneline -n 5 -- src", "r:src"),
        ("git log -p --follow src/a.rs", "r:src/a.rs"),
        ("git blame -L 10,20 src/a.rs", "r:src/a.rs"),
        ("git add -A src/a.rs b.md", "r:src/a.rs r:b.md"),
        ("git commit -m 'touch src/a.rs' -F msg.txt", "r:msg.txt"),
        ("git commit -am \"fix a/b.rs\"", ""),
        ("git checkout main -- src/a.rs", "w:src/a.rs"),
        ("git checkout -b feature/new", ""),
        ("git checkout src/a.rs", "w:src/a.rs"),
        ("git restore --staged src/a.rs", "w:src/a.rs"),
        ("git rm old.rs", "w:old.rs"),
        ("git mv a.rs b.rs", "w:a.rs w:b.rs"),
        ("git grep -n TODO -- src", "s:src"),
        ("git grep TODO", "s:."),
        ("git stash push -- a.rs", "r:a.rs"),
        ("git status", ""),
        ("git clone https://example.org/x.git dest", "w:dest"),
        ("git --no-pager -c color.ui=never log -1", ""),
        ("git worktree add ../wt main", "w:/w/wt"),
        ("git apply fix.patch", "r:fix.patch"),
        ("git cat-file -p HEAD:README.md", "r:/w/README.md"),
        ("git push origin feature/x.y", ""),
    ]);
}

#[test]
fn incomplete_commands_touch_their_known_files() {
    check(&[
        ("", ""),
        ("cat", ""),
        ("cat a.txt &&", "r:a.txt"),
        ("cat \"unclosed", ""),
        ("cat a.txt; )", "r:a.txt"),
        ("# cat a.txt", ""),
        ("cat a.txt # and b.txt", "r:a.txt"),
        ("cat \\\n  a.txt \\\n  b.txt", "r:a.txt r:b.txt"),
        ("\0", ""),
    ]);
}

#[test]
fn patch_touches_its_files() {
    let patch =
        "*** Begin Patch\n*** Update File: a/b.rs\n*** Move to: c.rs\n@@ x\n*** Delete File: /d\n";
    let paths: Vec<PathBuf> =
        patched(patch, Path::new("/w")).into_iter().map(|touched| touched.path).collect();
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
        for Touched { path, .. } in files(&text, &dirs()) {
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
    for text in nested.iter().chain([&pieces, &bytes, &braces]) {
        assert!(files(text, &dirs()).len() <= MAX_FILES);
    }
    let many = "cat a.txt; ".repeat(100_000);
    assert_eq!(touched_files(&many), "r:a.txt");
    let wide: Vec<String> = (0..2_000).map(|n| format!("f{n}")).collect();
    let wide = format!("cat {}", wide.join(" "));
    assert_eq!(files(&wide, &dirs()).len(), MAX_FILES);
}
