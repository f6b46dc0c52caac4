-- Starts the language server when a SKILL.md is opened, and defines the commands.
if vim.g.loaded_skillsd then
  return
end
vim.g.loaded_skillsd = true

local skillsd = require("skillsd")
skillsd.setup()

if vim.lsp.config and vim.lsp.enable then
  vim.lsp.enable("skillsd")
else
  local group = vim.api.nvim_create_augroup("skillsd", {})
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
    group = group,
    pattern = "*.md",
    callback = function(event)
      if skillsd.is_supported(vim.fn.fnamemodify(event.file, ":p")) then
        skillsd.attach(event.buf)
      end
    end,
  })
end

if vim.lsp.commands then
  vim.lsp.commands["skillsd.showReferences"] = skillsd.show_references
end

local command = vim.api.nvim_create_user_command
command("SkillsdExplain", function(options)
  skillsd.explain(options.args)
end, { nargs = "?", desc = "Explain why an agent loads a skill or not: by name, or the current file" })
command("SkillsdList", function()
  skillsd.show({ "list", "--all" }, true)
end, { desc = "List the skills an agent loads here, and the others with the reason" })
command("SkillsdSearch", function(options)
  skillsd.show({ "search", options.args })
end, { nargs = "+", desc = "Search skills by name or description" })
command("SkillsdCatalog", function(options)
  skillsd.catalog(options.args)
end, { nargs = "?", desc = "Show an agent's prompt listing of the skills here" })
command("SkillsdTrust", function()
  skillsd.trust()
end, { desc = "Trust the skills of this worktree" })
command("SkillsdStatus", function()
  skillsd.show({ "status" })
end, { desc = "Show the daemon's status" })
command("SkillsdLog", function()
  skillsd.show({ "logs" })
end, { desc = "Show the daemon's log" })
command("SkillsdRestart", function()
  skillsd.restart()
end, { desc = "Restart the language server" })
