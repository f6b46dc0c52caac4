//! Tests of Gemini CLI's extensions, as the running agent lists them.

use expect_test::expect;

use super::{check, check_explain};

const TREE: &str = "
//- /w/.git dir
//- /w/sub dir
//- /home/u/.gemini/extensions/alpha/gemini-extension.json
{ \"name\": \"alpha\", \"version\": \"1.0.0\" }
//- /home/u/.gemini/extensions/alpha/skills/one/SKILL.md
---
name: one
description: of alpha
---
//- /home/u/.gemini/extensions/alpha/skills/both/SKILL.md
---
name: both
description: of alpha
---
//- /home/u/.gemini/extensions/beta/gemini-extension.json
{ \"name\": \"second\", \"version\": \"1.0.0\" }
//- /home/u/.gemini/extensions/beta/skills/both/SKILL.md
---
name: both
description: of beta
---
//- /home/u/.gemini/extensions/beta/skills/group/deep/SKILL.md
---
name: deep
description: too deep
---
//- /home/u/.gemini/extensions/none/skills/none/SKILL.md
---
name: none
description: without a manifest
---
//- /home/u/.gemini/extensions/half/gemini-extension.json
{ \"name\": \"half\" }
//- /home/u/.gemini/extensions/half/skills/half/SKILL.md
---
name: half
description: without a version
---
//- /home/u/.gemini/extensions/off/gemini-extension.json
{ \"name\": \"off\", \"version\": \"1\" }
//- /home/u/.gemini/extensions/off/skills/off/SKILL.md
---
name: off
description: off in the worktree
---
//- /home/u/.gemini/extensions/again/gemini-extension.json
{ \"name\": \"again\", \"version\": \"1\" }
//- /home/u/.gemini/extensions/again/skills/again/SKILL.md
---
name: again
description: on in one directory
---
//- /home/u/.gemini/extensions/linked/.gemini-extension-install.json
{ \"source\": \"/src/linked\", \"type\": \"link\" }
//- /src/linked/gemini-extension.json
{ \"name\": \"linked\", \"version\": \"1\" }
//- /src/linked/skills/SKILL.md
---
name: linked
description: in the directory of skills itself
---
//- /home/u/.gemini/extensions/extension-enablement.json
{
  \"off\": { \"overrides\": [\"!/w/*\"] },
  \"again\": { \"overrides\": [\"!/*\", \"/w/\"] }
}
//- /home/u/.gemini/skills/one/SKILL.md
---
name: one
description: of the user's own
---
";

#[test]
fn later_extension_wins_and_user_skills_win_over_both() {
    check(
        "gemini-cli",
        "/w",
        TREE,
        &expect![[r#"
            active      again      /home/u/.gemini/extensions/again/skills/again/SKILL.md
            shadowed    one        /home/u/.gemini/extensions/alpha/skills/one/SKILL.md
                name/unique: `/home/u/.gemini/skills/one/SKILL.md` has the same name and is found later
            shadowed    both       /home/u/.gemini/extensions/alpha/skills/both/SKILL.md
                name/unique: `/home/u/.gemini/extensions/beta/skills/both/SKILL.md` has the same name and is found later
            active      both       /home/u/.gemini/extensions/beta/skills/both/SKILL.md
            active      linked     /src/linked/skills/SKILL.md
            active      one        /home/u/.gemini/skills/one/SKILL.md
            passed over /home/u/.gemini/extensions/beta/skills/group/deep: this is deeper than the 1 level below the root that the agent searches
        "#]],
    );
    check(
        "gemini-cli",
        "/w/sub",
        TREE,
        &expect![[r#"
            shadowed    one        /home/u/.gemini/extensions/alpha/skills/one/SKILL.md
                name/unique: `/home/u/.gemini/skills/one/SKILL.md` has the same name and is found later
            shadowed    both       /home/u/.gemini/extensions/alpha/skills/both/SKILL.md
                name/unique: `/home/u/.gemini/extensions/beta/skills/both/SKILL.md` has the same name and is found later
            active      both       /home/u/.gemini/extensions/beta/skills/both/SKILL.md
            active      linked     /src/linked/skills/SKILL.md
            active      one        /home/u/.gemini/skills/one/SKILL.md
            passed over /home/u/.gemini/extensions/beta/skills/group/deep: this is deeper than the 1 level below the root that the agent searches
        "#]],
    );
}

#[test]
fn disabled_extension_is_explained_with_position() {
    let path = "/home/u/.gemini/extensions/off/skills/off/SKILL.md";
    check_explain(
        "gemini-cli",
        "/w",
        path,
        TREE,
        &expect![[r#"
            Gemini CLI finds no skill at `/home/u/.gemini/extensions/off/skills/off/SKILL.md`: its extension is not used: `/home/u/.gemini/extensions/extension-enablement.json:2:26` switches `off` off here.
            next: Repair it, or enable it with `gemini extensions enable off`.
            extension/enabled decisive=true: its extension is not used: `/home/u/.gemini/extensions/extension-enablement.json:2:26` switches `off` off here
            settings /home/u/.gemini/extensions/extension-enablement.json at 2:26: extension `off` is off here: `!/w/*`
            settings /home/u/.gemini/extensions/extension-enablement.json at 3:35: extension `again` is on here: `/w/`
            root /builtin:/gemini-cli: comes from the program of Gemini CLI 0.61.0
            root /home/u/.gemini/extensions/again/skills: comes from the extension `again`
            root /home/u/.gemini/extensions/alpha/skills: comes from the extension `alpha`
            root /home/u/.gemini/extensions/beta/skills: comes from the extension `second`
            root /home/u/.gemini/extensions/half/skills: `/home/u/.gemini/extensions/half/gemini-extension.json` has no `version`
            root /src/linked/skills: comes from the extension `linked`
            root /home/u/.gemini/extensions/none/skills: `/home/u/.gemini/extensions/none/gemini-extension.json` cannot be read as its manifest
            root /home/u/.gemini/extensions/off/skills: `/home/u/.gemini/extensions/extension-enablement.json:2:26` switches `off` off here
            root /home/u/.gemini/skills
        "#]],
    );
    let path = "/home/u/.gemini/extensions/half/skills/half/SKILL.md";
    check_explain(
        "gemini-cli",
        "/w",
        path,
        TREE,
        &expect![[r#"
            Gemini CLI finds no skill at `/home/u/.gemini/extensions/half/skills/half/SKILL.md`: its extension is not used: `/home/u/.gemini/extensions/half/gemini-extension.json` has no `version`.
            next: Repair it, or enable it with `gemini extensions enable half`.
            extension/enabled decisive=true: its extension is not used: `/home/u/.gemini/extensions/half/gemini-extension.json` has no `version`
            settings /home/u/.gemini/extensions/extension-enablement.json at 2:26: extension `off` is off here: `!/w/*`
            settings /home/u/.gemini/extensions/extension-enablement.json at 3:35: extension `again` is on here: `/w/`
            root /builtin:/gemini-cli: comes from the program of Gemini CLI 0.61.0
            root /home/u/.gemini/extensions/again/skills: comes from the extension `again`
            root /home/u/.gemini/extensions/alpha/skills: comes from the extension `alpha`
            root /home/u/.gemini/extensions/beta/skills: comes from the extension `second`
            root /home/u/.gemini/extensions/half/skills: `/home/u/.gemini/extensions/half/gemini-extension.json` has no `version`
            root /src/linked/skills: comes from the extension `linked`
            root /home/u/.gemini/extensions/none/skills: `/home/u/.gemini/extensions/none/gemini-extension.json` cannot be read as its manifest
            root /home/u/.gemini/extensions/off/skills: `/home/u/.gemini/extensions/extension-enablement.json:2:26` switches `off` off here
            root /home/u/.gemini/skills
        "#]],
    );
}
