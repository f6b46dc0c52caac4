//! skillsd in Zed: starts the language server for skills and for files that mention them.
//!
//! The program is the one in Zed's settings (`lsp.skillsd.binary`), else the one on the worktree's
//! PATH; nothing is downloaded.

use zed_extension_api::settings::LspSettings;
use zed_extension_api::{
    Command, Extension, LanguageServerId, Result, Worktree, register_extension, serde_json::Value,
};

const PROGRAM: &str = "skillsd";

struct Skillsd;

impl Extension for Skillsd {
    fn new() -> Self {
        Self
    }

    fn language_server_command(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Command> {
        let binary = LspSettings::for_worktree(server.as_ref(), worktree)?.binary;
        let (path, arguments) = binary.map(|it| (it.path, it.arguments)).unwrap_or_default();
        let command = path.or_else(|| worktree.which(PROGRAM)).ok_or_else(|| {
            "`skillsd` is not on PATH. Run `cargo install --path daemon` in a checkout of skillsd, \
             or set `lsp.skillsd.binary.path` in Zed's settings."
                .to_owned()
        })?;
        let args = arguments.unwrap_or_else(|| vec!["lsp".to_owned()]);
        Ok(Command { command, args, env: worktree.shell_env() })
    }

    fn language_server_initialization_options(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<Value>> {
        Ok(LspSettings::for_worktree(server.as_ref(), worktree)?.initialization_options)
    }

    fn language_server_workspace_configuration(
        &mut self,
        server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<Value>> {
        Ok(LspSettings::for_worktree(server.as_ref(), worktree)?.settings)
    }
}

register_extension!(Skillsd);
