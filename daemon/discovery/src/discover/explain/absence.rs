//! Reason why a path is not a skill ([`Absence`]), and the reasons that follow from the path alone.

use std::ffi::OsStr;

use skills_syntax::path::AbsPath;
use skills_syntax::quote::quote_word;
use skills_syntax::text::LineColumn;

use super::super::candidate::SKILL_FILE;
use super::super::reason_rule::ReasonRule;
use super::super::{SearchRoot, SkipReason};
use super::near_miss::{NearMiss, NearMissKind};

/// Suggested action for a root that leads to a directory that is never searched.
pub(super) const OUT_OF_BOUNDS: &str = "Change it to a directory of skills.";

/// Reason why a path is not a skill of the agent.
#[derive(Clone, Debug)]
pub(super) struct Absence {
    /// The rule that decided.
    pub(super) rule: ReasonRule,
    /// Reason, as a sentence fragment.
    pub(super) why: String,
    /// Suggested action, as a sentence.
    pub(super) next: String,
    /// File and position that cause it.
    pub(super) place: Option<(AbsPath, LineColumn)>,
}

impl Absence {
    pub(super) fn new(rule: ReasonRule, why: String, next: impl Into<String>) -> Self {
        Self { rule, why, next: next.into(), place: None }
    }
}

/// Explains that a path does not exist, and names the path that is like it.
pub(super) fn nothing(path: &AbsPath, alike: Option<&AbsPath>, profile: &str) -> Absence {
    let Some(alike) = alike else {
        let next = "Check the path; `skillsd list` shows all skills.";
        return Absence::new(ReasonRule::PathExists, "the path does not exist".to_owned(), next);
    };
    let is_file = path.file_name().is_some_and(|it| it.eq_ignore_ascii_case(SKILL_FILE));
    if is_file && alike.file_name().is_some_and(|it| it != SKILL_FILE) {
        return wrong_case(alike);
    }
    let why = format!("the path does not exist, but `{}` does", alike.display());
    let word = quote_word(&alike.display().to_string());
    let command = format!("skillsd explain {word} --profile {profile}");
    let next = format!("Did you mean `{}`? Run `{command}`.", alike.display());
    Absence::new(ReasonRule::PathExists, why, next)
}

pub(super) fn wrong_case(path: &AbsPath) -> Absence {
    let why = format!("`{}` must be called `{SKILL_FILE}`, in capitals", path.display());
    let to = path.parent().map(|it| it.child(SKILL_FILE).display().to_string());
    let next = format!("Rename `{}` to `{}`.", path.display(), to.unwrap_or_default());
    Absence::new(ReasonRule::FileName, why, next)
}

/// Explains why a path in a directory that is searched later is no skill then either.
pub(super) fn unfit(
    path: &AbsPath,
    root: &AbsPath,
    max_depth: Option<u16>,
    stray: Option<&NearMiss>,
) -> Option<Absence> {
    let is_skill_file = |it: &OsStr| it.eq_ignore_ascii_case(SKILL_FILE);
    let is_file = path.file_name().is_some_and(is_skill_file);
    let file = match stray.map(|it| &it.thing) {
        Some(NearMissKind::Directory(Some(name))) => path.child(name),
        _ if is_file => path.clone(),
        _ => return None,
    };
    if file.file_name() != Some(OsStr::new(SKILL_FILE)) {
        return Some(wrong_case(&file));
    }
    let dir = file.parent()?;
    let max = max_depth?;
    let depth = dir.strip_prefix(root).ok()?.components().count();
    (depth > usize::from(max)).then(|| {
        let reason = SkipReason::TooDeep(max);
        let target = root.child(dir.file_name().unwrap_or_default());
        let next = format!("Move `{}` to `{}`.", dir.display(), target.display());
        Absence::new(reason.rule(), reason.message(), next)
    })
}

/// Explains why an entry of a searched root is not a skill.
pub(super) fn not_a_skill(
    path: &AbsPath,
    root: &SearchRoot,
    thing: Option<&NearMissKind>,
) -> Absence {
    let (rule, shown) = (ReasonRule::FileThere, path.display());
    match thing {
        Some(NearMissKind::File) => Absence::new(
            rule,
            format!(
                "it is a file that belongs to no skill; a skill is a directory with a {SKILL_FILE}"
            ),
            match path.file_stem().filter(|_| path.extension() == Some(OsStr::new("md"))) {
                Some(stem) => {
                    let target = root.path.child(stem).child(SKILL_FILE);
                    format!("Move `{shown}` to `{}`.", target.display())
                }
                None => "Move it into the directory of a skill.".to_owned(),
            },
        ),
        Some(NearMissKind::Directory(Some(name))) if name != SKILL_FILE => {
            wrong_case(&path.child(name))
        }
        Some(NearMissKind::Directory(_)) if *path != root.path => Absence::new(
            rule,
            format!("the directory has no {SKILL_FILE}, and none is below it"),
            format!("Write `{shown}/{SKILL_FILE}`."),
        ),
        _ => Absence::new(
            rule,
            format!(
                "`{}` is searched, but there is no {SKILL_FILE} at this path",
                root.path.display()
            ),
            format!("Check the spelling: the file must be called `{SKILL_FILE}`."),
        ),
    }
}
