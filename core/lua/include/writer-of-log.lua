-- Purpose: ignores writes that a process has given up, and notes the last batch of a log. A mark is `<generation> <seconds to keep
--   the note> <number of the batch> <log>`; the last two may be missing.

-- Whether the write has been given up; else its batch is noted.
local function isGivenUp(writer, mark)
  local generation, ttl, batch, log = string.match(mark, '^(%d+) (%d+) ?(%d*) ?(.*)$')
  if (tonumber(redis.call('HGET', writer, 'generation')) or 0) > tonumber(generation) then return true end
  if batch ~= '' then
    redis.call('HSET', writer, log, batch)
    redis.call('EXPIRE', writer, ttl)
  end
  return false
end
