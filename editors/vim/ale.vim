" skillsd with ALE: `source` this file after ALE is loaded, or put it in ~/.vim/after/plugin/.
" Set g:skillsd_executable if the program is not on PATH.

if exists('g:loaded_skillsd_ale')
  finish
endif
let g:loaded_skillsd_ale = 1

" Files that the language server supports, by their names or by their directories.
let s:names = ['SKILL.md', 'CLAUDE.md', 'CLAUDE.local.md', 'AGENTS.md', 'AGENTS.override.md', 'GEMINI.md']
let s:directories = '\v\C/(\.(claude|opencode|agents|codex|gemini)|opencode)/(commands?|agents?|prompts)/.*\.md$'

function! SkillsdIsSupported(path) abort
  return index(s:names, fnamemodify(a:path, ':t')) >= 0 || fnamemodify(a:path, ':p') =~# s:directories
endfunction

" ALE calls this for every Markdown file; other files get no server.
function! SkillsdExecutable(buffer) abort
  return SkillsdIsSupported(bufname(a:buffer)) ? get(g:, 'skillsd_executable', 'skillsd') : ''
endfunction

" Returns the nearest directory above that marks a worktree, else the file's own directory. Linked
" worktrees and submodules have a `.git` file instead of a directory, and may lie inside another
" worktree.
function! SkillsdRoot(buffer) abort
  let l:own = fnamemodify(bufname(a:buffer), ':p:h')
  let l:found = [finddir('.git', l:own . ';'), findfile('.git', l:own . ';')]
  if empty(join(l:found, ''))
    let l:found = [findfile('.skillsd.toml', l:own . ';')]
  endif
  let l:root = ''
  for l:mark in filter(l:found, '!empty(v:val)')
    let l:above = fnamemodify(substitute(fnamemodify(l:mark, ':p'), '/$', '', ''), ':h')
    " All of them are above the file, so the longest one is the nearest.
    let l:root = len(l:above) > len(l:root) ? l:above : l:root
  endfor
  return empty(l:root) ? l:own : l:root
endfunction

" Returns the initialization options of the language server, which name the sessions.
function! SkillsdOptions(buffer) abort
  call s:start()
  return {'session': s:session}
endfunction

call ale#linter#Define('markdown', {
\   'name': 'skillsd',
\   'lsp': 'stdio',
\   'executable': function('SkillsdExecutable'),
\   'command': '%e lsp',
\   'project_root': function('SkillsdRoot'),
\   'language': 'markdown',
\   'initialization_options': function('SkillsdOptions'),
\})

augroup skillsd
  autocmd!
  " Vim's Markdown plugin also sets 'omnifunc', so it is set again for each file type event.
  autocmd FileType markdown if SkillsdIsSupported(expand('%:p')) | setlocal omnifunc=ale#completion#OmniFunc | endif
augroup END

command! -nargs=? SkillsdExplain call s:show(['explain', empty(<q-args>) ? expand('%:p') : <q-args>], s:session_flags())
command! SkillsdList call s:show(['list', '--all'], s:session_flags())
command! -nargs=? SkillsdCatalog call s:show(['catalog'] + (empty(<q-args>) ? [] : ['--profile', <q-args>]), s:session_flags())
command! SkillsdLog call s:show(['logs'], [])
command! SkillsdRestart ALEStopAllLSPs | ALELint

function! s:program(arguments) abort
  let l:command = [get(g:, 'skillsd_executable', 'skillsd')] + a:arguments
  return join(map(l:command, 'shellescape(v:val)'), ' ')
endfunction

" The editor's own sessions with the daemon, one for each worktree. They start with the first
" supported file or the first command. All open files then, and every file opened or saved later,
" count as touched, so that skills with matching `paths` are activated as they are for an agent.
let s:session = ''

" Jobs that report touched files and may still be running.
let s:pending = []

function! s:start() abort
  if !empty(s:session)
    return
  endif
  let s:session = printf('vim-%d-%d', getpid(), localtime())
  augroup skillsd_session
    autocmd!
    autocmd BufReadPost * call s:touch([bufnr('')], 'read')
    autocmd BufWritePost * call s:touch([bufnr('')], 'write')
  augroup END
  call s:touch(map(getbufinfo({'bufloaded': 1}), 'v:val.bufnr'), 'read')
endfunction

" Returns the flags that make a command use the session, after all touches are reported.
function! s:session_flags() abort
  call s:start()
  for l:attempt in range(500)
    call filter(s:pending, 'ale#job#IsRunning(v:val)')
    if empty(s:pending)
      break
    endif
    sleep 10m
  endfor
  return ['--session', s:session . ':' . SkillsdRoot(bufnr(''))]
endfunction

" Reports touched files, without waiting.
function! s:touch(buffers, op) abort
  for l:buffer in filter(copy(a:buffers), 'empty(getbufvar(v:val, "&buftype")) && filereadable(bufname(v:val))')
    let l:root = SkillsdRoot(l:buffer)
    let l:command = [get(g:, 'skillsd_executable', 'skillsd'), 'touch', '--cwd', l:root, '--op', a:op,
    \   '--session', s:session . ':' . l:root, '--', fnamemodify(bufname(l:buffer), ':p')]
    " ALE removes a finished job from its table only if it has an exit callback.
    let l:job = ale#job#Start(l:command, {'mode': 'raw', 'exit_cb': {-> 0}})
    call add(s:pending, l:job)
  endfor
endfunction

" Shows the program's output, replacing the previous one with the same title.
function! s:show(arguments, flags) abort
  let l:context = ['--cwd', SkillsdRoot(bufnr('')), '--color', 'never']
  let l:lines = systemlist(s:program(l:context + a:arguments + a:flags))
  let l:title = 'skillsd://' . join(a:arguments)
  for l:buffer in filter(getbufinfo(), 'bufname(v:val.bufnr) ==# l:title')
    execute 'bwipeout!' l:buffer.bufnr
  endfor
  new
  setlocal buftype=nofile bufhidden=wipe noswapfile
  execute 'silent file' fnameescape(l:title)
  call setline(1, l:lines)
  setlocal nomodifiable
endfunction
