//! The rule table: the rules of all families.

use super::rule::Rule;
use super::rule_id::for_each_rule;
use super::{
    body, command, description, dropped, field, hooks, index, name, paths, reference, security,
    skillsd, tools, yaml,
};

macro_rules! rules {
    ($($rule:ident = $id:literal in $($place:ident)::+,)*) => {
        /// All rules, in the order of [`RuleId`](crate::RuleId) and of the reference page.
        static RULES: &[&Rule] = &[$(&$($place)::+,)*];
    };
}

for_each_rule!(rules);

/// Returns all rules, family by family.
pub fn rules() -> &'static [&'static Rule] {
    RULES
}

/// Returns the ids of all rules, family by family.
pub fn ids() -> Vec<&'static str> {
    RULES.iter().map(|it| it.id.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RuleId;

    #[test]
    fn each_id_has_one_row_and_one_text() {
        let rows: Vec<RuleId> = RULES.iter().map(|it| it.id).collect();
        assert_eq!(rows, RuleId::ALL);
        for id in RuleId::ALL {
            assert_eq!(id.as_str().parse(), Ok(*id));
        }
    }
}
