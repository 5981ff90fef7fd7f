-- Purpose: drops from an index what the log no longer holds; an index that is empty then is forgotten.
-- KEYS[1] index · KEYS[2] names of the indexes · KEYS[3] digest
-- ARGV[1] oldest id that is kept · ARGV[2] name of the index
-- Returns: number of rows dropped
local dropped = redis.call('XTRIM', KEYS[1], 'MINID', '~', ARGV[1])
local newest = redis.call('XREVRANGE', KEYS[1], '+', ARGV[1], 'COUNT', 1)
if #newest == 0 then
  redis.call('DEL', KEYS[1])
  redis.call('SREM', KEYS[2], ARGV[2])
  redis.call('HDEL', KEYS[3], 'count ' .. ARGV[2])
end
return dropped
