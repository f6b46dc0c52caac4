//! The YAML libraries by which agents read a frontmatter.

/// A YAML library, as an agent uses it.
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
    /// Our own parser, which takes duplicate keys; for agents whose library is not known.
    Ours,
}
