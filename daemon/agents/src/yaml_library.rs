//! The YAML libraries that agents read frontmatter with.

use crate::keyword::keyword_enum;

keyword_enum! {
    /// A YAML library as an agent configures it.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    YamlLibrary {
        /// js-yaml 3 (opencode, through gray-matter).
        JsYaml3 = "js-yaml-3",
        /// js-yaml 4 (Gemini CLI).
        JsYaml4 = "js-yaml-4",
        /// serde_yaml into a struct of optional texts (Codex).
        SerdeYaml = "serde-yaml",
        /// serde_yaml into a value of any kind (Copilot CLI): a duplicate key is an error in any
        /// map.
        SerdeYamlValue = "serde-yaml-value",
        /// PyYAML's safe loader (Mistral Vibe): YAML 1.1, the last of equal keys counts.
        PyYaml = "py-yaml",
        /// The npm library `yaml` 2 (the plugin): YAML 1.2 with the core schema.
        NpmYaml = "npm-yaml",
        /// The same library, with values converted to text as JavaScript does (Qwen Code).
        NpmYamlAsText = "npm-yaml-as-text",
        /// The same library, with lists and maps converted to JSON, and with a null as the word
        /// that is written (OpenClaw).
        NpmYamlAsJson = "npm-yaml-as-json",
        /// Bun's parser (Claude Code): YAML 1.2 with the core schema, merge keys, and values
        /// converted to text as JavaScript does.
        Bun = "bun",
        /// skillsd's own parser, which accepts duplicate keys; used for agents whose library is
        /// unknown.
        Ours = "ours",
    }
}

impl YamlLibrary {
    /// Returns whether the library parses as libyaml does: serde_yaml, which uses it, and PyYAML,
    /// from which it was translated.
    pub const fn is_libyaml(self) -> bool {
        matches!(self, Self::SerdeYaml | Self::SerdeYamlValue | Self::PyYaml)
    }
}
