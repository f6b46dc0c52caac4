//! Templates of the texts about skills that an agent gives its model ([`PromptTemplate`]).
//!
//! A row of the profile table states them as data; `skills_render` fills them in. In a template,
//! `{name}` and the other words in braces stand for a skill's texts. A text that was filled in is
//! not searched again.

use super::Scope;

/// The texts about skills that an agent gives its model.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct PromptTemplate {
    /// The keyword of the format, the profile's id.
    pub id: &'static str,
    /// The list of skills.
    pub listing: ListingTemplate,
    /// A loaded skill; `None` if its form is not known, and the standard's stands in.
    pub load: Option<LoadTemplate>,
    /// The tool that loads skills; `None` if the model reads the files with another tool.
    pub tool: Option<ToolTemplate>,
}

/// The list of skills in a prompt.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct ListingTemplate {
    /// The text before the first skill.
    pub head: &'static str,
    /// A skill: `{name}`, `{description}`, `{when}`, `{path}`, `{dir}` and `{scope}`.
    pub entry: &'static str,
    /// The part of an entry that is left out if its description is empty.
    pub empty: &'static str,
    /// The text between two skills.
    pub separator: &'static str,
    /// The text after the last skill.
    pub tail: &'static str,
    pub order: ListingOrder,
    /// The line before the skills of a scope, with `{scope}`, or of a category, with `{category}`;
    /// empty if they are not grouped.
    pub heading: &'static str,
    /// The agent's words for scopes.
    pub scopes: &'static [(Scope, &'static str)],
    /// The text for `{when}` of a skill with `when_to_use`: its value is `{when}` in it.
    pub when_to_use: &'static str,
    /// The description of a skill without one.
    pub no_description: &'static str,
    /// The characters that are replaced in names, descriptions and paths.
    pub escape: EscapeRule,
    /// The treatment of white space in descriptions.
    pub blanks: BlanksRule,
    /// True if a path below the home directory begins with `~`.
    pub tilde: bool,
    /// The longest description, in UTF-16 units, and the end of a longer one that is cut to it. An
    /// end with `{path}` is a note in the middle of the description instead.
    pub longest: Option<(usize, &'static str)>,
    /// The limit of the whole list.
    pub limit: Option<ListingLimit>,
}

impl ListingTemplate {
    /// Values that most lists share.
    pub(super) const USUAL: Self = Self {
        head: "",
        entry: "",
        empty: "",
        separator: "\n",
        tail: "",
        order: ListingOrder::AsFound,
        heading: "",
        scopes: &[],
        when_to_use: "",
        no_description: "",
        escape: EscapeRule::Never,
        blanks: BlanksRule::Kept,
        tilde: false,
        longest: None,
        limit: None,
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListingOrder {
    /// As discovery orders skills; files by the bytes of their paths.
    AsFound,
    /// By name, with JavaScript's `localeCompare`.
    ByName,
    /// By the bytes of their names, first those of the project, then those of each of the user's
    /// directories, then the others by scope.
    ByNameInScopes,
    /// By category, then by name, both by their bytes. The category is the path from the search
    /// root to the directory that contains the skill's, or the skill's directory if that is the
    /// root; `general` for a skill in the root itself.
    ByCategory,
}

/// Treatment of white space in descriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlanksRule {
    Kept,
    /// Removed at both ends.
    Trimmed,
    /// Trimmed, and each run of it becomes one space.
    Collapsed,
}

/// Characters that are replaced in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EscapeRule {
    Never,
    /// `&`, `<`, `>`, `"` and `'`, the last as `&apos;`.
    Xml,
    /// The same, but `'` as `&#x27;`.
    Html,
    /// `&`, `<` and `>`.
    Tags,
    /// Characters that JSON escapes in a string.
    Json,
}

/// The limit of a list, in UTF-16 units, and what happens to the rest.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct ListingLimit {
    /// The limit of all entries, with a line break between them.
    pub characters: usize,
    /// True if the line break after the last entry counts too.
    pub counts_last_break: bool,
    /// The limit for 100 tokens of the model's context; `None` if it does not depend on it.
    pub per_100_tokens: Option<usize>,
    /// The part that the agent's own skills take, with a line break after each.
    pub built_in: usize,
    /// The treatment of skills over the limit.
    pub overflow: Overflow,
}

impl ListingLimit {
    /// Returns the length of the line break after the last entry if it does not count.
    pub fn uncounted(&self) -> usize {
        usize::from(!self.counts_last_break)
    }
}

