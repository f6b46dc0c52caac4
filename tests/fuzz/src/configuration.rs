//! skillsd's configuration files: the user's `config.toml` and a repository's `.skillsd.toml`.

use skills_config::{Config, ConfigSource, check_profiles, level_rows, read};
use skills_discovery::permission::Action;
use skills_syntax::text::decode;

use super::assert_place;

/// Asserts that problems have positions in the text, and that a repository never sets a key of the
/// user.
///
/// # Panics
///
/// Panics if an invariant does not hold.
pub fn check(input: &[u8]) {
    let decoded = decode(input);
    for source in [ConfigSource::User, ConfigSource::Repository] {
        let parsed = read(input, source);
        assert_eq!(parsed, read(input, source), "two readings of {:?} differ", &*decoded.text);
        for problem in &parsed.problems {
            assert_place(&decoded.text, problem.line, problem.column);
            assert!(!problem.message.is_empty());
        }
        let places = parsed.problems.iter().map(|it| (it.line, it.column));
        assert!(places.is_sorted(), "{:?}", parsed.problems);
        level_rows([&parsed.config]);
        check_profiles([&parsed.config]);
        if source == ConfigSource::Repository {
            repository(&parsed.config);
        }
    }
}

/// Asserts that a repository's file does not affect trust, execution or fetching.
fn repository(config: &Config) {
    let default = Config::default();
    assert_eq!(config.run_scripts, default.run_scripts);
    assert_eq!(config.run_shell, default.run_shell);
    assert_eq!(config.run_timeout, default.run_timeout);
    assert_eq!(config.require_trust, default.require_trust);
    assert_eq!(config.remote_urls, default.remote_urls);
    assert_eq!(config.mcp_servers, default.mcp_servers);
    assert_eq!(config.profiles, default.profiles);
    assert_eq!(config.sessions_keep, default.sessions_keep);
    assert!(config.permission_skill.iter().all(|it| it.action != Action::Allow));
}
