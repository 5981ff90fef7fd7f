#!lua flags=allow-oom
-- Purpose: replaces the grant of a connection, or removes it, and plans when it is looked at next.
-- Guarantee: only if it is still as the caller read it. A full store does not lose a refresh token that the provider has just
--   replaced.
-- KEYS[1] grants of the organization · KEYS[2] grants by the ms at which they are due
-- ARGV[1] connection_id · ARGV[2] the grant as it was read, empty for none · ARGV[3] the new one, empty to remove it
-- ARGV[4] name among those that are due · ARGV[5] when it is due, in ms, empty for never
-- Returns: 1 written, 0 it has changed
local found = redis.call('HGET', KEYS[1], ARGV[1]) or ''
if found ~= ARGV[2] then return 0 end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
if ARGV[5] == '' then
  redis.call('ZREM', KEYS[2], ARGV[4])
else
  redis.call('ZADD', KEYS[2], ARGV[5], ARGV[4])
end
return 1
