//! Types whose values all have a keyword, in the configuration and in the reference.
//!
//! Keywords are a stable interface: add new ones, never repurpose them.

/// A type whose values all have a keyword.
pub trait Keyword: Copy + PartialEq + Sized + 'static {
    /// Every value with its keyword, in the order of the reference.
    const KEYWORDS: &'static [(&'static str, Self)];

    /// Returns the value's keyword.
    fn keyword(self) -> &'static str {
        let found = Self::KEYWORDS.iter().find(|(_, value)| *value == self);
        found.map_or("", |(word, _)| word)
    }

    fn from_keyword(word: &str) -> Option<Self> {
        Self::KEYWORDS.iter().find(|(it, _)| *it == word).map(|(_, value)| *value)
    }

    fn keywords() -> Vec<&'static str> {
        Self::KEYWORDS.iter().map(|(word, _)| *word).collect()
    }
}

/// Declares enums whose values have a keyword: `Variant = "keyword"`.
macro_rules! keyword_enum {
    ($(
        $(#[$meta:meta])*
        $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)* }
    )*) => {
        $(
            $(#[$meta])*
            pub enum $name {
                $($(#[$variant_meta])* $variant,)*
            }

            impl crate::keyword::Keyword for $name {
                const KEYWORDS: &'static [(&'static str, Self)] =
                    &[$(($word, Self::$variant),)*];
            }
        )*
    };
}

pub(crate) use keyword_enum;
