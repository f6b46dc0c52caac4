-- The configuration of the language server for Neovim 0.11 and later: `vim.lsp.enable("skillsd")`.
-- The plugin enables it; without the plugin, this file alone is enough.
local skillsd = require("skillsd")

return {
  cmd = skillsd.server_command(),
  capabilities = skillsd.capabilities(),
  before_init = function(params)
    -- Keeps the user's own initialization options.
    local own = params.initializationOptions or {}
    local options = require("skillsd.session").options()
    params.initializationOptions = vim.tbl_deep_extend("force", own, options)
  end,
  -- Newer versions detect SKILL.md as `skill`, older ones as `markdown`.
  filetypes = { "markdown", "skill" },
  -- Starts only for supported files, not for other Markdown.
  root_dir = function(buffer, on_dir)
    local path = vim.api.nvim_buf_get_name(buffer)
    if skillsd.is_supported(path) and skillsd.is_installed() then
      require("skillsd.session").start()
      on_dir(skillsd.root(path))
    end
  end,
}
