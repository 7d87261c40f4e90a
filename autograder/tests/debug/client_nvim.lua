-- client_nvim.lua - a third-party client, nvim-dap in Neovim, drives a session from a breakpoint to
-- stepBack.  The exit status is 0 if it succeeds.
--   nvim --headless -u NONE --cmd 'set rtp+=FOLDER_OF_NVIM_DAP' -c 'luafile client_nvim.lua'
-- The environment: BUILD, the build folder; PROGRAM, the CUDA source.
local dap = require('dap')
local build = vim.env.BUILD or 'build'
local program = vim.fn.fnamemodify(vim.env.PROGRAM, ':p')
local LINE = 32

local function fail(text)
  print(text .. '\n')
  vim.cmd('cquit')
end

-- One function for each stop.
local steps = {
  function(session, body, frame)
    assert(body.reason == 'breakpoint' and frame.line == LINE, vim.inspect(frame))
    local watched = { expression = 'sum[0]', frameId = frame.id, context = 'watch' }
    session:request('evaluate', watched, function(err, response)
      if err or response.result ~= '1' then fail(vim.inspect(err or response)) end
      dap.step_over()
    end)
  end,
  function(_, body, frame)
    assert(body.reason == 'step' and frame.line ~= LINE, vim.inspect(frame))
    dap.step_back()
  end,
  function(_, _, frame)
    assert(frame.line == LINE, vim.inspect(frame))
    dap.terminate()
  end,
}
local stops = 0
dap.listeners.after.event_stopped['test'] = function(session, body)
  session:request('stackTrace', { threadId = body.threadId }, function(err, response)
    stops = stops + 1
    if err then fail(vim.inspect(err)) end
    local is_good, why = pcall(steps[stops], session, body, response.stackFrames[1])
    if not is_good then fail(tostring(why)) end
  end)
end
dap.listeners.after.event_terminated['test'] = function() vim.cmd('qall!') end

dap.adapters.cuda = { type = 'executable', command = build .. '/bin/debug',
                      args = { '--dap', '--build', build }, options = { initialize_timeout_sec = 60 } }
vim.cmd('edit ' .. program)
vim.api.nvim_win_set_cursor(0, { LINE, 0 })
dap.set_breakpoint()
dap.run({ type = 'cuda', request = 'launch', name = 'test', program = program })
vim.defer_fn(function() fail('nothing happened for 60 s') end, 60000)
