-- Purpose: a process that does not know whether its writes to the log were run makes sure that none of them still will be.
-- Guarantee: after this, writes of an earlier generation are ignored, also those that a store that was paused has yet to read.
-- KEYS[1] log writer
-- ARGV[1] generation · ARGV[2] seconds to keep it · ARGV[3..] logs
-- Returns: for each log the number of the last batch that was written, or nil
redis.call('HSET', KEYS[1], 'generation', ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
local last = {}
for i = 3, #ARGV do last[i - 2] = redis.call('HGET', KEYS[1], ARGV[i]) end
return last
