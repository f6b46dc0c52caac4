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
    /// The npm library `yaml` 2 (the plugin): YAML 1.2 with the core schema.
    NpmYaml,
    /// Bun's parser (Claude Code): YAML 1.2 with the core schema, merge keys, and values converted
    /// to text as JavaScript does.
    Bun,
    /// skillsd's own parser, which accepts duplicate keys; used for agents whose library is
    /// unknown.
    Ours,
}
