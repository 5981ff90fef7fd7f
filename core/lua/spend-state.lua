#!lua flags=allow-oom
-- Purpose: a `requestState` by which a client says that an API was connected counts once.
-- Guarantee: at most ARGV[4] of an agent are kept, each until it ends; a further one does not count.
-- KEYS[1] the spent states of the agent
-- ARGV[1] nonce of the state · ARGV[2] the time in ms · ARGV[3] when the state ends, in ms · ARGV[4] how many are kept
-- Returns: 1 it counts, 0 it was spent before, or there is no room
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[2])
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[4]) then return 0 end
local added = redis.call('ZADD', KEYS[1], 'NX', ARGV[3], ARGV[1])
redis.call('PEXPIREAT', KEYS[1], ARGV[3])
return added