/// Treatment of skills over the limit of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// The first skill that does not fit and all after it are named after this text, with a comma
    /// between them.
    NamesAfter(&'static str),
    /// All names count first. Each description that still fits is kept; a skill without it has this
    /// entry.
    NameOnly(&'static str),
    /// Each description is reduced to its first line, without `when_to_use`.
    FirstLines,
    /// Descriptions are cut to one length for all, or left out; skills at the end are left out.
    Compact(&'static CompactListing),
}

/// A list that is cut as a whole: its limit counts the text with all around the entries.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct CompactListing {
    /// The number of skills in the list at most.
    pub most: usize,
    /// The bounds of the length to which descriptions are cut, in UTF-16 units.
    pub lengths: (usize, usize),
    /// The text before the first skill if descriptions are cut.
    pub head: &'static str,
    /// The text before the first skill if descriptions are left out.
    pub head_of_names: &'static str,
    /// The note before a list in which skills are left out: `{listed}`, `{all}` and `{form}`, which
    /// is `form` or nothing.
    pub omits: &'static str,
    /// The `{form}` of such a note: `{descriptions}` stands for what happened to them.
    pub form: &'static str,
    /// The note before another list that is cut, with `{descriptions}`.
    pub cuts: &'static str,
    /// The words for descriptions that are cut, and for those that are left out.
    pub words: (&'static str, &'static str),
    /// The text between the note and the list, which counts without a note too, except its first
    /// character.
    pub gap: &'static str,
}

/// A loaded skill.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct LoadTemplate {
    /// The text: `{name}`, `{description}`, `{scope}`, `{dir}`, `{place}`, `{path}`, `{below}`,
    /// `{body}`, `{text}`, `{files}` and `{arguments}`. The place is the directory, relative to the
    /// working directory if it is below; `{below}` is the path relative to the search root,
    /// `{text}` the whole file.
    pub text: &'static str,
    /// The agent's words for scopes.
    pub scopes: &'static [(Scope, &'static str)],
    /// The white space that is removed from the body.
    pub trim: BodyTrim,
    /// The replacement of characters in all texts except `{body}`.
    pub escape: EscapeRule,
    /// The files for `{files}`; `None` if none are listed.
    pub files: Option<FilesTemplate>,
    pub arguments: ArgumentsTemplate,
}

impl LoadTemplate {
    /// Values that most texts of loaded skills share.
    pub(super) const USUAL: Self = Self {
        text: "",
        scopes: &[],
        trim: BodyTrim::Both,
        escape: EscapeRule::Never,
        files: None,
        arguments: ArgumentsTemplate::Ignored,
    };
}

/// White space that is removed from a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BodyTrim {
    /// White space at both ends.
    Both,
    BlankLinesBefore,
}

/// The list of a skill's files.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct FilesTemplate {
    /// The text before the first file.
    pub head: &'static str,
    /// The text before each file.
    pub before: &'static str,
    /// The text between two files.
    pub separator: &'static str,
    /// The text after the last file.
    pub tail: &'static str,
    pub paths: FilePaths,
    /// The number of files, if it is limited.
    pub most: Option<usize>,
    pub order: ListingOrder,
    /// The directories whose files are listed, each with its own list; `None` if all are listed in
    /// one.
    pub groups: Option<&'static FileGroups>,
    /// The text if there are no files to list.
    pub none: &'static str,
}

impl FilesTemplate {
    /// Values that most lists of files share.
    pub(super) const USUAL: Self = Self {
        head: "",
        before: "",
        separator: "",
        tail: "",
        paths: FilePaths::BelowSkill,
        most: None,
        order: ListingOrder::AsFound,
        groups: None,
        none: "",
    };
}

/// Lists of files by the directory that contains them.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct FileGroups {
    /// A list: `{group}` and `{files}`.
    pub entry: &'static str,
    /// The text between two lists.
    pub separator: &'static str,
    /// The directories, in their order.
    pub groups: &'static [FileGroup],
}

/// A directory whose files are listed.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct FileGroup {
    /// The name of the directory in the skill's.
    pub dir: &'static str,
    /// True if files of its sub-directories are listed too.
    pub deep: bool,
    /// The ends of the names of listed files; empty if all files are listed.
    pub endings: &'static [&'static str],
}

impl FileGroup {
    /// Returns true if the list has the file of this path relative to the skill's directory.
    pub fn has(&self, path: &str) -> bool {
        let below = path.strip_prefix(self.dir).and_then(|it| it.strip_prefix('/'));
        let is_ending = self.endings.is_empty() || self.endings.iter().any(|it| path.ends_with(it));
        below.is_some_and(|it| self.deep || !it.contains('/')) && is_ending
    }
}

/// Form of the paths of a skill's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FilePaths {
    Absolute,
    /// Relative to the working directory, or absolute outside of it.
    BelowCwd,
    /// Relative to the skill's directory.
    BelowSkill,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentsTemplate {
    Ignored,
    /// They are ignored; in `{text}`, this variable stands for the skill's directory.
    Directory(&'static str),
    /// They fill `{arguments}` in the text, within this one; without arguments nothing does.
    Filled(&'static str),
    /// They fill `{arguments}`; in the body, `$ARGUMENTS`, `$ARGUMENTS[N]`, `$N` and `$NAME` of the
    /// field `arguments` are replaced, with missing ones empty. Without any, `ARGUMENTS: ` and the
    /// arguments follow the body.
    Placeholders {
        /// The variable that stands for the skill's directory.
        dir: &'static str,
    },
}

/// A tool that loads skills.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct ToolTemplate {
    pub name: &'static str,
    /// The description; `{listing}` stands for the list of skills.
    pub description: &'static str,
    /// The parameter for the skill's name.
    pub parameter: &'static str,
    /// The JSON Schema of the parameters.
    pub schema: &'static str,
}
