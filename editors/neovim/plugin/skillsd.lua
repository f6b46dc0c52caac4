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
      if skillsd.is_ours(vim.fn.fnamemodify(event.file, ":p")) then
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
end, { nargs = "?", desc = "Why a skill is seen or not: by name, or the current file" })
command("SkillsdList", function()
  skillsd.show({ "list", "--all" }, true)
end, { desc = "The skills an agent would see here, and the others with the reason" })
command("SkillsdSearch", function(options)
  skillsd.show({ "search", options.args })
end, { nargs = "+", desc = "Find skills by name or by what they say they do" })
command("SkillsdCatalog", function(options)
  skillsd.catalog(options.args)
end, { nargs = "?", desc = "What an agent's prompt is told of the skills here" })
command("SkillsdTrust", function()
  skillsd.trust()
end, { desc = "Trust the skills of this worktree" })
command("SkillsdStatus", function()
  skillsd.show({ "status" })
end, { desc = "How the daemon is" })
command("SkillsdLog", function()
  skillsd.show({ "logs" })
end, { desc = "The log of the daemon" })
command("SkillsdRestart", function()
  skillsd.restart()
end, { desc = "Start the language server again" })
