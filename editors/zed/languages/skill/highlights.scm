(atx_heading) @title
(setext_heading) @title
[
  (list_marker_plus)
  (list_marker_minus)
  (list_marker_star)
  (list_marker_dot)
  (list_marker_parenthesis)
] @punctuation.list_marker
(fenced_code_block_delimiter) @punctuation.delimiter
(code_fence_content) @text.literal
(link_label) @link_text
(link_destination) @link_uri
