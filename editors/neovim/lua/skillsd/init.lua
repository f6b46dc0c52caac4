--- skillsd for Neovim: starts the language server for SKILL.md, and runs the program's commands.
--- Supports Neovim 0.7 and later; since 0.11, lsp/skillsd.lua configures the language server.
local M = {}

--- Options of `require("skillsd").setup{}`, or of `vim.g.skillsd` set before.
local defaults = {
  --- The program and its arguments before `lsp`; found on PATH or in `INSTALL_DIRS`.
  cmd = { "skillsd" },
  --- Extra flags of the language server.
  args = {},
}

local settings = vim.tbl_extend("force", {}, defaults)

--- Files and directories that mark the top of a worktree.
local MARKERS = { ".git", ".skillsd.toml" }

--- Applies the user's options.
function M.setup(options)
  settings = vim.tbl_extend("force", defaults, vim.g.skillsd or {}, options or {})
end

--- Directories in which cargo, pip, uv, npm and Homebrew install programs. An editor that is not
--- started from a shell often has a shorter PATH.
local INSTALL_DIRS = { "~/.cargo/bin", "~/.local/bin", "~/.npm-global/bin", "/opt/homebrew/bin", "/usr/local/bin" }

--- Returns the program with its arguments before the subcommand.
function M.program()
  local name = settings.cmd[1]
  if vim.fn.executable(name) == 0 and not name:find("/", 1, true) then
    for _, dir in ipairs(INSTALL_DIRS) do
      local path = vim.fn.expand(dir) .. "/" .. name
      if vim.fn.executable(path) == 1 then
        return vim.list_extend({ path }, settings.cmd, 2)
      end
    end
  end
  return settings.cmd
end

--- Returns the command that starts the language server.
function M.server_command()
  local command = vim.list_extend({}, M.program())
  table.insert(command, "lsp")
  return vim.list_extend(command, settings.args)
end

--- Returns true if the program is executable.
function M.is_installed()
  return vim.fn.executable(M.program()[1]) == 1
end

--- Returns the worktree of a file: the nearest directory above it with a marker, else its own
--- directory.
function M.root(path)
  local dir = vim.fn.fnamemodify(path, ":p:h")
  local at = dir
  while true do
    for _, marker in ipairs(MARKERS) do
      local found = at .. "/" .. marker
      if vim.fn.isdirectory(found) == 1 or vim.fn.filereadable(found) == 1 then
        return at
      end
    end
    local parent = vim.fn.fnamemodify(at, ":h")
    if parent == at then
      return dir
    end
    at = parent
  end
end

--- Files that the language server supports, by their names or by their directories.
local FILE_NAMES = { "SKILL.md", "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md" }
local AGENT_DIRS = { ".claude", ".opencode", ".agents", ".codex", ".gemini", "opencode" }
local SUBDIRS = { "commands", "command", "agents", "agent", "prompts" }

--- Returns true if the language server supports a file.
function M.is_supported(path)
  if vim.tbl_contains(FILE_NAMES, vim.fn.fnamemodify(path, ":t")) then
    return true
  end
  for _, agent_dir in ipairs(path:sub(-3) == ".md" and AGENT_DIRS or {}) do
    for _, subdir in ipairs(SUBDIRS) do
      if path:find("/" .. agent_dir .. "/" .. subdir .. "/", 1, true) then
        return true
      end
    end
  end
  return false
end

--- Shows once that the program is missing and how to install it.
local warned = false
local function warn_missing()
  if warned then
    return
  end
  warned = true
  vim.notify(
    ("skillsd: `%s` is not on PATH. Install it, or set its path with "):format(settings.cmd[1])
      .. "require('skillsd').setup{ cmd = { '/path/to/skillsd' } }",
    vim.log.levels.WARN
  )
end

--- Clients started by this plugin, by root; for versions without `vim.lsp.enable`.
local clients = {}

--- Returns additional client capabilities. Versioned edits allow renaming a skill with its
--- directory; Neovim before 0.11 fails to rename directories, so the server refuses it there with
--- the reason. The command is `show_references` below.
function M.capabilities()
  local can_rename = vim.fn.has("nvim-0.11") == 1
  return {
    workspace = { workspaceEdit = { documentChanges = can_rename } },
    experimental = { commands = { commands = { "skillsd.showReferences" } } },
  }
end

