-- Purpose: puts the last event of a minute's flood into the outbox, with the number of those that it stands for.
-- Guarantee: once, whichever process comes first; what arrived since it was read keeps the flood open for another turn.
-- KEYS[1] floods · KEYS[2] flood · KEYS[3..7] as outboxKeys lists them
-- ARGV[1] name of the flood · [2] its count as it was read · [3] organization_id · [4] activity entry as JSON · [5] seconds to keep the flood, for the minute after
-- Returns: 1 written or dropped at a bound, 0 not
if redis.call('HGET', KEYS[2], 'count') ~= ARGV[2] then return 0 end
if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HDEL', KEYS[2], 'entry')
redis.call('EXPIRE', KEYS[2], ARGV[5])
-- @include enqueue-event
enqueueOutbox(3, ARGV[3], true, ARGV[4])
return 1
