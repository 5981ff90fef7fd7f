-- Purpose: walks the activity log of one organization from new to old and returns the entries that may match a filter.
-- Guarantee: looks at so many candidates at most, so that no call of it is long, and says where to go on. Entries above
--   the digested position are in no index yet: they are all candidates, and the caller checks each entry itself.
-- KEYS[1] activity stream · KEYS[2] digest · KEYS[3..] the indexes that an entry must be in, none for all entries
-- ARGV[1] upper bound: an id, exclusive, or '+' · ARGV[2] lower bound: an id, inclusive, or '-'
-- ARGV[3] candidates at most · ARGV[4] text that an entry must hold, in lower-case ASCII, or nothing
-- Returns: {id of the last candidate, or '' where nothing older is left, then id, entry, id, entry, …}
local upper, lower, left, text = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
if upper ~= '+' then upper = '(' .. upper end
local answer = {''}

local function take(id, fields)
  local entry = fields[2]
  if text == '' or string.find(string.lower(entry), text, 1, true) then
    answer[#answer + 1] = id
    answer[#answer + 1] = entry
  end
end

-- Answers whether there may be more below.
local function walkLog(to)
  local rows = redis.call('XREVRANGE', KEYS[1], upper, to, 'COUNT', left)
  for _, row in ipairs(rows) do take(row[1], row[2]) end
  if #rows < left then
    left = left - #rows
    return false
  end
  answer[1] = rows[#rows][1]
  return true
end

if #KEYS == 2 then
  walkLog(lower)
  return answer
end

local position = redis.call('HGET', KEYS[2], 'position') or '0-0'
if walkLog('(' .. position) then return answer end

local smallest, size
for i = 3, #KEYS do
  local length = redis.call('XLEN', KEYS[i])
  if not size or length < size then smallest, size = i, length end
end
local places = redis.call('XREVRANGE', KEYS[smallest], upper, lower, 'COUNT', left)
for _, place in ipairs(places) do
  local id = place[1]
  local isInAll = true
  for i = 3, #KEYS do
    if i ~= smallest and #redis.call('XRANGE', KEYS[i], id, id) == 0 then
      isInAll = false
      break
    end
  end
  local row = isInAll and redis.call('XRANGE', KEYS[1], id, id)[1]
  if row then take(id, row[2]) end
end
if #places == left then answer[1] = places[#places][1] end
return answer
