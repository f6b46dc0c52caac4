# Untested: no Nix was at hand. From a checkout: nix build 'git+file:.?dir=packaging/nix'
{
  description = "Finds, explains and serves the agent skills (SKILL.md) of a worktree";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: rec {
        default = skillsd;
        skillsd = pkgs.rustPlatform.buildRustPackage {
          pname = "skillsd";
          version = (builtins.fromTOML (builtins.readFile ../../Cargo.toml)).workspace.package.version;
          src = ../..;
          cargoLock.lockFile = ../../Cargo.lock;
          cargoBuildFlags = [ "--package" "skillsd" ];
          # The tests want agents, editors and a home of their own; CI runs them.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            $out/bin/skillsd man --dir man
            installManPage man/*.1
            for shell in bash zsh fish; do
              $out/bin/skillsd completions $shell > skillsd.$shell
            done
            installShellCompletion skillsd.{bash,zsh,fish}
            install -Dm644 -t $out/lib/systemd/user systemd/skillsd.socket systemd/skillsd.service
            substituteInPlace $out/lib/systemd/user/skillsd.service \
              --replace-fail %h/.cargo/bin/skillsd $out/bin/skillsd
          '';
          meta = {
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "skillsd";
          };
        };
      });
    };
}
