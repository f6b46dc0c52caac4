//! Prints the skills that an agent sees in a directory: `list [DIR [PROFILE]]`.
//!
//! Connects to the daemon and starts it if none runs.

use std::error::Error;
use std::path::PathBuf;

use skills_client::client::Client;
use skills_client::spawn::StartOptions;
use skills_protocol::method::SkillsList;
use skills_protocol::wire::ListParams;

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "it is what the example does")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let dir = PathBuf::from(args.next().unwrap_or_else(|| ".".to_owned())).canonicalize()?;

    // The program is searched for in `PATH`; the name appears in the daemon's log.
    let client =
        Client::new(StartOptions::for_program("skillsd")?).with_name("list-example", "1.0");
    let params = ListParams {
        cwd: dir.to_str().map(str::to_owned),
        profile: args.next(),
        ..ListParams::default()
    };
    let listed = client.call::<SkillsList>(&params).await?;
    for skill in &listed.skills {
        println!("{}: {}", skill.name, skill.description.as_deref().unwrap_or_default());
    }
    // Answers come also where something is wrong, and say what.
    for problem in &listed.health {
        println!("! {}", problem.message);
    }
    Ok(())
}
