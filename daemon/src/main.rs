//! The program `skillsd`; its code is in the library.

fn main() -> std::process::ExitCode {
    skillsd::main()
}
