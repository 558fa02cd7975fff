vim9script noclear
# Handoff for Vim 9 and later: offers the current file to the user's other devices, and opens files from them.
# docs/editors.md describes it. Enable it in vimrc with: source /usr/share/handoff/editors/handoff.vim
if exists('g:loaded_handoff') || !has('job') || has('nvim')
  finish
endif
g:loaded_handoff = 1

const HERE = expand('<sfile>:p:h')
var job: any = null
var front = 0
var notes: list<string> = []
var swap = ''

def Send(message: dict<any>)
  if type(job) == v:t_job && job_status(job) ==# 'run'
    silent! ch_sendraw(job, json_encode(message) .. "\n")
  endif
enddef

def State(): dict<any>
  if front == 0 || !bufloaded(front)
    return {}
  endif
  const window = get(win_findbuf(front), 0, 0)
  const place = window != 0 ? getcurpos(window) : [0, 1, 1, 0]
  const text = get(getbufline(front, place[1]), 0, '')
  return {file: Name(front), line: place[1], column: strchars(strpart(text, 0, place[2] - 1)) + 1,
    unsaved: !!getbufvar(front, '&modified')}
enddef

def Name(buffer: number): string
  return fnamemodify(bufname(buffer), ':p')
enddef

def Show()
  const name = Name(bufnr())
  # A path that is not UTF-8 cannot be offered.
  if &buftype !=# '' || bufname() ==# '' || name !~# '^/' || json_decode(json_encode(name)) !=# name
    return
  endif
  front = bufnr()
  Send({front: name})
enddef

# Limit the message to one line. A longer one would wait for a key.
def Report()
  var text = 'Handoff: ' .. join(notes, '; ')
  if len(notes) > 1 || strdisplaywidth(text) > &columns - 12
    text = strcharpart(text, 0, max([10, &columns - 32])) .. '… (:HandoffNotes)'
  endif
  redraw
  echo text
enddef

def ReadText(path: string): list<string>
  const lines = readfile(path, 'b')
  delete(path)
  return mapnew(lines, (_, line) => &encoding ==# 'utf-8' ? line : iconv(line, 'utf-8', &encoding))
enddef

def Open(message: dict<any>)
  notes = message.notes
  swap = ''
  const has_text = message.text != null
  var lines = has_text ? ReadText(message.text) : []
  const is_ended = has_text && !empty(lines) && lines[-1] ==# ''
  if is_ended
    remove(lines, -1)
  endif
  if getcmdwintype() !=# ''
    quit
  endif
  var is_open = false
  if message.file != null
    const buffer = bufadd(message.file)
    setbufvar(buffer, '&buflisted', 1)
    if !message.modelines
      setbufvar(buffer, '&modeline', 0)
    endif
    # Answer the prompt about a swap file. It would block the editor.
    augroup handoff_open
      autocmd!
      autocmd SwapExists * swap = v:swapname | v:swapchoice = 'o'
    augroup END
    try
      execute 'hide buffer' buffer
    catch
      add(notes, v:exception)
    finally
      autocmd! handoff_open
    endtry
    is_open = bufnr() == buffer
    if !is_open
      insert(notes, 'the file was not opened')
    elseif swap !=# ''
      insert(notes, 'another Vim has the file open, or has crashed: it is opened read-only')
    elseif !&modified
      # Another program, such as git, may have changed the file after it was read.
      setlocal autoread
      silent! execute 'checktime' buffer
      setlocal autoread<
    endif
  endif
  if has_text
    if is_open && &modified
      insert(notes, 'the file has unsaved changes here: the text is shown next to it')
    endif
    # Vim would write the text to the disk.
    if is_open && &autowriteall
      insert(notes, 'files are saved automatically: the text is shown next to the file')
    endif
    if is_open && message.apply && !&modified && !&autowriteall && swap ==# '' && &modifiable && !&readonly
      Replace(lines)
      &l:endofline = is_ended
      &l:modified = true
      add(notes, 'the text is not saved yet')
    else
      if is_open
        diffthis
      endif
      rightbelow vertical new
      setlocal buftype=nofile bufhidden=hide noswapfile nomodeline
      Replace(lines)
      if is_open
        diffthis
      endif
    endif
  endif
  if is_open || has_text
    setcursorcharpos(min([message.line, line('$')]), message.column)
    silent! normal! zvzz
  endif
  redraw
  if !empty(notes)
    Report()
  endif
enddef

def Replace(lines: list<string>)
  silent deletebufline('', 1, '$')
  setline(1, empty(lines) ? '' : lines)
enddef

def Received(_: any, line: string)
  var message: dict<any>
  try
    message = json_decode(line)
  catch
    return
  endtry
  if message.do ==# 'state'
    Send({state: State()})
  elseif message.do ==# 'text'
    var state = State()
    if has_key(state, 'file')
      # A request without a reply would prevent all later ones.
      try
        var lines = getbufline(front, 1, '$')
        if &encoding !=# 'utf-8'
          map(lines, (_, each) => iconv(each, &encoding, 'utf-8'))
        endif
        writefile(lines, message.path, getbufvar(front, '&endofline') ? '' : 'b')
      catch
        state = {}
      endtry
    endif
    Send({text: true, state: state})
  elseif message.do ==# 'open'
    try
      Open(message)
    catch
      notes = [v:exception]
      Report()
    endtry
  endif
enddef

def Start()
  const near = HERE .. '/handoff-editor'
  const program = get(g:, 'handoff_program', filereadable(near) ? near : fnamemodify(HERE, ':h:h:h') .. '/bin/handoff-editor')
  if executable(program)
    job = job_start([program, 'serve', 'vim'], {mode: 'nl', out_cb: Received, err_io: 'null', stoponexit: 'term'})
    Show()
  endif
enddef

def ShowNotes()
  for note in notes
    echomsg note
  endfor
enddef

command! HandoffNotes ShowNotes()
augroup handoff
  autocmd!
  autocmd BufEnter,BufFilePost,BufWritePost,FocusGained * Show()
  if !v:vim_did_enter
    autocmd VimEnter * Start()
  endif
augroup END
if v:vim_did_enter
  Start()
endif
