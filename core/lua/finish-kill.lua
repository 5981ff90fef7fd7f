#!lua flags=allow-oom
-- Purpose: writes the event of a kill, whose counts are known now, to the activity log and the outbox, and its receipt.
-- Guarantee: exactly once: the record must still be as the caller read it.
-- KEYS[1] kills · KEYS[2] activity stream · KEYS[3..7] as outboxKeys lists them · KEYS[8] e-mails about kills
-- KEYS[9] kept receipts · KEYS[10] their index
-- ARGV[1] epoch · ARGV[2] the record as it was read
-- ARGV[3] the new record, or empty to remove it
-- ARGV[4] organization_id · ARGV[5] bound of the stream · ARGV[6] activity entry as JSON, or empty for none
-- ARGV[7] 1 if an e-mail reports it · ARGV[8] tag of the event, as enqueueEvent takes it
-- ARGV[9] kill_id, or empty · ARGV[10] receipt as JSON · ARGV[11] receipts to keep
-- Returns: 1 written, 0 another process was first
-- @include enqueue-event

-- Only a long outage of the mail server causes this many pending e-mails; then the oldest one is dropped.
local MAILS_MAX = 1000
-- More than one receipt at a time is too many only after several kills at once.
local REMOVED_MAX = 100
local found = redis.call('HGET', KEYS[1], ARGV[1])
if not found or found ~= ARGV[2] then return 0 end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
if ARGV[6] ~= '' then
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[5], '*', 'e', ARGV[6])
  enqueueEvent(3, ARGV[4], ARGV[8], ARGV[6])
  if ARGV[7] == '1' then
    local clock = redis.call('TIME')
    redis.call('ZADD', KEYS[8], clock[1] * 1000 + math.floor(clock[2] / 1000), ARGV[6])
    redis.call('ZREMRANGEBYRANK', KEYS[8], 0, -MAILS_MAX - 1)
  end
end
-- A receipt that was removed meanwhile, with its organization or as the oldest, stays removed.
if ARGV[9] ~= '' and redis.call('HEXISTS', KEYS[9], ARGV[9]) == 1 then
  redis.call('HSET', KEYS[9], ARGV[9], ARGV[10])
  local excess = math.min(redis.call('ZCARD', KEYS[10]) - ARGV[11], REMOVED_MAX)
  for _, oldest in ipairs(excess > 0 and redis.call('ZRANGE', KEYS[10], 0, excess - 1) or {}) do
    redis.call('HDEL', KEYS[9], oldest)
    redis.call('ZREM', KEYS[10], oldest)
  end
end
return 1
