-- Purpose: appends activity entries of one organization, and puts those that webhooks subscribe to into the outbox.
-- Guarantee: an entry and its event are written together, and those of one call once. The log keeps to its bound of rows and to
--   its budget of bytes.
-- KEYS[1] activity stream · KEYS[2..6] as outboxKeys lists them · KEYS[7] budget of the log in bytes · KEYS[8] log writer ·
--   KEYS[9..10] decided calls
-- ARGV[1] bound of the stream · ARGV[2] organization_id · ARGV[3] a line for each entry: the tag of its event, as
--   enqueueEvent takes it, a tab, the entry as JSON, which holds neither tabs nor line feeds · ARGV[4] mark of the write
-- Returns: number of entries that the log has; 0 if the write was given up
-- @include enqueue-event
-- @include keep-log-to-budget
-- @include once-per-call
-- @include writer-of-log
if isGivenUp(KEYS[8], ARGV[4]) then return 0 end
local calls = decidedCalls(KEYS[9], KEYS[10])
local written, there = 0, 0
for tag, entry in string.gmatch(ARGV[3], '([^\t\n]*)\t([^\n]*)\n') do
  if isLogged(calls, entry) then
    there = there + 1
  else
    redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'e', entry)
    enqueueEvent(2, ARGV[2], tag, entry)
    written = written + 1
  end
end
keepLogToBudget(KEYS[1], KEYS[7], written)
return written + there
