-- Purpose: the size of a hash of records, without reading them.
-- KEYS[1] the hash · no ARGV
-- Returns: the bytes of all values
local bytes = 0
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  bytes = bytes + redis.call('HSTRLEN', KEYS[1], field)
end
return bytes
