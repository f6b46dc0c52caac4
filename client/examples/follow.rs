//! Prints the changes of a list of skills until interrupted: `follow DIR`.
//!
//! The list survives daemon restarts: if the daemon stops or is killed, another one is started, and
//! the changes in between are printed.

use std::error::Error;

use skills_client::client::Client;
use skills_client::live::LiveList;
use skills_client::spawn::StartOptions;
use skills_protocol::wire::ListParams;

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "it is what the example does")]
async fn main() -> Result<(), Box<dyn Error>> {
    let client =
        Client::new(StartOptions::for_program("skillsd")?).with_name("follow-example", "1.0");
    let params = ListParams { cwd: std::env::args().nth(1), ..ListParams::default() };
    let mut list = LiveList::new(client, params);
    loop {
        let change = list.next().await?;
        for skill in &change.changed {
            println!("+ {}", skill.name);
        }
        for skill in &change.removed {
            println!("- {}", skill.name);
        }
        println!("{} skills", list.skills().len());
    }
}
