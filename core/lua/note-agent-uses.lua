-- Purpose: notes when an agent and its keys were last used, and counts its calls per minute, for the calls of the last hour that a
-- kill reports. What was deleted in the meantime is left out.
-- KEYS[1] agents · KEYS[2] when they were last seen · KEYS[3] their last paths · KEYS[4] keys · KEYS[5] when they were last used
-- KEYS[6] organization keys of the agent · KEYS[7] calls of the agent
-- KEYS[8] connections · KEYS[9] when they were last used
-- ARGV[1] agent_id · ARGV[2] ms · ARGV[3] path; empty if not known · ARGV[4] minute · ARGV[5] number of calls
-- ARGV[6..] for each key or connection: its id, ms, 1 if it is a key of the organization, 2 if it is a connection
-- Returns: 1 if the agent exists, else 0
local KEPT_MINUTES = 60
local CALLS_TTL_S = 7200
-- A kill asks for the last day.
local ORGANIZATION_KEYS_TTL_S = 25 * 3600
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
if ARGV[3] ~= '' then redis.call('HSET', KEYS[3], ARGV[1], ARGV[3]) end
for i = 6, #ARGV, 3 do
  if ARGV[i + 2] == '2' then
    if redis.call('HEXISTS', KEYS[8], ARGV[i]) == 1 then redis.call('HSET', KEYS[9], ARGV[i], ARGV[i + 1]) end
  elseif redis.call('HEXISTS', KEYS[4], ARGV[i]) == 1 then
    redis.call('HSET', KEYS[5], ARGV[i], ARGV[i + 1])
    if ARGV[i + 2] == '1' then
      redis.call('HSET', KEYS[6], ARGV[i], ARGV[i + 1])
      redis.call('EXPIRE', KEYS[6], ORGANIZATION_KEYS_TTL_S)
    end
  end
end
redis.call('HINCRBY', KEYS[7], ARGV[4], ARGV[5])
redis.call('EXPIRE', KEYS[7], CALLS_TTL_S)
if redis.call('HLEN', KEYS[7]) > KEPT_MINUTES + 10 then
  for _, minute in ipairs(redis.call('HKEYS', KEYS[7])) do
    if tonumber(minute) <= ARGV[4] - KEPT_MINUTES then redis.call('HDEL', KEYS[7], minute) end
  end
end
return 1
