-- Purpose: says up to where the log of an organization is indexed. Indexes and counts of another form are removed, so that
--   they are made again from the beginning of the log.
-- Guarantee: what was reported once is not reported again: alerts begin after the position that the former indexes had.
-- KEYS[1] digest · KEYS[2] names of the indexes · KEYS[3] prefix of an index · KEYS[4] prefix of counts
-- KEYS[5] buckets of counts
-- ARGV[1] form of the indexes
-- Returns: {position, position up to which alerts were raised by the former indexing}
local state = redis.call('HMGET', KEYS[1], 'form', 'position', 'alerted')
if state[1] == ARGV[1] then return {state[2] or '0-0', state[3] or '0-0'} end
for _, name in ipairs(redis.call('SMEMBERS', KEYS[2])) do redis.call('UNLINK', KEYS[3] .. name) end
redis.call('UNLINK', KEYS[2])
for _, bucket in ipairs(redis.call('ZRANGE', KEYS[5], 0, -1)) do redis.call('UNLINK', KEYS[4] .. bucket) end
redis.call('UNLINK', KEYS[5])
local alerted = state[2] or '0-0'
redis.call('HSET', KEYS[1], 'form', ARGV[1], 'alerted', alerted)
redis.call('HDEL', KEYS[1], 'position')
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(field, 1, 6) == 'count ' then redis.call('HDEL', KEYS[1], field) end
end
return {'0-0', alerted}