--- Runs the command of a code lens: jumps to the only location that mentions the skill, or lists
--- all of them.
function M.show_references(command, context)
  local locations = command.arguments[3]
  local client = vim.lsp.get_client_by_id(context.client_id)
  local items = vim.lsp.util.locations_to_items(locations, client and client.offset_encoding or "utf-16")
  vim.fn.setqflist({}, " ", { title = command.title, items = items })
  vim.cmd(#items == 1 and "cfirst" or "copen")
end

--- Starts the language server for a buffer, or attaches it to the server of the same worktree.
function M.attach(buffer)
  if not M.is_installed() then
    warn_missing()
    return nil
  end
  require("skillsd.session").start()
  local root = M.root(vim.api.nvim_buf_get_name(buffer))
  local config = {
    name = "skillsd",
    cmd = M.server_command(),
    root_dir = root,
    init_options = require("skillsd.session").options(),
    workspace_folders = { { uri = vim.uri_from_fname(root), name = root } },
    capabilities = vim.tbl_deep_extend(
      "force",
      vim.lsp.protocol.make_client_capabilities(),
      M.capabilities()
    ),
  }
  if vim.lsp.start then
    return vim.lsp.start(config, { bufnr = buffer })
  end
  -- Neovim 0.7 has no `vim.lsp.start`, which finds the client of the same root, and it does not set
  -- 'omnifunc'.
  vim.bo[buffer].omnifunc = "v:lua.vim.lsp.omnifunc"
  local id = clients[root]
  if not (id and vim.lsp.get_client_by_id(id)) then
    config.on_exit = function()
      clients[root] = nil
    end
    id = vim.lsp.start_client(config)
    clients[root] = id
  end
  if id then
    vim.lsp.buf_attach_client(buffer, id)
  end
  return id
end

--- Returns the running clients of the language server.
local function running()
  local all = vim.lsp.get_clients and vim.lsp.get_clients() or vim.lsp.get_active_clients()
  return vim.tbl_filter(function(client)
    return client.name == "skillsd"
  end, all)
end

--- Restarts the language server for all open files that it supports.
function M.restart()
  for _, client in ipairs(running()) do
    client.stop(client)
  end
  clients = {}
  vim.wait(2000, function()
    return #running() == 0
  end, 20)
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and M.is_supported(vim.api.nvim_buf_get_name(buffer)) then
      M.attach(buffer)
    end
  end
end

--- Shows lines in a split, replacing the previous one with the same title.
local function show_page(title, lines)
  local name = "skillsd://" .. title
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(buffer) == name then
      vim.api.nvim_buf_delete(buffer, { force = true })
    end
  end
  vim.cmd("new")
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile = "nofile", "wipe", false
  vim.api.nvim_buf_set_name(0, name)
  vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
  vim.bo.modifiable = false
end

--- Runs the program in the worktree of the current file and shows its output in a split. If
--- `with_session` is set, the command uses the editor's session.
function M.show(args, with_session)
  if not M.is_installed() then
    warned = false
    warn_missing()
    return
  end
  local path = vim.api.nvim_buf_get_name(0)
  local is_file = path ~= "" and vim.bo.buftype == ""
  local root = M.root(is_file and path or vim.fn.getcwd() .. "/")
  local command = vim.list_extend({}, M.program())
  vim.list_extend(command, { "--cwd", root, "--color", "never" })
  vim.list_extend(command, args)
  if with_session then
    vim.list_extend(command, require("skillsd.session").args(root))
  end
  show_page(table.concat(args, " "), vim.fn.systemlist(command))
end

--- Explains a skill by name, or the current file.
function M.explain(name)
  if name == "" then
    name = vim.api.nvim_buf_get_name(0)
  end
  M.show({ "explain", name }, true)
end

--- Shows the prompt listing of a profile; an empty `profile` means the configured one.
function M.catalog(profile)
  M.show(profile == "" and { "catalog" } or { "catalog", "--profile", profile }, true)
end

--- Trusts the skills of the worktree. Trust can be granted only by a person, so the program asks in
--- a terminal.
function M.trust()
  if not M.is_installed() then
    warned = false
    warn_missing()
    return
  end
  local root = M.root(vim.api.nvim_buf_get_name(0))
  local command = vim.list_extend(vim.list_extend({}, M.program()), { "trust", root })
  vim.cmd("botright new")
  if vim.fn.has("nvim-0.11") == 1 then
    vim.fn.jobstart(command, { term = true })
  else
    vim.fn.termopen(command)
  end
  vim.cmd("startinsert")
end

return M
