//! [`Text`]: the strings of a profile.

use std::borrow::Cow;

/// Text that is built in or comes from a user's configuration.
pub type Text = Cow<'static, str>;
