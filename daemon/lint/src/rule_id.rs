//! [`RuleId`]: the identity of a rule, and its form in text.

use std::fmt;

macro_rules! rule_ids {
    ($($rule:ident = $id:literal,)*) => {
        /// The id of a rule. Text such as a suppression comment, the configuration and messages on
        /// the wire contain it as `family/kebab-name`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum RuleId {
            $(#[doc = concat!("`", $id, "`")] $rule,)*
        }

        impl RuleId {
            /// All ids, in the order of the reference page.
            pub const ALL: &[Self] = &[$(Self::$rule,)*];

            /// Returns the id as text, `family/kebab-name`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$rule => $id,)*
                }
            }
        }

        impl std::str::FromStr for RuleId {
            type Err = UnknownRule;

            fn from_str(text: &str) -> Result<Self, UnknownRule> {
                match text {
                    $($id => Ok(Self::$rule),)*
                    _ => Err(UnknownRule),
                }
            }
        }
    };
}

rule_ids! {
    YamlNoFrontmatter = "yaml/no-frontmatter",
    YamlUnclosedFrontmatter = "yaml/unclosed-frontmatter",
    YamlMissingOpening = "yaml/missing-opening",
    YamlTextBeforeFrontmatter = "yaml/text-before-frontmatter",
    YamlOddClosing = "yaml/odd-closing",
    YamlSyntax = "yaml/syntax",
    YamlDuplicateKey = "yaml/duplicate-key",
    YamlTabIndentation = "yaml/tab-indentation",
    YamlUnquotedColon = "yaml/unquoted-colon",
    YamlCommentCutsValue = "yaml/comment-cuts-value",
    YamlUnquotedStart = "yaml/unquoted-start",
    YamlFlowValue = "yaml/flow-value",
    YamlAmbiguousScalar = "yaml/ambiguous-scalar",
    YamlAlias = "yaml/alias",
    YamlRecursiveAlias = "yaml/recursive-alias",
    YamlUnindentedContinuation = "yaml/unindented-continuation",
    YamlControlCharacter = "yaml/control-character",
    YamlNotAMapping = "yaml/not-a-mapping",
    YamlTooDeep = "yaml/too-deep",
    YamlNotUtf8 = "yaml/not-utf8",
    YamlByteOrderMark = "yaml/byte-order-mark",
    YamlCrlf = "yaml/crlf",
    YamlLoneCr = "yaml/lone-cr",
    NameMissing = "name/missing",
    NameType = "name/type",
    NameCharset = "name/charset",
    NameHyphens = "name/hyphens",
    NameLength = "name/length",
    NameDirectory = "name/directory",
    NameReserved = "name/reserved",
    NameCase = "name/case",
    NameSimilar = "name/similar",
    DescriptionMissing = "description/missing",
    DescriptionEmpty = "description/empty",
    DescriptionType = "description/type",
    DescriptionLength = "description/length",
    DescriptionListing = "description/listing",
    DescriptionMarkup = "description/markup",
    DescriptionWhen = "description/when",
    DescriptionUnwritten = "description/unwritten",
    DescriptionPerson = "description/person",
    FieldUnknown = "field/unknown",
    FieldMisspelled = "field/misspelled",
    FieldInert = "field/inert",
    FieldUnread = "field/unread",
    FieldType = "field/type",
    FieldValue = "field/value",
    FieldDeprecated = "field/deprecated",
    FieldContradiction = "field/contradiction",
    FieldLength = "field/length",
    ToolsUnknown = "tools/unknown",
    ToolsRenamed = "tools/renamed",
    ToolsPattern = "tools/pattern",
    ToolsSeparator = "tools/separator",
    ToolsMcp = "tools/mcp",
    PathsGlob = "paths/glob",
    PathsNothing = "paths/nothing",
    PathsEverything = "paths/everything",
    PathsAbsolute = "paths/absolute",
    PathsBackslash = "paths/backslash",
    PathsBraces = "paths/braces",
    PathsNegation = "paths/negation",
    HooksEvent = "hooks/event",
    HooksMatcher = "hooks/matcher",
    HooksIgnoredMatcher = "hooks/ignored-matcher",
    HooksMissingKey = "hooks/missing-key",
    HooksKind = "hooks/kind",
    HooksKey = "hooks/key",
    HooksType = "hooks/type",
    HooksVariable = "hooks/variable",
    HooksUnquoted = "hooks/unquoted",
    BodyLong = "body/long",
    BodyEmpty = "body/empty",
    BodyTooLarge = "body/too-large",
    BodyBrokenLink = "body/broken-link",
    BodyBrokenAnchor = "body/broken-anchor",
    BodyBrokenPath = "body/broken-path",
    BodyMissingScript = "body/missing-script",
    BodyEscape = "body/escape",
    BodyNotExecutable = "body/not-executable",
    BodyUnreferencedFile = "body/unreferenced-file",
    BodyUnclosedFence = "body/unclosed-fence",
    BodyConflictMarker = "body/conflict-marker",
    BodyUnbalancedTag = "body/unbalanced-tag",
    BodyEditorReference = "body/editor-reference",
    BodyUnfinished = "body/unfinished",
    BodyNoHint = "body/no-hint",
    BodyUnknownVariable = "body/unknown-variable",
    BodyCommandNotRun = "body/command-not-run",
    BodyCurrency = "body/currency",
    BodyCodeArgument = "body/code-argument",
    SecurityHiddenUnicode = "security/hidden-unicode",
    SecurityFrontmatterCode = "security/frontmatter-code",
    SecurityListingInjection = "security/listing-injection",
    SecuritySecret = "security/secret",
    SecurityPipeToShell = "security/pipe-to-shell",
    SecurityHomePath = "security/home-path",
    IndexShadowed = "index/shadowed",
    IndexShadowing = "index/shadowing",
    IndexDuplicate = "index/duplicate",
    IndexTooDeep = "index/too-deep",
    IndexMisplaced = "index/misplaced",
    IndexGitIgnored = "index/git-ignored",
    IndexLink = "index/link",
    IndexUnreadable = "index/unreadable",
    IndexBudget = "index/budget",
    RefUnknown = "ref/unknown",
    RefBrokenLink = "ref/broken-link",
    CommandName = "command/name",
    CommandNameField = "command/name-field",
    CommandShadowed = "command/shadowed",
    SkillsdUnknownRule = "skillsd/unknown-rule",
    SkillsdTooMany = "skillsd/too-many",
}

/// Error for a text that is not the id of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownRule;

impl fmt::Display for UnknownRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown rule")
    }
}

impl std::error::Error for UnknownRule {}

impl RuleId {
    /// Returns the part before the slash.
    pub fn family(self) -> &'static str {
        self.as_str().split_once('/').map_or(self.as_str(), |(family, _)| family)
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
