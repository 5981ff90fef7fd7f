-- Purpose: appends blocks of activity entries of one organization: calls that went on, which no webhook receives.
-- Guarantee: the entries of a block have places of their own, in its order; the last has the id of the row. No other row has
--   an id between them. The log keeps to its bound of rows and to its budget of bytes.
-- KEYS[1] activity stream · KEYS[2] digest · KEYS[3] budget of the log in bytes · KEYS[4] log writer ·
--   KEYS[5..6] decided calls
-- ARGV[1] bound of the stream · ARGV[2] form of the indexes that goes with blocks · ARGV[3] mark of the write ·
--   ARGV[4..] five for each block, as core/activity/pack-block.ts makes them: head, names of the
--   indexes, hashes of the request ids, their ends, the block
-- Returns: number of blocks written, or -1 where entries must be written one by one: the admin service that indexes the log has not
--   said that it reads blocks, or a call of a block was cut
-- @include keep-log-to-budget
-- @include once-per-call
-- @include writer-of-log

if redis.call('HGET', KEYS[2], 'form') ~= ARGV[2] then return -1 end
local calls = decidedCalls(KEYS[5], KEYS[6])
local cuts = hashesWithCuts(calls)
for i = 4, #ARGV, 5 do
  if isCut(cuts, ARGV[i + 3]) then return -1 end
end
if isGivenUp(KEYS[4], ARGV[3]) then return 0 end

local function lastId()
  if redis.call('EXISTS', KEYS[1]) == 0 then return 0, 0 end
  local info = redis.call('XINFO', 'STREAM', KEYS[1])
  for i = 1, #info, 2 do
    if info[i] == 'last-generated-id' then
      local ms, number = string.match(info[i + 1], '^(%d+)-(%d+)$')
      return tonumber(ms), tonumber(number)
    end
  end
end

local clock = redis.call('TIME')
local ms, number = clock[1] * 1000 + math.floor(clock[2] / 1000), -1
local last_ms, last_number = lastId()
-- As XADD does for an id of its own.
if last_ms >= ms then ms, number = last_ms, last_number end

local written = 0
for i = 4, #ARGV, 5 do
  local count = tonumber(string.match(ARGV[i], '^%d+'))
  number = number + count
  local id = string.format('%.0f-%.0f', ms, number)
  local packed = redis.call('HINCRBY', KEYS[2], 'packed', count) - count
  local blocks = redis.call('HINCRBY', KEYS[2], 'blocks', 1) - 1
  if blocks == 0 then redis.call('HSET', KEYS[2], 'first_block', id) end
  local head = ARGV[i] .. string.format(' %.0f %.0f', blocks, packed)
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], id, 'b', ARGV[i + 4], 'h', head, 'i', ARGV[i + 1], 'r', ARGV[i + 2])
  noteAllowed(calls, ARGV[i + 3])
  written = written + 1
end
keepLogToBudget(KEYS[1], KEYS[3], written)
return written
