//! The texts about skills of the agents whose formats are data, one file each.

use super::template::PromptTemplate;

macro_rules! prompts {
    ($($module:ident,)*) => {
        $(pub(super) mod $module;)*

        /// All of them.
        pub(super) const ALL: &[&PromptTemplate] = &[$(&$module::PROMPTS),*];
    };
}

prompts! {
    copilot_cli,
    qwen_code,
    droid,
    kimi_code,
    pi,
    openclaw,
    cline,
    continue_dev,
    mistral_vibe,
}
