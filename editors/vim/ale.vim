" skillsd with ALE: `source` this file after ALE is loaded, or put it in ~/.vim/after/plugin/.
" Set g:skillsd_executable when the program is not on PATH.

if exists('g:loaded_skillsd_ale')
  finish
endif
let g:loaded_skillsd_ale = 1

" ALE asks this for every Markdown file; only a SKILL.md has a server.
function! SkillsdExecutable(buffer) abort
  let l:name = fnamemodify(bufname(a:buffer), ':t')
  return l:name ==# 'SKILL.md' ? get(g:, 'skillsd_executable', 'skillsd') : ''
endfunction

function! SkillsdRoot(buffer) abort
  let l:git = finddir('.git', fnamemodify(bufname(a:buffer), ':p:h') . ';')
  let l:git = empty(l:git) ? findfile('.git', fnamemodify(bufname(a:buffer), ':p:h') . ';') : l:git
  return empty(l:git) ? fnamemodify(bufname(a:buffer), ':p:h') : fnamemodify(l:git, ':p:h:h')
endfunction

call ale#linter#Define('markdown', {
\   'name': 'skillsd',
\   'lsp': 'stdio',
\   'executable': function('SkillsdExecutable'),
\   'command': '%e lsp',
\   'project_root': function('SkillsdRoot'),
\   'language': 'markdown',
\})

augroup skillsd
  autocmd!
  " Vim's own Markdown plugin sets 'omnifunc' too, so ours comes with the file type.
  autocmd FileType markdown if expand('%:t') ==# 'SKILL.md' | setlocal omnifunc=ale#completion#OmniFunc | endif
augroup END

command! -nargs=? SkillsdExplain call s:show(['explain', empty(<q-args>) ? expand('%:p') : <q-args>])
command! SkillsdList call s:show(['list', '--all'])

function! s:show(arguments) abort
  let l:command = [get(g:, 'skillsd_executable', 'skillsd'), '--cwd', expand('%:p:h'), '--color', 'never']
  let l:lines = systemlist(join(map(l:command + a:arguments, 'shellescape(v:val)'), ' '))
  new
  setlocal buftype=nofile bufhidden=wipe noswapfile
  call setline(1, l:lines)
  setlocal nomodifiable
endfunction
