(section
  (atx_heading . (_) @context . heading_content: (_) @name)) @item
