//! The YAML libraries that agents read frontmatter with.

/// A YAML library as an agent configures it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum YamlLibrary {
    /// js-yaml 3 (opencode, through gray-matter).
    JsYaml3,
    /// js-yaml 4 (Gemini CLI).
    JsYaml4,
    /// serde_yaml into a struct of optional texts (Codex).
    SerdeYaml,
    /// serde_yaml into a value of any kind (Copilot CLI): a duplicate key is an error in any map.
    SerdeYamlValue,
    /// The npm library `yaml` 2 (the plugin): YAML 1.2 with the core schema.
    NpmYaml,
    /// The same library, with values converted to text as JavaScript does (Qwen Code).
    NpmYamlAsText,
    /// Bun's parser (Claude Code): YAML 1.2 with the core schema, merge keys, and values converted
    /// to text as JavaScript does.
    Bun,
    /// skillsd's own parser, which accepts duplicate keys; used for agents whose library is
    /// unknown.
    Ours,
}

impl YamlLibrary {
    /// Returns whether the library is serde_yaml, whose parser is libyaml.
    pub const fn is_serde(self) -> bool {
        matches!(self, Self::SerdeYaml | Self::SerdeYamlValue)
    }
}
