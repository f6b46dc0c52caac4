//! [`RuleId`]: the identity of a rule, and its form in text.

use std::fmt;

macro_rules! rule_ids {
    ($($rule:ident = $id:literal in $($place:ident)::+,)*) => {
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

/// Calls a macro with the row of each rule, in the order of the reference page: the id, its form in
/// text, and the static with the rule's documentation.
macro_rules! for_each_rule {
    ($then:ident) => {
        $then! {
            YamlNoFrontmatter = "yaml/no-frontmatter" in yaml::rules::NO_FRONTMATTER,
            YamlUnclosedFrontmatter = "yaml/unclosed-frontmatter" in yaml::rules::UNCLOSED_FRONTMATTER,
            YamlMissingOpening = "yaml/missing-opening" in yaml::rules::MISSING_OPENING,
            YamlTextBeforeFrontmatter = "yaml/text-before-frontmatter" in yaml::rules::TEXT_BEFORE_FRONTMATTER,
            YamlOddClosing = "yaml/odd-closing" in yaml::rules::ODD_CLOSING,
            YamlSyntax = "yaml/syntax" in yaml::rules::SYNTAX,
            YamlDuplicateKey = "yaml/duplicate-key" in yaml::rules::DUPLICATE_KEY,
            YamlTabIndentation = "yaml/tab-indentation" in yaml::rules::TAB_INDENTATION,
            YamlUnquotedColon = "yaml/unquoted-colon" in yaml::rules::UNQUOTED_COLON,
            YamlCommentCutsValue = "yaml/comment-cuts-value" in yaml::rules::COMMENT_CUTS_VALUE,
            YamlUnquotedStart = "yaml/unquoted-start" in yaml::rules::UNQUOTED_START,
            YamlFlowValue = "yaml/flow-value" in yaml::rules::FLOW_VALUE,
            YamlAmbiguousScalar = "yaml/ambiguous-scalar" in yaml::rules::AMBIGUOUS_SCALAR,
            YamlAlias = "yaml/alias" in yaml::rules::ALIAS,
            YamlRecursiveAlias = "yaml/recursive-alias" in yaml::rules::RECURSIVE_ALIAS,
            YamlUnindentedContinuation = "yaml/unindented-continuation" in yaml::rules::UNINDENTED_CONTINUATION,
            YamlControlCharacter = "yaml/control-character" in yaml::rules::CONTROL_CHARACTER,
            YamlNotAMapping = "yaml/not-a-mapping" in yaml::rules::NOT_A_MAPPING,
            YamlTooDeep = "yaml/too-deep" in yaml::rules::TOO_DEEP,
            YamlNotUtf8 = "yaml/not-utf8" in yaml::rules::NOT_UTF8,
            YamlByteOrderMark = "yaml/byte-order-mark" in yaml::rules::BYTE_ORDER_MARK,
            YamlCrlf = "yaml/crlf" in yaml::rules::CRLF,
            YamlLoneCr = "yaml/lone-cr" in yaml::rules::LONE_CR,
            NameMissing = "name/missing" in name::MISSING,
            NameType = "name/type" in name::TYPE,
            NameCharset = "name/charset" in name::CHARSET,
            NameHyphens = "name/hyphens" in name::HYPHENS,
            NameLength = "name/length" in name::LENGTH,
            NameDirectory = "name/directory" in name::DIRECTORY,
            NameReserved = "name/reserved" in name::RESERVED,
            NameCase = "name/case" in name::CASE,
            NameSimilar = "name/similar" in name::SIMILAR,
            DescriptionMissing = "description/missing" in description::MISSING,
            DescriptionEmpty = "description/empty" in description::EMPTY,
            DescriptionType = "description/type" in description::TYPE,
            DescriptionLength = "description/length" in description::LENGTH,
            DescriptionListing = "description/listing" in description::LISTING,
            DescriptionMarkup = "description/markup" in description::MARKUP,
            DescriptionWhen = "description/when" in description::NO_USE_CASE,
            DescriptionUnwritten = "description/unwritten" in description::UNWRITTEN,
            DescriptionPerson = "description/person" in description::PERSON,
            FieldUnknown = "field/unknown" in field::UNKNOWN,
            FieldMisspelled = "field/misspelled" in field::MISSPELLED,
            FieldInert = "field/inert" in field::INERT,
            FieldUnread = "field/unread" in field::UNREAD,
            FieldType = "field/type" in field::TYPE,
            FieldValue = "field/value" in field::VALUE,
            FieldDeprecated = "field/deprecated" in field::DEPRECATED,
            FieldContradiction = "field/contradiction" in field::CONTRADICTION,
            FieldLength = "field/length" in field::LENGTH,
            ToolsUnknown = "tools/unknown" in tools::UNKNOWN,
            ToolsRenamed = "tools/renamed" in tools::RENAMED,
            ToolsPattern = "tools/pattern" in tools::PATTERN,
            ToolsSeparator = "tools/separator" in tools::SEPARATOR,
            ToolsMcp = "tools/mcp" in tools::MCP,
            PathsGlob = "paths/glob" in paths::GLOB,
            PathsNothing = "paths/nothing" in paths::NOTHING,
            PathsEverything = "paths/everything" in paths::EVERYTHING,
            PathsAbsolute = "paths/absolute" in paths::ABSOLUTE,
            PathsBackslash = "paths/backslash" in paths::BACKSLASH,
            PathsBraces = "paths/braces" in paths::BRACES,
            PathsNegation = "paths/negation" in paths::NEGATION,
            HooksEvent = "hooks/event" in hooks::EVENT,
            HooksMatcher = "hooks/matcher" in hooks::MATCHER,
            HooksIgnoredMatcher = "hooks/ignored-matcher" in hooks::IGNORED_MATCHER,
            HooksMissingKey = "hooks/missing-key" in hooks::MISSING_KEY,
            HooksKind = "hooks/kind" in hooks::KIND,
            HooksKey = "hooks/key" in hooks::KEY,
            HooksType = "hooks/type" in hooks::TYPE,
            HooksVariable = "hooks/variable" in hooks::VARIABLE,
            HooksUnquoted = "hooks/unquoted" in hooks::UNQUOTED,
            BodyLong = "body/long" in body::rules::LONG,
            BodyEmpty = "body/empty" in body::rules::EMPTY,
            BodyTooLarge = "body/too-large" in body::rules::TOO_LARGE,
            BodyBrokenLink = "body/broken-link" in body::rules::BROKEN_LINK,
            BodyBrokenAnchor = "body/broken-anchor" in body::rules::BROKEN_ANCHOR,
            BodyBrokenPath = "body/broken-path" in body::rules::BROKEN_PATH,
            BodyMissingScript = "body/missing-script" in body::rules::MISSING_SCRIPT,
            BodyEscape = "body/escape" in body::rules::ESCAPE,
            BodyNotExecutable = "body/not-executable" in body::rules::NOT_EXECUTABLE,
            BodyUnreferencedFile = "body/unreferenced-file" in body::rules::UNREFERENCED_FILE,
            BodyUnclosedFence = "body/unclosed-fence" in body::rules::UNCLOSED_FENCE,
            BodyConflictMarker = "body/conflict-marker" in body::rules::CONFLICT_MARKER,
            BodyUnbalancedTag = "body/unbalanced-tag" in body::rules::UNBALANCED_TAG,
            BodyEditorReference = "body/editor-reference" in body::rules::EDITOR_REFERENCE,
            BodyUnfinished = "body/unfinished" in body::rules::UNFINISHED,
            BodyNoHint = "body/no-hint" in body::rules::NO_HINT,
            BodyUnknownVariable = "body/unknown-variable" in body::rules::UNKNOWN_VARIABLE,
            BodyCommandNotRun = "body/command-not-run" in body::rules::COMMAND_NOT_RUN,
            BodyCurrency = "body/currency" in body::rules::CURRENCY,
            BodyCodeArgument = "body/code-argument" in body::rules::CODE_ARGUMENT,
            SecurityHiddenUnicode = "security/hidden-unicode" in security::HIDDEN_UNICODE,
            SecurityFrontmatterCode = "security/frontmatter-code" in yaml::rules::FRONTMATTER_CODE,
            SecurityListingInjection = "security/listing-injection" in security::LISTING_INJECTION,
            SecuritySecret = "security/secret" in security::SECRET,
            SecurityPipeToShell = "security/pipe-to-shell" in security::PIPE_TO_SHELL,
            SecurityHomePath = "security/home-path" in security::HOME_PATH,
            IndexDropped = "index/dropped" in dropped::DROPPED,
            IndexShadowed = "index/shadowed" in index::SHADOWED,
            IndexShadowing = "index/shadowing" in index::SHADOWING,
            IndexDuplicate = "index/duplicate" in index::DUPLICATE,
            IndexTooDeep = "index/too-deep" in index::TOO_DEEP,
            IndexMisplaced = "index/misplaced" in index::MISPLACED,
            IndexGitIgnored = "index/git-ignored" in index::GIT_IGNORED,
            IndexLink = "index/link" in index::LINK,
            IndexUnreadable = "index/unreadable" in index::UNREADABLE,
            IndexBudget = "index/budget" in index::OVER_BUDGET,
            RefUnknown = "ref/unknown" in reference::UNKNOWN,
            RefBrokenLink = "ref/broken-link" in reference::BROKEN_LINK,
            CommandName = "command/name" in command::UNTYPABLE_NAME,
            CommandNameField = "command/name-field" in command::NAME_FIELD,
            CommandShadowed = "command/shadowed" in command::SHADOWED,
            SkillsdUnknownRule = "skillsd/unknown-rule" in skillsd::UNKNOWN_RULE,
            SkillsdTooMany = "skillsd/too-many" in skillsd::TOO_MANY,
        }
    };
}

pub(crate) use for_each_rule;

for_each_rule!(rule_ids);

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
