# Untested: no Homebrew was at hand. packaging/release fills in the version, address and checksums.
class Skillsd < Formula
  desc "Finds, explains and serves the agent skills (SKILL.md) of a worktree"
  homepage "@ADDRESS@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@DOWNLOADS@/skillsd-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@aarch64-apple-darwin@"
    end
    on_intel do
      url "@DOWNLOADS@/skillsd-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@x86_64-apple-darwin@"
    end
  end
  on_linux do
    on_arm do
      url "@DOWNLOADS@/skillsd-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "@DOWNLOADS@/skillsd-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "skillsd"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/skillsd.bash" => "skillsd"
    zsh_completion.install "completions/skillsd.zsh" => "_skillsd"
    fish_completion.install "completions/skillsd.fish"
  end

  service do
    run [opt_bin/"skillsd", "serve"]
    # Not after a failed exit: another daemon may run, so that every start would fail.
    keep_alive crashed: true
  end

  test do
    (testpath/".claude/skills/a/SKILL.md").write <<~SKILL
      ---
      name: a
      description: Does a thing. Use it when asked.
      ---
    SKILL
    assert_match "  a ", shell_output("#{bin}/skillsd --no-daemon list #{testpath}")
  end
end
