-- Handoff for Neovim 0.7 and later: offers the current file to the user's other devices, and opens files from them.
-- docs/editors.md describes it. Enable it in init.lua with: dofile('/usr/share/handoff/editors/handoff.lua')
if vim.g.loaded_handoff then return end
vim.g.loaded_handoff = 1

local fn, api = vim.fn, vim.api
local job, front, rest
local notes = {}

local function send(message)
  -- A path that is not UTF-8 cannot be offered.
  local ok, line = pcall(fn.json_encode, message)
  if ok and job then pcall(fn.chansend, job, line .. '\n') end
end

local function state()
  if not (front and api.nvim_buf_is_loaded(front)) then return {} end
  local line, column = 1, 1
  local window = fn.bufwinid(front)
  if window == -1 then window = fn.win_findbuf(front)[1] or -1 end
  if window ~= -1 then
    local cursor = api.nvim_win_get_cursor(window)
    line = cursor[1]
    local text = fn.getbufline(front, line)[1] or ''
    column = fn.strchars(text:sub(1, cursor[2])) + 1
  end
  return { file = api.nvim_buf_get_name(front), line = line, column = column, unsaved = vim.bo[front].modified }
end

local function show(event)
  local buffer = event.buf
  local name = api.nvim_buf_get_name(buffer)
  if buffer ~= api.nvim_get_current_buf() or vim.bo[buffer].buftype ~= '' or not name:find('^/') then return end
  front = buffer
  send({ front = name })
end

-- Limit the message to one line. A longer one would wait for a key.
local function report()
  local text = 'Handoff: ' .. table.concat(notes, '; ')
  if #notes > 1 or fn.strdisplaywidth(text) > vim.o.columns - 12 then
    text = fn.strcharpart(text, 0, math.max(10, vim.o.columns - 32)) .. '… (:HandoffNotes)'
  end
  api.nvim_echo({ { text } }, false, {})
end

local function beside(lines)
  vim.cmd('rightbelow vertical new')
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile, vim.bo.modeline = 'nofile', 'hide', false, false
  api.nvim_buf_set_lines(0, 0, -1, false, lines)
end

local function open(message)
  notes = message.notes
  local group = api.nvim_create_augroup('handoff_open', {})
  local swap
  -- Answer the prompt about a swap file. It would block the editor.
  api.nvim_create_autocmd('SwapExists', { group = group, callback = function()
    swap, vim.v.swapchoice = vim.v.swapname, 'o'
  end })
  local lines
  if message.text ~= vim.NIL then
    lines = vim.tbl_map(function(line) return (line:gsub('\n', '\0')) end, fn.readfile(message.text, 'b'))
    os.remove(message.text)
  end
  if fn.getcmdwintype() ~= '' then vim.cmd('quit') end
  local ended
  if lines and lines[#lines] == '' then
    table.remove(lines)
    ended = true
  end
  if message.file ~= vim.NIL then
    local buffer = fn.bufadd(message.file)
    vim.bo[buffer].buflisted = true
    if not message.modelines then vim.bo[buffer].modeline = false end
    local ok, problem = pcall(vim.cmd, 'hide buffer ' .. buffer)
    if api.nvim_get_current_buf() ~= buffer then
      table.insert(notes, 1, 'the file was not opened: ' .. tostring(problem))
      message.file = vim.NIL
    elseif swap then
      table.insert(notes, 1, 'another Vim has the file open, or has crashed: it is opened read-only')
    elseif not vim.bo.modified then
      -- Another program, such as git, may have changed the file after it was read.
      vim.bo.autoread = true
      pcall(vim.cmd, 'silent checktime ' .. buffer)
      vim.cmd('setlocal autoread<')
    end
  end
  api.nvim_del_augroup_by_id(group)
  if lines then
    local is_mine = message.file ~= vim.NIL and vim.bo.modified
    if is_mine then table.insert(notes, 1, 'the file has unsaved changes here: the text is shown next to it') end
    -- Vim would write the text to the disk.
    local saves = message.file ~= vim.NIL and vim.o.autowriteall
    if saves then table.insert(notes, 1, 'files are saved automatically: the text is shown next to the file') end
    local is_free = not (is_mine or saves or swap or vim.bo.readonly) and vim.bo.modifiable
    if message.file ~= vim.NIL and message.apply and is_free then
      api.nvim_buf_set_lines(0, 0, -1, false, lines)
      vim.bo.endofline = ended or false
      vim.bo.modified = true
      table.insert(notes, 'the text is not saved yet')
    else
      if message.file ~= vim.NIL then vim.cmd('diffthis') end
      beside(lines)
      if message.file ~= vim.NIL then vim.cmd('diffthis') end
    end
  end
  if message.file ~= vim.NIL or lines then
    local line = math.min(message.line, api.nvim_buf_line_count(0))
    local text = fn.getline(line)
    local column = fn.byteidx(text, math.min(message.column, fn.strchars(text) + 1) - 1)
    api.nvim_win_set_cursor(0, { line, math.max(0, column) })
    pcall(vim.cmd, 'normal! zvzz')
  end
  if #notes > 0 then report() end
end

local function received(message)
  if message['do'] == 'state' then
    send({ state = state() })
  elseif message['do'] == 'text' then
    local current = state()
    -- A request without a reply would prevent all later ones.
    local ok = current.file and pcall(function()
      -- getbufline() represents NUL as a newline, as writefile() and readfile() do. The API represents it as NUL.
      local lines = fn.getbufline(front, 1, '$')
      if vim.bo[front].endofline then lines[#lines + 1] = '' end
      fn.writefile(lines, message.path, 'b')
    end)
    send({ text = true, state = ok and current or {} })
  elseif message['do'] == 'open' then
    -- Do not run inside another command, or in the mode of a terminal or prompt.
    vim.schedule(function()
      local ok, problem = pcall(open, message)
      if not ok then
        notes = { tostring(problem) }
        report()
      end
    end)
  end
end

local function output(_, data)
  data[1] = (rest or '') .. data[1]
  rest = table.remove(data)
  for _, line in ipairs(data) do
    local ok, message = pcall(vim.json.decode, line)
    if ok then received(message) end
  end
end

local function start()
  local here = fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h')
  local near = here .. '/handoff-editor'
  local program = vim.g.handoff_program
    or (fn.filereadable(near) == 1 and near or fn.fnamemodify(here, ':h:h:h') .. '/bin/handoff-editor')
  local ok, id = pcall(fn.jobstart, { program, 'serve', 'nvim' }, { on_stdout = output, on_exit = function() job = nil end })
  job = ok and id > 0 and id or nil
  show({ buf = api.nvim_get_current_buf() })
end

api.nvim_create_user_command('HandoffNotes', function()
  for _, note in ipairs(notes) do api.nvim_echo({ { note } }, true, {}) end
end, {})
local group = api.nvim_create_augroup('handoff', {})
api.nvim_create_autocmd({ 'BufEnter', 'BufFilePost', 'BufWritePost', 'FocusGained' }, { group = group, callback = show })
if vim.v.vim_did_enter == 1 then start() else api.nvim_create_autocmd('VimEnter', { group = group, callback = start }) end
