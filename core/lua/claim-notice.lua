-- Purpose: takes one due e-mail (about a failing webhook, about a kill); one that is not confirmed comes up again after the lease.
-- KEYS[1] notices, each by the ms at which it is due
-- ARGV[1] lease in ms
-- Returns: the notice or nil
local clock = redis.call('TIME')
local now_ms = clock[1] * 1000 + math.floor(clock[2] / 1000)
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now_ms, 'LIMIT', 0, 1)
if not due[1] then return nil end
redis.call('ZADD', KEYS[1], now_ms + ARGV[1], due[1])
return due[1]
