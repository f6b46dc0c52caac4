//! [`Text`]: a string of a profile, built in or from the user's configuration.

use std::borrow::Cow;

/// Text that is built in or comes from a user's configuration.
pub type Text = Cow<'static, str>;
