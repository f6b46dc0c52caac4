--- `:checkhealth skillsd`: checks the program, the language server and the daemon.
local M = {}

-- Function names before and since Neovim 0.10.
local health = vim.health or require("health")
local start = health.start or health.report_start
local ok = health.ok or health.report_ok
local warn = health.warn or health.report_warn
local error = health.error or health.report_error

function M.check()
  local skillsd = require("skillsd")
  start("skillsd")
  local program = skillsd.server_command()[1]
  if not skillsd.is_installed() then
    error(("`%s` is not executable"):format(program), {
      "Install skillsd, or set its path with require('skillsd').setup{ cmd = { '/path/to/skillsd' } }",
    })
    return
  end
  local version = vim.fn.system({ program, "--version" })
  if vim.v.shell_error ~= 0 then
    error(("`%s --version` fails: %s"):format(program, version))
    return
  end
  ok(vim.trim(version) .. " (" .. vim.fn.exepath(program) .. ")")
  local attached = 0
  local all = vim.lsp.get_clients and vim.lsp.get_clients() or vim.lsp.get_active_clients()
  for _, client in ipairs(all) do
    if client.name == "skillsd" then
      attached = attached + 1
      ok("the language server is running for " .. (client.config.root_dir or "a single file"))
    end
  end
  if attached == 0 then
    warn("the language server is not running", { "Open a SKILL.md to start it." })
  end
  local doctor = vim.fn.systemlist({ program, "--color", "never", "doctor" })
  local say = vim.v.shell_error == 0 and ok or warn
  say("skillsd doctor:\n" .. table.concat(doctor, "\n"))
end

return M
