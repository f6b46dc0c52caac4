//! Managed lists of marketplaces, and whether they allow the marketplace of an installed plugin.
//!
//! Compared as Claude Code 2.1.330 does, by the source under which a marketplace is registered. An
//! expression that cannot be compiled matches nothing in the list of allowed marketplaces and
//! everything in the list of blocked ones.

use std::collections::BTreeMap;

use regex::Regex;
use skills_syntax::config_tree::Node;

use crate::permission::Switch;

/// Kinds of sources that are no marketplaces but plugins on this machine.
const LOCAL: [&str; 2] = ["skills-dir", "pluginDirectory"];

/// Host of the repositories that are named without a host.
const GITHUB: &str = "github.com";

/// The source of a marketplace, or an entry of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::discover) struct MarketplaceSource {
    texts: BTreeMap<Box<str>, Box<str>>,
}

/// The lists of marketplaces in managed settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::discover) struct MarketplaceLists {
    /// `strictKnownMarketplaces`: no other marketplace is allowed.
    pub(super) allowed: Option<(Switch, Vec<MarketplaceSource>)>,
    /// `blockedMarketplaces`.
    pub(super) blocked: Option<(Switch, Vec<MarketplaceSource>)>,
}

impl MarketplaceLists {
    /// Returns the switch that forbids the plugins of a marketplace. One whose source is unknown is
    /// forbidden as soon as there is a list.
    pub(in crate::discover) fn forbids(&self, source: Option<&Node>) -> Option<&Switch> {
        let source = source.map(MarketplaceSource::new);
        let is_remote = |it: &MarketplaceSource| !LOCAL.contains(&it.text("source"));
        let blocked = self.blocked.as_ref().filter(|(_, list)| match &source {
            Some(source) => list.iter().any(|it| it.blocks(source)),
            None => list.iter().any(is_remote),
        });
        let allowed = self.allowed.as_ref().filter(|(_, list)| match &source {
            Some(source) => !list.iter().any(|it| it.allows(source)),
            None => true,
        });
        blocked.or(allowed).map(|(switch, _)| switch)
    }
}

impl MarketplaceSource {
    pub(super) fn new(node: &Node) -> Self {
        let texts = node.entries().iter().filter_map(|it| Some((it.key.clone(), it.node.text()?)));
        Self { texts: texts.map(|(key, text)| (key, text.into())).collect() }
    }

    /// Returns a text; empty if it is missing.
    fn text(&self, key: &str) -> &str {
        self.texts.get(key).map_or("", |it| it)
    }

    fn has_same(&self, other: &Self, keys: &[&str]) -> bool {
        keys.iter().all(|it| self.text(it) == other.text(it))
    }

    /// Returns whether this entry allows a source.
    fn allows(&self, source: &Self) -> bool {
        match (self.text("source"), source.text("source")) {
            ("hostPattern" | "pathPattern", _) => self.matches(source) == Some(true),
            ("github", "github") => {
                let Some(owner) = self.text("repo").strip_suffix("/*") else {
                    return self.text("repo").eq_ignore_ascii_case(source.text("repo"))
                        && self.has_same(source, &["ref", "path"]);
                };
                let repo = source.text("repo").split_once('/');
                let is_of = repo.is_some_and(|(it, repo)| it == owner && !repo.contains('/'));
                is_of && self.has_same(source, &["ref"]) && self.has_path_of(source)
            }
            ("git", "git") => {
                plain_url(self.text("url")) == plain_url(source.text("url"))
                    && self.has_same(source, &["ref", "path"])
            }
            (kind, of) => kind == of && !LOCAL.contains(&kind) && self.is_named_as(source),
        }
    }

    /// Returns whether this entry blocks a source. An entry without a branch or path blocks all.
    fn blocks(&self, source: &Self) -> bool {
        match (self.text("source"), source.text("source")) {
            ("hostPattern" | "pathPattern", _) => self.matches(source) != Some(false),
            ("github" | "git", "github" | "git") => {
                let is_same = match (self.repository(), source.repository()) {
                    (Some(own), Some(other)) => match own.strip_suffix("/*") {
                        Some(owner) => other.split_once('/').is_some_and(|(it, _)| it == owner),
                        None => own == other,
                    },
                    _ => plain_url(self.text("url")) == plain_url(source.text("url")),
                };
                let is_open = |key: &&str| {
                    let own = self.text(key);
                    own.is_empty() || own == source.text(key)
                };
                is_same && ["ref", "path"].iter().all(is_open)
            }
            (kind, of) => kind == of && !LOCAL.contains(&kind) && self.is_named_as(source),
        }
    }

    /// Returns whether another source of the same kind has the same address.
    fn is_named_as(&self, source: &Self) -> bool {
        let key = match self.text("source") {
            "url" => "url",
            "npm" => "package",
            "file" | "directory" => "path",
            "settings" => "name",
            _ => return false,
        };
        !self.text(key).is_empty() && self.has_same(source, &[key])
    }

    fn has_path_of(&self, source: &Self) -> bool {
        self.text("path").is_empty() || self.has_same(source, &["path"])
    }

    /// Returns whether the entry's expression matches a source; `None` if it cannot be compiled.
    fn matches(&self, source: &Self) -> Option<bool> {
        let (pattern, text) = if self.text("source") == "hostPattern" {
            (self.text("hostPattern"), source.host())
        } else {
            let is_local = matches!(source.text("source"), "file" | "directory");
            (self.text("pathPattern"), is_local.then(|| source.text("path").to_owned()))
        };
        let Some(text) = text else { return Some(false) };
        Some(Regex::new(pattern).ok()?.is_match(&text))
    }

    /// Returns the host of a source.
    fn host(&self) -> Option<String> {
        match self.text("source") {
            "github" => Some(GITHUB.to_owned()),
            "git" | "url" => {
                let url = self.text("url");
                let rest = match url.split_once("://") {
                    Some((_, rest)) => rest.split('/').next()?,
                    None => url.split_once(':')?.0,
                };
                let host = rest.rsplit('@').next()?;
                Some(host.split(':').next()?.to_lowercase()).filter(|it| !it.is_empty())
            }
            _ => None,
        }
    }

    /// Returns the repository on GitHub, in lower case.
    fn repository(&self) -> Option<String> {
        if self.text("source") == "github" {
            return Some(self.text("repo").to_lowercase());
        }
        let url = plain_url(self.text("url"));
        let rest = url.rsplit('@').next()?;
        let rest = rest.split_once("://").map_or(rest, |(_, rest)| rest);
        let path = rest.strip_prefix(GITHUB)?.strip_prefix(['/', ':'])?;
        Some(path.to_lowercase())
    }
}

/// Returns an address without its ending, and with its host in lower case.
fn plain_url(url: &str) -> String {
    let url = url.trim_end_matches('/');
    let url = url.strip_suffix(".git").unwrap_or(url);
    let (start, ends) = url.find("://").map_or((0, ':'), |it| (it + 3, '/'));
    let host_end = url[start..].find(ends).map_or(url.len(), |it| start + it);
    let (host, path) = url.split_at(host_end);
    host.to_lowercase() + path
}
