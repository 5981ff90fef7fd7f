-- Purpose: walks the activity log of one organization from new to old and returns the rows that may match a filter.
-- Guarantee: looks at so many candidates and returns so many blocks at most, so that no call of it is long, and says where to
--   go on. Rows above the digested position are in no index yet: they are all candidates, and the caller checks each entry
--   itself.
-- KEYS[1] activity stream · KEYS[2] digest · KEYS[3] index of request ids · KEYS[4..] the indexes that a row must be in
-- ARGV[1] upper bound: the place of an entry, exclusive, or '+' · ARGV[2] lower bound: a place, inclusive, or '-'
-- ARGV[3] candidates at most · ARGV[4] text that an entry must hold, in lower-case ASCII, or nothing; blocks are not searched
-- ARGV[5] hash of the request id that a row must have, or nothing · ARGV[6] bytes of blocks after which it stops, as it does after
--   4 MB of single entries
-- Returns: {place to go on below, or '' where nothing older is left, then for each row its id, the name of its first field,
--   and the value}

-- The log is read in steps of so many rows, since a block may have tens of kilobytes.
local ROWS = 8
-- Rows of the index of request ids that one call searches, of 30 to 260 bytes.
local REQUEST_ROWS = 1000
local lower, left, text, hash, bytes_max = ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5], tonumber(ARGV[6])
local SINGLES_MAX = 4194304
local answer, bytes, singles = {''}, 0, 0

-- The place of the first entry of a row.
local function firstOf(row)
  if row[2][1] ~= 'b' then return row[1] end
  local ms, number = string.match(row[1], '^(%d+)-(%d+)$')
  return string.format('%s-%.0f', ms, number - string.match(row[2][4], '^%d+') + 1)
end

local function isBelow(a, b)
  local a_ms, a_number = string.match(a, '^(%d+)-(%d+)$')
  local b_ms, b_number = string.match(b, '^(%d+)-(%d+)$')
  if a_ms ~= b_ms then return tonumber(a_ms) < tonumber(b_ms) end
  return tonumber(a_number) < tonumber(b_number)
end

-- A block that has entries below the bound and others above it counts, and the caller leaves those out.
local function upperBound()
  if ARGV[1] == '+' then return '+' end
  local row = redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', 1)[1]
  if row and row[2][1] == 'b' and isBelow(firstOf(row), ARGV[1]) then return row[1] end
  return '(' .. ARGV[1]
end
local upper = upperBound()

local function take(row)
  local kind, value = row[2][1], row[2][2]
  if kind == 'b' then bytes = bytes + #value else singles = singles + #value end
  if kind ~= 'b' and text ~= '' and not string.find(string.lower(value), text, 1, true) then return end
  answer[#answer + 1] = row[1]
  answer[#answer + 1] = kind
  answer[#answer + 1] = value
end

local function isLong()
  return bytes >= bytes_max or singles >= SINGLES_MAX
end

-- Answers whether this call has to end here.
local function walkLog(to)
  repeat
    local asked = math.min(ROWS, left)
    local rows = redis.call('XREVRANGE', KEYS[1], upper, to, 'COUNT', asked)
    for _, row in ipairs(rows) do take(row) end
    left = left - #rows
    if #rows > 0 then
      upper = '(' .. rows[#rows][1]
      if left == 0 or isLong() then
        answer[1] = firstOf(rows[#rows])
        return true
      end
    end
  until #rows < asked
  return false
end

if #KEYS == 3 and hash == '' then
  walkLog(lower)
  return answer
end

local position = redis.call('HGET', KEYS[2], 'position') or '0-0'
if walkLog('(' .. position) then return answer end

-- The index to walk: that of request ids, which is precise, or the smallest.
local walked, size = 3, nil
if hash == '' then
  for i = 4, #KEYS do
    local length = redis.call('XLEN', KEYS[i])
    if not size or length < size then walked, size = i, length end
  end
end
local asked = hash == '' and left or REQUEST_ROWS
local places = redis.call('XREVRANGE', KEYS[walked], upper, lower, 'COUNT', asked)

local function isCandidate(place)
  if hash ~= '' and not string.find(place[2][2], hash, 1, true) then return false end
  for i = 4, #KEYS do
    if i ~= walked and #redis.call('XRANGE', KEYS[i], place[1], place[1]) == 0 then return false end
  end
  return true
end

for number, place in ipairs(places) do
  local row = isCandidate(place) and redis.call('XRANGE', KEYS[1], place[1], place[1])[1]
  if row then take(row) end
  if isLong() or number == asked then
    answer[1] = row and firstOf(row) or place[1]
    break
  end
end
return answer
