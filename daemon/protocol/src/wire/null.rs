//! Reads `null` in parameters.

use serde::{Deserialize, Deserializer};

/// Reads `null` as the default: clients in loosely typed languages send it for "none", even for a
/// list.
pub(super) fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}
