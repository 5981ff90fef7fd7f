#!lua flags=allow-oom
-- Purpose: writes the event of a kill, whose counts are known now, to the activity log and the outbox.
-- Guarantee: once, whoever comes first: the record must still be as the caller read it.
-- KEYS[1] kills · KEYS[2] activity stream · KEYS[3..7] as outboxKeys lists them
-- ARGV[1] epoch · ARGV[2] the record as it was read
-- ARGV[3] the record that follows, or empty to forget it
-- ARGV[4] organization_id · ARGV[5] bound of the stream · ARGV[6] activity entry as JSON, or empty for none
-- Answer: 1 written, 0 somebody else was first
-- @include enqueue-event
local found = redis.call('HGET', KEYS[1], ARGV[1])
if not found or found ~= ARGV[2] then return 0 end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
if ARGV[6] ~= '' then
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[5], '*', 'e', ARGV[6])
  enqueueEvent(3, ARGV[4], 'agent_killed', ARGV[6])
end
return 1
