-- Purpose: counts calls of an agent per minute, for the calls of the last hour that a kill reports.
-- KEYS[1] calls of the agent
-- ARGV[1] minute · ARGV[2] number of calls
-- Returns: 1
local KEPT_MINUTES = 60
local TTL_S = 7200
redis.call('HINCRBY', KEYS[1], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], TTL_S)
if redis.call('HLEN', KEYS[1]) > KEPT_MINUTES + 10 then
  for _, minute in ipairs(redis.call('HKEYS', KEYS[1])) do
    if tonumber(minute) <= ARGV[1] - KEPT_MINUTES then redis.call('HDEL', KEYS[1], minute) end
  end
end
return 1
