//! A SKILL.md as it is loaded: its record and its body, from the same bytes.

use crate::ladder::{Fence, Verdict, read_as};
use crate::parse::parse;
use crate::profile::Profile;
use crate::skill::{FileFacts, SkillRecord};
use crate::text::decode;

/// A file that was read to be loaded. Its parts are of one version, whatever the disk does.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// What the frontmatter says.
    pub record: SkillRecord,
    /// The whole text, without a byte order mark.
    pub text: String,
    /// Where the body begins, for the agent.
    start: usize,
    /// Whether the agent has the fields of the frontmatter.
    has_fields: bool,
}

impl Body {
    /// Reads a file as the profile's agent does. `directory` is the name of its directory.
    pub fn read(bytes: &[u8], facts: FileFacts, profile: &Profile, directory: &str) -> Self {
        let record = SkillRecord::read(bytes, facts);
        let text = decode(bytes).text;
        let start = match profile.fence {
            Fence::FirstLine => parse(&text).body.start,
            // An agent that sees no frontmatter where we do has dropped the file, if it needs any.
            fence => fence.find(&text).map_or(0, |it| it.body),
        };
        let verdict = read_as(profile, &record, directory).verdict;
        let has_fields = !matches!(verdict, Verdict::WithoutFields | Verdict::Dropped);
        Self { record, text, start, has_fields }
    }

    /// Returns what stands behind the frontmatter, as it stands there.
    pub fn body(&self) -> &str {
        &self.text[self.start..]
    }

    /// Returns whether the agent has the fields of the frontmatter.
    pub fn has_fields(&self) -> bool {
        self.has_fields
    }
}
