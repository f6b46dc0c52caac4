//! Names and descriptions that forge entries of a prompt listing or hide text from the reader.
