//! [`NameMap`]: a small sorted map from the names of a directory to cached answers.
//!
//! Most directories have one or two names, and there are as many such directories as skills: a
//! sorted vector takes tens of bytes, the first leaf of a B-tree two thousand.

use std::ffi::{OsStr, OsString};

/// A map from names to values, sorted by name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NameMap<T>(Vec<(OsString, T)>);

impl<T> Default for NameMap<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> NameMap<T> {
    pub(crate) fn get(&self, name: &OsStr) -> Option<&T> {
        self.find(name).ok().map(|it| &self.0[it].1)
    }

    pub(crate) fn insert(&mut self, name: OsString, value: T) {
        match self.find(&name) {
            Ok(index) => self.0[index].1 = value,
            Err(index) => {
                self.0.reserve_exact(1);
                self.0.insert(index, (name, value));
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&OsString, &T)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &OsString> {
        self.0.iter().map(|(name, _)| name)
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    fn find(&self, name: &OsStr) -> Result<usize, usize> {
        self.0.binary_search_by(|(it, _)| it.as_os_str().cmp(name))
    }
}

impl<T> FromIterator<(OsString, T)> for NameMap<T> {
    fn from_iter<I: IntoIterator<Item = (OsString, T)>>(iter: I) -> Self {
        let mut names = Self::default();
        for (name, value) in iter {
            names.insert(name, value);
        }
        names
    }
}

impl<T> IntoIterator for NameMap<T> {
    type Item = (OsString, T);
    type IntoIter = std::vec::IntoIter<(OsString, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_sorted_and_insert_replaces() {
        let mut names: NameMap<u8> = [("b".into(), 1), ("a".into(), 2)].into_iter().collect();
        names.insert("b".into(), 3);
        let all: Vec<_> = names.iter().map(|(name, it)| (name.clone(), *it)).collect();
        assert_eq!(all, [("a".into(), 2), ("b".into(), 3)]);
        assert_eq!(names.get(OsStr::new("c")), None);
    }
}
