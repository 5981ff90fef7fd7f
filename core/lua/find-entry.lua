-- Purpose: looks for one entry in a piece of the activity log, from old to new.
-- KEYS[1] activity stream
-- ARGV[1] from, ARGV[2] to, as XRANGE takes them · ARGV[3] rows at most · ARGV[4] the member `id` of the entry as JSON
--   writes it; a text inside a value cannot be like it, since its quotes are escaped · ARGV[5] ms at which it was made
-- Returns: {'', entry} found · {id, block} a block that may hold it, go on after it · {id} go on after it · {''} not there
local ROWS = 16
-- After so many bytes it stops, so that no call of it is long.
local BYTES_MAX = 4194304
local made_ms, left, bytes = tonumber(ARGV[5]), tonumber(ARGV[3]), 0
local from = ARGV[1]
while left > 0 and bytes < BYTES_MAX do
  local rows = redis.call('XRANGE', KEYS[1], from, ARGV[2], 'COUNT', ROWS)
  for _, row in ipairs(rows) do
    local fields = row[2]
    bytes = bytes + #fields[2]
    if fields[1] == 'b' then
      local oldest, newest = string.match(fields[4], '^%d+ (%d+) (%d+)')
      if made_ms >= tonumber(oldest) and made_ms <= tonumber(newest) then return {row[1], fields[2]} end
    elseif string.find(fields[2], ARGV[4], 1, true) then
      return {'', fields[2]}
    end
  end
  if #rows < ROWS then return {''} end
  left = left - #rows
  from = '(' .. rows[#rows][1]
end
return {string.sub(from, 2)}
