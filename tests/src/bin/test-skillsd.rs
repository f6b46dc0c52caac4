//! `skillsd`, built in this package so that its tests can run it.

fn main() -> std::process::ExitCode {
    skillsd::main()
}
