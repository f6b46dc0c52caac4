//! The plain reader: an independent implementation of two profiles' lists, by reading files in a
//! loop.
//!
//! It is deliberately slow, literal and short, written from the agents' published rules, and shares
//! no code with the product: no watching, no caching, no spans. If the live index and this reader
//! disagree, one of them is wrong, and this one can be read in five minutes. It returns only the
//! default list: names, paths and descriptions, in order.

mod agentskills;
mod claude_code;
mod frontmatter;
mod location;
mod skill;

pub use agentskills::agentskills;
pub use claude_code::claude_code;
pub use location::AgentLocation;
pub use skill::Skill;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Home;

    #[track_caller]
    fn check(text: &str, cwd: &str, agentskills_names: &[&str], claude_code_names: &[&str]) {
        let home = Home::new();
        let top = home.worktree("w", text);
        let location = AgentLocation::new(top.join(cwd), home.path());
        let names = |skills: Vec<Skill>| -> Vec<String> {
            skills.into_iter().map(|skill| skill.name).collect()
        };
        assert_eq!(names(agentskills(&location)), agentskills_names, "agentskills");
        assert_eq!(names(claude_code(&location)), claude_code_names, "claude-code");
    }

    #[test]
    fn plain_reader_lists_nearest_root_first_and_each_name_once() {
        check(
            "//- /.claude/skills/a/SKILL.md\n---\nname: a\ndescription: top\n---\n\
             //- /.agents/skills/c/SKILL.md\n---\nname: c\ndescription: top\n---\n\
             //- /sub/.claude/skills/a/SKILL.md\n---\nname: a\ndescription: sub\n---\n\
             //- /sub/.claude/skills/b/SKILL.md\n---\nname: b\ndescription: sub\n---\n",
            "sub",
            &["a", "b", "c"],
            &["a", "b"],
        );
    }

    #[test]
    fn plain_reader_follows_depth_and_hidden_rules_of_each_profile() {
        check(
            "//- /.claude/skills/one/SKILL.md\n---\nname: one\ndescription: d\n---\n\
             //- /.claude/skills/one/inner/SKILL.md\n---\nname: inner\ndescription: d\n---\n\
             //- /.claude/skills/g/two/SKILL.md\n---\nname: two\ndescription: d\n---\n\
             //- /.claude/skills/1/2/3/4/5/6/SKILL.md\n---\nname: six\ndescription: d\n---\n\
             //- /.claude/skills/1/2/3/4/5/66/7/SKILL.md\n---\nname: seven\ndescription: d\n---\n\
             //- /.claude/skills/.h/SKILL.md\n---\nname: hidden\ndescription: d\n---\n\
             //- /.claude/skills/node_modules/n/SKILL.md\n---\nname: n\ndescription: d\n---\n\
             //- /.claude/skills/SKILL.md\n---\nname: root\ndescription: d\n---\n",
            "",
            &["six", "two", "one"],
            &["one"],
        );
    }

    #[test]
    fn linked_directory_is_listed_once() {
        check(
            "//- /real/s/SKILL.md\n---\nname: s\ndescription: d\n---\n\
             //- /.claude/skills/a link=../../real/s\n\
             //- /.claude/skills/b link=../../real/s\n\
             //- /.claude/skills/loop link=.\n\
             //- /.claude/skills/gone link=nowhere\n",
            "",
            &["s"],
            &["a"],
        );
    }

    #[test]
    fn plain_reader_follows_required_fields_of_each_profile() {
        check(
            "//- /.claude/skills/a/SKILL.md\n---\nname: other\n---\nFirst line.\n\
             //- /.claude/skills/b/SKILL.md\n---\ndescription: no name\n---\n\
             //- /.claude/skills/c/SKILL.md\n---\nname: 12\ndescription: a: b\n---\n\
             //- /.claude/skills/d/SKILL.md\n---\nname: d\ndescription: d\npaths: src/**\n---\n\
             //- /.claude/skills/e/SKILL.md\n---\nname: e\ndescription: e\ndisable-model-invocation: yes\n---\n\
             //- /.claude/skills/f/SKILL.md\n---\nname: f\ndescription: ''\n---\n",
            "",
            &["12"],
            &["a", "b", "c", "f"],
        );
    }
}
