--- The editor's own sessions with the daemon, one for each worktree. Files opened and saved count
--- as touched, so that skills with matching `paths` are activated as they are for an agent.
--- The sessions start, and with them the daemon, with the first supported file or the first
--- command.
local M = {}

--- The prefix of all session ids, unique to this Neovim; the worktree follows it.
local prefix

--- Jobs that report touched files and are still running.
local pending = {}

--- Time limit for earlier touches to be reported before a command runs.
local TOUCH_TIMEOUT_MS = 10000

local function program(args)
  return vim.list_extend(vim.list_extend({}, require("skillsd").program()), args)
end

--- Returns the initialization options of the language server, which name the sessions.
function M.options()
  return { session = prefix }
end

--- Returns the session id of a worktree.
function M.id(root)
  return prefix .. ":" .. root
end

--- Returns the file of a buffer; nil for buffers without a readable file.
local function file_of(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  if name ~= "" and vim.bo[buffer].buftype == "" and vim.fn.filereadable(name) == 1 then
    return vim.fn.fnamemodify(name, ":p")
  end
end

--- Reports touched files of one worktree, without waiting.
local function touch(root, files, op)
  local command = program({ "touch", "--cwd", root, "--session", M.id(root), "--op", op, "--" })
  local job
  job = vim.fn.jobstart(vim.list_extend(command, files), {
    on_exit = function()
      pending[job] = nil
    end,
  })
  if job > 0 then
    pending[job] = true
  end
end

--- Starts the sessions and reports the open files; does nothing if started already.
function M.start()
  local skillsd = require("skillsd")
  if prefix or not skillsd.is_installed() then
    return
  end
  prefix = ("nvim-%d-%d"):format(vim.fn.getpid(), vim.loop.hrtime())
  local group = vim.api.nvim_create_augroup("skillsd_session", {})
  for event, op in pairs({ BufReadPost = "read", BufWritePost = "write" }) do
    vim.api.nvim_create_autocmd(event, {
      group = group,
      callback = function(it)
        local file = file_of(it.buf)
        if file then
          touch(skillsd.root(file), { file }, op)
        end
      end,
    })
  end
  local roots = {}
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local file = vim.api.nvim_buf_is_loaded(buffer) and file_of(buffer)
    if file then
      local root = skillsd.root(file)
      roots[root] = vim.list_extend(roots[root] or {}, { file })
    end
  end
  for root, files in pairs(roots) do
    touch(root, files, "read")
  end
end

--- Returns the flags that make a command use the session of a worktree, after all touches are
--- reported.
function M.args(root)
  M.start()
  local jobs = vim.tbl_keys(pending)
  if #jobs > 0 then
    vim.fn.jobwait(jobs, TOUCH_TIMEOUT_MS)
  end
  return prefix and { "--session", M.id(root) } or {}
end

return M
