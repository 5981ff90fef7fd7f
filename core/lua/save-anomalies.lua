-- Purpose: stores what the anomaly analyser has learned, with the events that follow from it.
-- Guarantee: only the holder of the lease writes, and an event is written with the state that remembers it, so that the
--   next holder does not report it again.
-- KEYS[1] lease · KEYS[2] organizations · KEYS[3] state · KEYS[4] activity stream · KEYS[5..9] as outboxKeys lists them
-- ARGV[1] name of the holder · ARGV[2] organization_id · ARGV[3] bound of the stream
-- ARGV[4] entries, one per line, as record.lua takes them · ARGV[5] number of fields that are removed
-- ARGV[6..] those fields, then field and value of each that is set
-- Returns: 1 stored, 0 the lease is another's, -1 there is no such organization (any more)
-- @include enqueue-event
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if redis.call('HEXISTS', KEYS[2], ARGV[2]) == 0 then
  redis.call('DEL', KEYS[3])
  return -1
end
local first = 6 + tonumber(ARGV[5])
for i = 6, first - 1 do redis.call('HDEL', KEYS[3], ARGV[i]) end
for i = first, #ARGV - 1, 2 do redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1]) end
for tag, entry in string.gmatch(ARGV[4], '([^\t\n]*)\t([^\n]*)\n') do
  redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[3], '*', 'e', entry)
  enqueueEvent(5, ARGV[2], tag, entry)
end
return 1
