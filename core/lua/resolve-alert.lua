-- Purpose: closes an open alert whose condition is over; the next occurrence opens a new one.
-- Guarantee: an occurrence that came after the condition was checked keeps the alert open.
-- KEYS[1] alert · KEYS[2] open alerts
-- ARGV[1] time · ARGV[2] why · ARGV[3] its number of occurrences when the condition was checked, or empty for any
-- Returns: 1 resolved now, 0 not open or occurred again
if redis.call('HGET', KEYS[1], 'status') ~= 'open' then return 0 end
local id, about, count = unpack(redis.call('HMGET', KEYS[1], 'alert_id', 'about', 'count'))
if ARGV[3] ~= '' and count ~= ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], 'status', 'resolved', 'resolved_at', ARGV[1], 'resolution', ARGV[2])
if redis.call('HGET', KEYS[2], about) == id then redis.call('HDEL', KEYS[2], about) end
return 1
