-- Purpose: counts refusals during a flood instead of recording it, and schedules the log entry with the count.
-- Guarantee: every count is scheduled; beyond a bound, only the counts of the oldest minutes are kept.
-- KEYS[1] counts of the minute · KEYS[2] floods
-- ARGV[1] `<agent_id> <reason>` · ARGV[2] seconds to keep the counts · ARGV[3] `<organization_id> <minute>`
-- ARGV[4] ms from which on the log tells of it · ARGV[5] floods that are noted at most · ARGV[6] number of refusals
-- Returns: the count
local count = redis.call('HINCRBY', KEYS[1], ARGV[1], ARGV[6])
redis.call('EXPIRE', KEYS[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[4], ARGV[3])
redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - tonumber(ARGV[5]))
return count
