-- Purpose: all that a kill or a reactivation decides on, as of one moment.
-- KEYS[1] agents · KEYS[2] index of the agent's keys · KEYS[3] keys of the organization
-- ARGV[1] agent_id
-- Returns: {time of the store in ms, agent as JSON or nil, size of the index, key as JSON...}
local now = redis.call('TIME')
local answer = {now[1] * 1000 + math.floor(now[2] / 1000), redis.call('HGET', KEYS[1], ARGV[1])}
local ids = redis.call('ZRANGE', KEYS[2], 0, -1)
answer[3] = #ids
for _, id in ipairs(ids) do
  local text = redis.call('HGET', KEYS[3], id)
  if text then answer[#answer + 1] = text end
end
return answer
