//! A registry's index and the URLs in it.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use skills_discovery::remote::{Address, MAX_FILES, MAX_SKILLS, check_file, read};

use super::parts;

/// Asserts that every name of an index is a plain path below its directory, and that counts are
/// limited.
///
/// The first part is the index, the second an address, the third the target of a redirect.
///
/// # Panics
///
/// Panics if an invariant does not hold.
pub fn check(input: &[u8]) {
    let [index, address, location] = parts(input);
    if let Ok(index) = read(index.as_bytes()) {
        assert!(index.skills.len() <= MAX_SKILLS && index.refused.len() <= MAX_SKILLS);
        let mut names = BTreeSet::new();
        for skill in &index.skills {
            assert_eq!(depth(&skill.name), Some(1), "{:?}", skill.name);
            assert!(!skill.name.starts_with('.'), "{:?}", skill.name);
            assert!(names.insert(skill.name.to_lowercase()), "{:?} is there twice", skill.name);
            assert!(skill.files.len() <= MAX_FILES);
            assert!(skill.files.iter().any(|it| it == "SKILL.md"));
            let files: BTreeSet<&String> = skill.files.iter().collect();
            assert_eq!(files.len(), skill.files.len(), "{:?}", skill.files);
            for file in &skill.files {
                assert!(depth(file).is_some(), "{file:?}");
                assert_eq!(check_file(file), Ok(()));
            }
        }
    }
    let Ok(address) = Address::parse(address.trim()) else { return };
    let again = Address::parse(address.as_str());
    assert_eq!(again.as_ref(), Ok(&address), "{address}");
    assert!(!address.as_str().contains(['?', '#', ' ', '\r', '\n']), "{address}");
    assert!(!address.authority().contains('@'), "{address}");
    assert!(address.authority().starts_with(address.host()), "{address}");
    let below = address.below(&location);
    assert!(below.starts_with(&format!("{address}/")), "{below}");
    let relative = &below[address.as_str().len()..];
    assert!(relative.is_ascii() && !relative.contains(['?', '#', ' ', '\n']), "{below}");
    if location.starts_with('/') && !location.starts_with("//") {
        let redirected = Address::redirected(address.as_str(), &location);
        assert!(redirected.is_none_or(|it| it.has_origin_of(&address)), "{address} {location:?}");
    }
}

/// Returns the number of components of a path, or `None` if one of them is not a plain name.
fn depth(path: &str) -> Option<usize> {
    let is_plain = |it: Component<'_>| matches!(it, Component::Normal(_));
    let parts = Path::new(path).components().count();
    let is_path = path.split('/').count() == parts && !path.contains('\0');
    (is_path && Path::new(path).components().all(is_plain)).then_some(parts)
}
