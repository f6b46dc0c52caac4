-- Drives a real Neovim with the plugin of this repository: the finding appears where it belongs, the
-- commands answer, and the finding goes when the text is mended. Prints a line for each step; the
-- exit code is that of the first step that fails.
local file = assert(vim.env.SKILL_FILE, "SKILL_FILE is not set")

local function say(line)
  io.stdout:write(line .. "\n")
end

local function check(name, good, detail)
  say((good and "ok   " or "FAIL ") .. name .. (good and "" or ": " .. vim.inspect(detail)))
  if not good then
    vim.cmd("cquit 1")
  end
end

vim.cmd("edit " .. vim.fn.fnameescape(file))
local buffer = vim.api.nvim_get_current_buf()
local function findings()
  return vim.diagnostic.get(buffer)
end

local found = vim.wait(20000, function()
  return #findings() > 0
end, 20)
check("a finding appears", found, findings())
local finding = findings()[1]
check("it lies on the line of the description", finding.lnum == 2, finding)
check("it says who it is from", finding.source == "skillsd", finding)
check("it has a code", type(finding.code) == "string" and finding.code:find("/", 1, true), finding)
local line = vim.api.nvim_buf_get_lines(buffer, 2, 3, false)[1]
local text = line:sub(finding.col + 1, finding.end_lnum == 2 and finding.end_col or -1)
check("it lies within the value", text ~= "" and not text:find("^description"), text)

local symbols = vim.lsp.buf_request_sync(buffer, "textDocument/documentSymbol", {
  textDocument = vim.lsp.util.make_text_document_params(buffer),
}, 5000)
local names = {}
for _, answer in pairs(symbols or {}) do
  for _, symbol in ipairs(answer.result or {}) do
    names[symbol.name] = true
  end
end
check("the outline has the frontmatter's keys", names.name and names.description, names)

vim.api.nvim_win_set_cursor(0, { 3, 0 })
vim.api.nvim_buf_set_lines(buffer, 3, 3, false, { "mod" })
vim.bo.omnifunc = "v:lua.vim.lsp.omnifunc"
local offered = vim.lsp.buf_request_sync(buffer, "textDocument/completion", {
  textDocument = vim.lsp.util.make_text_document_params(buffer),
  position = { line = 3, character = 3 },
}, 5000)
local labels = {}
for _, answer in pairs(offered or {}) do
  for _, item in ipairs(answer.result.items or answer.result or {}) do
    labels[item.label] = true
  end
end
check("a key is completed, one that is there is not", labels.model and not labels.name, labels)
vim.api.nvim_buf_set_lines(buffer, 3, 4, false, {})

local function apply(only)
  local range = { start = { line = 2, character = finding.col }, ["end"] = { line = 2, character = finding.col } }
  local answers = vim.lsp.buf_request_sync(buffer, "textDocument/codeAction", {
    textDocument = vim.lsp.util.make_text_document_params(buffer),
    range = range,
    context = { diagnostics = {}, only = { only } },
  }, 5000)
  for _, answer in pairs(answers or {}) do
    local action = (answer.result or {})[1]
    if action then
      vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
      return true
    end
  end
  return false
end
check("the quick fix is offered", apply("quickfix"))
local mended = vim.api.nvim_buf_get_lines(buffer, 2, 3, false)[1]
check("it puts the value in quotes", mended:find('^description: ["\']Deploys: to staging'), mended)
check("and the finding goes", vim.wait(10000, function()
  return #findings() == 0
end, 20), findings())
vim.cmd("undo")

vim.cmd("SkillsdExplain")
local explained = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
check(":SkillsdExplain explains the current file", explained:find("deploy"), explained)
vim.cmd("bwipeout!")

vim.cmd("checkhealth skillsd")
local health = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
check(":checkhealth finds the program", health:find("skillsd %d"), health)
check(":checkhealth finds the language server", health:find("the language server runs"), health)
vim.cmd("bwipeout!")

vim.api.nvim_buf_set_lines(buffer, 2, 3, false, { 'description: "Deploys: to staging. Use it before a release."' })
local gone = vim.wait(10000, function()
  return #findings() == 0
end, 20)
check("the finding goes when the text is mended", gone, findings())

vim.cmd("SkillsdRestart")
vim.api.nvim_set_current_buf(buffer)
vim.api.nvim_buf_set_lines(buffer, 2, 3, false, { "description: Deploys: to staging." })
local again = vim.wait(20000, function()
  return #findings() > 0
end, 20)
check("the server works after :SkillsdRestart", again, findings())
vim.cmd("qa!")
