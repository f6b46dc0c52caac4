//! Loads a skill as an agent does, including its shell commands: `load DIR SKILL [ARGS]`.
//!
//! The daemon finds the commands; they run here, where an agent would ask its user first, and a
//! second call inserts their output.

use std::error::Error;
use std::process::Command;
use std::time::Duration;

use skills_client::ClientError;
use skills_client::client::Client;
use skills_client::spawn::StartOptions;
use skills_protocol::error::SKILL_NOT_FOUND;
use skills_protocol::method::SkillsLoad;
use skills_protocol::wire::{LoadParams, ShellResult};

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "it is what the example does")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let [dir, name] = [args.next(), args.next()].map(Option::unwrap_or_default);
    let client = Client::new(StartOptions::for_program("skillsd")?)
        .with_name("load-example", "1.0")
        .with_timeout(Duration::from_secs(30));
    let mut params = LoadParams {
        cwd: Some(dir.clone()),
        profile: Some("claude-code".to_owned()),
        name: Some(name),
        args: args.next(),
        ..LoadParams::default()
    };
    let mut loaded = match client.call::<SkillsLoad>(&params).await {
        Ok(loaded) => loaded,
        // The hint is a sentence for a person or a model.
        Err(ClientError::Rpc(error)) if error.code == SKILL_NOT_FOUND => {
            println!("{error}. {}", error.hint().unwrap_or_default());
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    if !loaded.commands.is_empty() {
        for command in &loaded.commands {
            let ran = Command::new(&command.shell)
                .args(["-c", &command.command])
                .current_dir(&dir)
                .output()?;
            let output = String::from_utf8_lossy(&ran.stdout).trim().to_owned();
            params.shell_results.push(ShellResult { id: command.id.clone(), output });
        }
        loaded = client.call::<SkillsLoad>(&params).await?;
    }
    println!("{}", loaded.output);
    for tool in &loaded.metadata.allowed_tools {
        println!("(may use {tool} without asking)");
    }
    Ok(())
}
