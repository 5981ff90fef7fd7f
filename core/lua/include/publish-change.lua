-- Purpose: numbers a change and tells the edges of it. KEYS[1] is the epoch, KEYS[2] the edge beats.

-- The next epoch, as a number and as text.
local function nextEpoch()
  if redis.call('EXISTS', KEYS[1]) == 0 then
    local now = redis.call('TIME')
    redis.call('SET', KEYS[1], now[1] .. string.format('%06d', now[2]))
  end
  local epoch = redis.call('INCR', KEYS[1])
  return epoch, string.format('%.0f', epoch)
end

-- Targets are a JSON list as text. A change that no edge has to apply is published as well, since every epoch that does not arrive
-- is a gap. Returns the edges whose lease may still run.
local function publishChange(epoch_text, targets, channel, lease_ms)
  local now = redis.call('TIME')
  local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
  local edges = redis.call('ZRANGEBYSCORE', KEYS[2], now_ms - lease_ms, '+inf')
  redis.call('PUBLISH', channel, '{"kind":"control","version":1,"epoch":' .. epoch_text .. ',"targets":' .. targets .. '}')
  return edges
end
