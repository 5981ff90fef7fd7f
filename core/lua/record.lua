-- Purpose: appends activity entries of one organization, and puts those that webhooks subscribe to into the outbox.
-- Guarantee: an entry and its event are written together.
-- KEYS[1] activity stream · KEYS[2..6] as outboxKeys lists them
-- ARGV[1] bound of the stream · ARGV[2] organization_id · then for each entry: its event, or empty where nobody can
--   subscribe to it · the entry as JSON
-- Answer: number of entries written
-- @include enqueue-event
for i = 3, #ARGV, 2 do
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'e', ARGV[i + 1])
  enqueueEvent(2, ARGV[2], ARGV[i], ARGV[i + 1])
end
return (#ARGV - 2) / 2
