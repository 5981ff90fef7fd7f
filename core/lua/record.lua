-- Purpose: appends activity entries of one organization, and puts those that webhooks subscribe to into the outbox.
-- Guarantee: an entry and its event are written together. The log keeps to its bound of entries and, looked at now and
--   then, to its budget of bytes, also while no admin process runs.
-- KEYS[1] activity stream · KEYS[2..6] as outboxKeys lists them · KEYS[7] budget of the log in bytes
-- ARGV[1] bound of the stream · ARGV[2] organization_id · ARGV[3] a line for each entry: the tag of its event, as
--   enqueueEvent takes it, a tab, the entry as JSON, which holds neither tabs nor line feeds
-- Returns: number of entries written
-- @include enqueue-event

-- The size is estimated from a few nodes, once in so many entries.
local LOOK_EVERY = 512
local BUDGET_BYTES = 1024 * 1024 * 1024

local function keepToBudget(length)
  local budget = tonumber(redis.call('GET', KEYS[7])) or BUDGET_BYTES
  local bytes = redis.call('MEMORY', 'USAGE', KEYS[1], 'SAMPLES', 10)
  if bytes and bytes > budget then
    redis.call('XTRIM', KEYS[1], 'MAXLEN', '~', math.floor(length * budget / bytes * 0.95))
  end
end

local written = 0
for tag, entry in string.gmatch(ARGV[3], '([^\t\n]*)\t([^\n]*)\n') do
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'e', entry)
  enqueueEvent(2, ARGV[2], tag, entry)
  written = written + 1
end
local length = redis.call('XLEN', KEYS[1])
if math.floor(length / LOOK_EVERY) ~= math.floor((length - written) / LOOK_EVERY) then keepToBudget(length) end
return written
