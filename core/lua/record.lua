-- Purpose: appends activity entries of one organization, and puts those that webhooks subscribe to into the outbox.
-- Guarantee: an entry and its event are written together.
-- KEYS[1] activity stream · KEYS[2..6] as outboxKeys lists them
-- ARGV[1] bound of the stream · ARGV[2] organization_id · ARGV[3] a line for each entry: its event, or nothing where
--   nobody can subscribe to it, a tab, the entry as JSON, which holds neither tabs nor line feeds
-- Answer: number of entries written
-- @include enqueue-event
local written = 0
for event, entry in string.gmatch(ARGV[3], '([^\t\n]*)\t([^\n]*)\n') do
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'e', entry)
  enqueueEvent(2, ARGV[2], event, entry)
  written = written + 1
end
return written
