-- Purpose: closes an open alert; the next occurrence opens a new one.
-- Guarantee: the change and its audit entry are written together, once.
-- KEYS[1] alert · KEYS[2] open alerts · KEYS[3] activity stream
-- ARGV[1] time · ARGV[2] who · ARGV[3] audit entry as JSON · ARGV[4] bound of the stream · ARGV[5] comment, or empty
-- Returns: 1 acknowledged now, 0 before, -1 no such alert
local status = redis.call('HGET', KEYS[1], 'status')
if not status then return -1 end
if status ~= 'open' then return 0 end
redis.call('HSET', KEYS[1], 'status', 'acknowledged', 'acknowledged_at', ARGV[1], 'acknowledged_by', ARGV[2])
if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'comment', ARGV[5]) end
local about = redis.call('HGET', KEYS[1], 'about')
if redis.call('HGET', KEYS[2], about) == redis.call('HGET', KEYS[1], 'alert_id') then
  redis.call('HDEL', KEYS[2], about)
end
redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[4], '*', 'e', ARGV[3])
return 1
