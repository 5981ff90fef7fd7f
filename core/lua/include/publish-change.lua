-- Purpose: numbers a change and tells the edges of it. KEYS[1] is the epoch, KEYS[2] the edge beats, KEYS[3] their clock.
--   It uses edge-beats.

-- The next epoch, as a number and as text, and the one before it as text. No two changes have the same epoch, although a failover can
-- lose the latest ones: it is the time in microseconds. Where the clock is behind the last epoch, it is ahead of that one by the
-- microseconds of the second, which are not those at which a change was lost.
local function nextEpoch()
  local before = tonumber(redis.call('GET', KEYS[1])) or 0
  local now = redis.call('TIME')
  local epoch = now[1] * 1000000 + now[2]
  if epoch <= before then epoch = before + 1 + now[2] end
  local text = string.format('%.0f', epoch)
  redis.call('SET', KEYS[1], text)
  return epoch, text, string.format('%.0f', before)
end

-- Targets are a JSON list as text. A change that no edge has to apply is published as well, since every epoch that does not arrive
-- is a gap. Returns the edges whose lease may still run.
local function publishChange(epoch, after, targets, channel, lease_ms)
  local edges = redis.call('ZRANGEBYSCORE', KEYS[2], lookAtBeats(KEYS[2], KEYS[3]) - lease_ms, '+inf')
  redis.call('PUBLISH', channel, '{"kind":"control","version":1,"epoch":' .. epoch .. ',"after":' .. after .. ',"targets":' .. targets .. '}')
  return edges
end
