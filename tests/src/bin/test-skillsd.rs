//! `skillsd`, built here so that the tests of this package can run it.

fn main() -> std::process::ExitCode {
    skillsd::main()
}
