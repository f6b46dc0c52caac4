-- The language server as Neovim 0.11 and later configure one: `vim.lsp.enable("skillsd")`.
-- The plugin enables it; without the plugin this file alone is enough.
local skillsd = require("skillsd")

return {
  cmd = skillsd.server_command(),
  capabilities = skillsd.capabilities(),
  before_init = function(params)
    -- What the user has configured stays.
    local own = params.initializationOptions or {}
    local ours = require("skillsd.session").options()
    params.initializationOptions = vim.tbl_deep_extend("force", own, ours)
  end,
  -- Newer file type detection calls a SKILL.md `skill`, older `markdown`.
  filetypes = { "markdown", "skill" },
  -- Only for skills and what speaks of them: other Markdown is none of its business.
  root_dir = function(buffer, on_dir)
    local path = vim.api.nvim_buf_get_name(buffer)
    if skillsd.is_ours(path) and skillsd.is_installed() then
      require("skillsd.session").begin()
      on_dir(skillsd.root(path))
    end
  end,
}
