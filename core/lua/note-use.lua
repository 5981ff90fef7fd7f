-- Purpose: notes when something was last used, unless it was deleted in the meantime.
-- KEYS[1] the records · KEYS[2] their last uses
-- ARGV[1] id · ARGV[2] ms
-- Returns: 1 if the record exists, else 0
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
return 1
