--- The editor's own conversations with the daemon, one for each worktree: files that are opened and
--- saved count as touched, so that the skills that wait for them are activated as for an agent.
--- None is begun, and no daemon started, before somebody opens a SKILL.md or asks for something.
local M = {}

--- Told apart from other editors by this; the worktree comes behind it.
local base

--- Jobs that tell of touched files and have not ended.
local pending = {}

--- How long an answer waits for what was touched before it.
local PATIENCE_MS = 10000

local function program(args)
  return vim.list_extend(vim.list_extend({}, require("skillsd").program()), args)
end

--- Returns what the language server is told at its start: that the conversations are ours.
function M.options()
  return { session = base }
end

--- Returns the conversation about a worktree.
function M.id(root)
  return base .. ":" .. root
end

--- Returns the file of a buffer that can be touched; nil for others.
local function file_of(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  if name ~= "" and vim.bo[buffer].buftype == "" and vim.fn.filereadable(name) == 1 then
    return vim.fn.fnamemodify(name, ":p")
  end
end

--- Tells of files of one worktree, without waiting.
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

--- Begins, with the files that are open now; does nothing when that was done.
function M.begin()
  local skillsd = require("skillsd")
  if base or not skillsd.is_installed() then
    return
  end
  base = ("nvim-%d-%d"):format(vim.fn.getpid(), vim.loop.hrtime())
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

--- Returns the flags that have a command speak of a worktree as its conversation sees it.
function M.args(root)
  M.begin()
  local jobs = vim.tbl_keys(pending)
  if #jobs > 0 then
    vim.fn.jobwait(jobs, PATIENCE_MS)
  end
  return base and { "--session", M.id(root) } or {}
end

return M
