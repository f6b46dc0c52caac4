((minus_metadata) @injection.content
  (#set! injection.language "yaml"))

((inline) @injection.content
  (#set! injection.language "markdown-inline"))

(fenced_code_block
  (info_string (language) @injection.language)
  (code_fence_content) @injection.content)
