//! The program `skillsd`; all of it is in the library.

fn main() -> std::process::ExitCode {
    skillsd::main()
}
