" skillsd with ALE: `source` this file after ALE is loaded, or put it in ~/.vim/after/plugin/.
" Set g:skillsd_executable when the program is not on PATH.

if exists('g:loaded_skillsd_ale')
  finish
endif
let g:loaded_skillsd_ale = 1

" Skills, and the files that speak of them: by their names, and by the directories they are in.
let s:names = ['SKILL.md', 'CLAUDE.md', 'CLAUDE.local.md', 'AGENTS.md', 'AGENTS.override.md', 'GEMINI.md']
let s:kept = '\v\C/(\.(claude|opencode|agents|codex|gemini)|opencode)/(commands?|agents?|prompts)/.*\.md$'

function! SkillsdIsOurs(path) abort
  return index(s:names, fnamemodify(a:path, ':t')) >= 0 || fnamemodify(a:path, ':p') =~# s:kept
endfunction

" ALE asks this for every Markdown file; others have no server.
function! SkillsdExecutable(buffer) abort
  return SkillsdIsOurs(bufname(a:buffer)) ? get(g:, 'skillsd_executable', 'skillsd') : ''
endfunction

" The nearest directory above that says where a worktree begins, else the file's own. A linked worktree or a
" submodule has a file in the place of the directory, and may lie inside another worktree.
function! SkillsdRoot(buffer) abort
  let l:own = fnamemodify(bufname(a:buffer), ':p:h')
  let l:found = [finddir('.git', l:own . ';'), findfile('.git', l:own . ';')]
  if empty(join(l:found, ''))
    let l:found = [findfile('.skillsd.toml', l:own . ';')]
  endif
  let l:root = ''
  for l:mark in filter(l:found, '!empty(v:val)')
    let l:above = fnamemodify(substitute(fnamemodify(l:mark, ':p'), '/$', '', ''), ':h')
    " All lie above the file, so the longest is the nearest.
    let l:root = len(l:above) > len(l:root) ? l:above : l:root
  endfor
  return empty(l:root) ? l:own : l:root
endfunction

" What the server is told at its start: that the conversations are ours.
function! SkillsdOptions(buffer) abort
  call s:begin()
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
  " Vim's own Markdown plugin sets 'omnifunc' too, so ours comes with the file type.
  autocmd FileType markdown if SkillsdIsOurs(expand('%:p')) | setlocal omnifunc=ale#completion#OmniFunc | endif
augroup END

command! -nargs=? SkillsdExplain call s:show(['explain', empty(<q-args>) ? expand('%:p') : <q-args>], s:seen())
command! SkillsdList call s:show(['list', '--all'], s:seen())
command! -nargs=? SkillsdCatalog call s:show(['catalog'] + (empty(<q-args>) ? [] : ['--profile', <q-args>]), s:seen())
command! SkillsdLog call s:show(['logs'], [])
command! SkillsdRestart ALEStopAllLSPs | ALELint

function! s:program(arguments) abort
  let l:command = [get(g:, 'skillsd_executable', 'skillsd')] + a:arguments
  return join(map(l:command, 'shellescape(v:val)'), ' ')
endfunction

" The editor's own conversations with the daemon, one for each worktree. They begin with the first file that
" the language server is about, or with the first command that shows something: all files that are open then,
" and each that is opened or saved after it, count as touched, so that the skills that wait for them are
" activated as for an agent.
let s:session = ''

" Jobs that tell of touched files and may not have ended.
let s:pending = []

function! s:begin() abort
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

" Returns the flags that show things as the conversation sees them, with all that was touched before.
function! s:seen() abort
  call s:begin()
  for l:turn in range(500)
    call filter(s:pending, 'ale#job#IsRunning(v:val)')
    if empty(s:pending)
      break
    endif
    sleep 10m
  endfor
  return ['--session', s:session . ':' . SkillsdRoot(bufnr(''))]
endfunction

" Tells of files, without waiting.
function! s:touch(buffers, op) abort
  for l:buffer in filter(copy(a:buffers), 'empty(getbufvar(v:val, "&buftype")) && filereadable(bufname(v:val))')
    let l:root = SkillsdRoot(l:buffer)
    let l:command = [get(g:, 'skillsd_executable', 'skillsd'), 'touch', '--cwd', l:root, '--op', a:op,
    \   '--session', s:session . ':' . l:root, '--', fnamemodify(bufname(l:buffer), ':p')]
    " ALE forgets a job at its end when somebody wants to know of that.
    let l:job = ale#job#Start(l:command, {'mode': 'raw', 'exit_cb': {-> 0}})
    call add(s:pending, l:job)
  endfor
endfunction

" Shows what the program says, in the place of what it said before. With `seen`, as the conversation sees it.
function! s:show(arguments, seen) abort
  let l:place = ['--cwd', SkillsdRoot(bufnr('')), '--color', 'never']
  let l:lines = systemlist(s:program(l:place + a:arguments + a:seen))
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
