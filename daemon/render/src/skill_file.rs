//! A SKILL.md read for loading ([`SkillFile`]): its record and body, from the same bytes.

use std::sync::Arc;

use skills_agents::fence::Fence;
use skills_agents::loaders::{LoadVerdict, load_as};
use skills_agents::profile::Profile;
use skills_agents::skill::{DecodeFacts, FileFacts, SkillRecord, parse};
use skills_syntax::parse::Document;
use skills_syntax::text::{Decoded, decode};

/// A file read for loading. All parts are from one version of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillFile {
    pub record: Arc<SkillRecord>,
    /// The parsed document with the range of every key and value, within the record's head.
    pub document: Document,
    /// The whole text, without a byte order mark.
    pub text: String,
    /// The offset at which the body starts for the agent.
    start: usize,
    /// True if the agent reads the frontmatter's fields.
    has_fields: bool,
}

impl SkillFile {
    /// Reads a file as the profile's agent does. `directory` is the name of its directory.
    pub fn read(bytes: &[u8], facts: FileFacts, profile: &Profile, directory: &str) -> Self {
        let Decoded { text, invalid_utf8, bom } = decode(bytes);
        let document = parse(&text);
        let record =
            SkillRecord::from_document(&text, &document, facts, DecodeFacts { bom, invalid_utf8 });
        Self::of(Arc::new(record), document, text, profile, directory)
    }

    /// Reads a file with an existing record of the same bytes.
    pub fn from_record(
        bytes: &[u8],
        record: Arc<SkillRecord>,
        profile: &Profile,
        directory: &str,
    ) -> Self {
        let document = record.document();
        Self::of(record, document, decode(bytes).text, profile, directory)
    }

    fn of(
        record: Arc<SkillRecord>,
        document: Document,
        text: String,
        profile: &Profile,
        directory: &str,
    ) -> Self {
        let start = match profile.fence {
            Fence::FirstLine => document.body.start,
            // An agent that does not recognise the frontmatter has dropped the file if it requires
            // any.
            fence => fence.find(&text).map_or(0, |it| it.body),
        };
        let verdict = load_as(profile, &record, directory).verdict;
        let has_fields = !matches!(verdict, LoadVerdict::WithoutFields | LoadVerdict::Dropped);
        Self { record, document, text, start, has_fields }
    }

    /// Returns the text after the frontmatter, unchanged.
    pub fn body(&self) -> &str {
        &self.text[self.start..]
    }

    /// Returns whether the agent reads the frontmatter's fields.
    pub fn has_fields(&self) -> bool {
        self.has_fields
    }
}
