-- Purpose: counts a call of an agent that begins to wait for a decision, over all edges.
-- Guarantee: a call whose process has died counts until the time that it wanted to wait is over.
-- KEYS[1] held calls of the agent, by when they end
-- ARGV[1] id of the call · ARGV[2] ms that it waits at most · ARGV[3] how many may wait
-- Returns: 1, or 0 if too many wait
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function ms(number) return string.format('%.0f', number) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ms(now))
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('ZADD', KEYS[1], ms(now + ARGV[2]), ARGV[1])
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('PEXPIREAT', KEYS[1], ms(tonumber(last[2])))
return 1
