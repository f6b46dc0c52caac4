//! Names in a repository's settings that are paths: plugins, marketplaces, versions, skills.
