//! What is written as a field's value, and what agents make of it.
//!
//! A [`Shape`] is what an author writes and what our own reading accepts: whatever any agent
//! would understand. A [`Coercion`] is what one agent does. The readings themselves are in
//! [`crate::fields`].

use crate::yaml_library::YamlLibrary;

/// What is written as the value of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A text.
    Text,
    /// A text that authors like to write in brackets: its spelling counts.
    Spelling,
    /// A switch: on or off.
    Switch,
    /// A list of words, or a text with words between separators.
    Words(Separators),
    /// A list of globs, or a text with globs between commas.
    Globs,
    /// A map from text to text.
    TextMap,
    /// One of the field's values.
    Choice {
        /// Whether other words than the field's values have a meaning too.
        open: bool,
        /// Whether an integer stands for one.
        integer: bool,
    },
    /// A map from events to hooks.
    Hooks,
    /// Anything; nobody reads it.
    Any,
}

impl Shape {
    /// Returns our own reading of such a value, the most understanding one.
    pub const fn coercion(self) -> Coercion {
        match self {
            Self::Text => Coercion::Text,
            Self::Spelling => Coercion::Spelling,
            Self::Switch => Coercion::Switch,
            Self::Words(separators) => Coercion::Words(separators),
            Self::Globs => Coercion::Words(Separators::CommasOutsideBraces),
            Self::TextMap => Coercion::TextMap,
            Self::Choice { integer: false, .. } => Coercion::Choice,
            Self::Choice { integer: true, .. } => Coercion::ChoiceOrInteger,
            Self::Hooks => Coercion::Hooks,
            Self::Any => Coercion::Anything,
        }
    }
}

/// What stands between the words of a text that is a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Separators {
    /// White space outside parentheses.
    Blanks,
    /// Commas and white space outside parentheses.
    CommasAndBlanks,
    /// Commas outside braces.
    CommasOutsideBraces,
}

/// What one agent makes of a value.
///
/// A null is a missing field for all but [`Coercion::String`], [`Coercion::StringMap`] and
/// [`Coercion::ListOnly`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coercion {
    /// Numbers, booleans and dates are the text they are written as.
    Text,
    /// As [`Coercion::Text`]; a list or map in brackets is the text it is written as, too.
    Spelling,
    /// Only what the agent's YAML library takes for a string.
    String(YamlLibrary),
    /// `true`, `yes`, `on`, `1` and their opposites in any case, quoted or not.
    Switch,
    /// `true` and `false` without quotes.
    Boolean,
    /// A list, or a text that is split.
    Words(Separators),
    /// A list of strings; a text is refused.
    ListOnly(YamlLibrary),
    /// A map from text to text; numbers, booleans and dates are the text they are written as.
    TextMap,
    /// As [`Coercion::TextMap`], of these keys only; what stands under others does not matter.
    TextMapOf(&'static [&'static str]),
    /// A map from text to strings; other values are refused.
    StringMap(YamlLibrary),
    /// A word.
    Choice,
    /// A word or an integer.
    ChoiceOrInteger,
    /// Hooks by event.
    Hooks,
    /// Anything, as it is.
    Anything,
}
