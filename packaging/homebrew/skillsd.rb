# Untested: no Homebrew was at hand. The address and the checksum are those of a release to come.
class Skillsd < Formula
  desc "Finds, explains and serves the agent skills (SKILL.md) of a worktree"
  homepage "https://example.invalid/skillsd"
  url "https://example.invalid/skillsd/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args(path: "daemon")
    generate_completions_from_executable(bin/"skillsd", "completions")
    system bin/"skillsd", "man", "--dir", buildpath/"man"
    man1.install Dir["man/*.1"]
  end

  service do
    run [opt_bin/"skillsd", "serve"]
    keep_alive successful_exit: false
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
