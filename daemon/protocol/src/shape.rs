//! Wire names of a struct's fields, for suggestions and for the tests that keep names stable.
//!
//! Derived code passes the field names to the deserializer before it reads any field; this
//! deserializer records them and stops.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::forward_to_deserialize_any;

/// Returns the wire names of the fields of `T`, optional ones included.
pub(crate) fn fields<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // Always ends with the error that stops deserialization.
    let _ = T::deserialize(Announced { names: &mut names });
    names
}

struct Announced<'a> {
    names: &'a mut &'static [&'static str],
}

#[derive(Debug, thiserror::Error)]
#[error("the names are known")]
struct Ended;

impl de::Error for Ended {
    fn custom<T: fmt::Display>(_message: T) -> Self {
        Self
    }
}

impl<'de> Deserializer<'de> for Announced<'_> {
    type Error = Ended;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Ended> {
        *self.names = fields;
        Err(Ended)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Ended> {
        Err(Ended)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier
        ignored_any
    }
}
