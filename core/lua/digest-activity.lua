-- Purpose: indexes and counts a part of the log, and raises the alerts that result from it.
-- Guarantee: each row is indexed once: the position is advanced in the same script, and only from where the caller read.
-- KEYS[1] activity stream · KEYS[2] digest · KEYS[3] names of the indexes · KEYS[4] prefix of an index
--   KEYS[5] prefix of counts · KEYS[6] buckets of counts · KEYS[7..10] as core/alerts/alert-keys.ts lists them
-- ARGV[1] position that was read from · ARGV[2] new position · ARGV[3] organization_id
-- ARGV[4] a line for each row: its id, then for each index a tab, how many of the row's entries are in it, a colon and the
--   name, then a tab, `=` and the hashes of the request ids; none of them holds a tab or line feed
-- ARGV[5] JSON list of alerts, or nothing
-- ARGV[6] a line for each bucket and combination: seconds and start of the bucket, entries, further calls that they stand
--   for, and the combination, separated by spaces
-- ARGV[7] combinations in a bucket, ARGV[8] in one of two hours, and ARGV[9] in a day; beyond one of them, those that only differ
--   in agent or API are added up
-- Returns: 1 digested, 0 another process was first or the log was deleted
-- @include raise-alert
if (redis.call('HGET', KEYS[2], 'position') or '0-0') ~= ARGV[1] or redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local known = {}

-- A row of an index takes about eleven bytes. Where entries are counted it states how many came before.
local function addTo(name, id, value)
  if not known[name] then
    known[name] = true
    redis.call('SADD', KEYS[3], name)
  end
  redis.call('XADD', KEYS[4] .. name, id, '', value)
end

for id, items in string.gmatch(ARGV[4], '([^\t\n]*)([^\n]*)\n') do
  for item in string.gmatch(items, '\t([^\t]*)') do
    local count, name = string.match(item, '^(%d+):(.*)$')
    if not count then
      addTo('r', id, string.sub(item, 2))
    elseif string.find(name, '^[ed]:') then
      addTo(name, id, redis.call('HINCRBY', KEYS[2], 'count ' .. name, count) - count)
    else
      addTo(name, id, '')
    end
  end
end
if ARGV[5] ~= '' then
  for _, alert in ipairs(cjson.decode(ARGV[5])) do
    raiseAlert(7, ARGV[3], redis.call('HINCRBY', KEYS[2], 'alerts', 1), alert)
  end
end

local DAY = 86400
local in_bucket, in_two_hours, in_day = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local sizes, numbers = {}, {}

local function sizeOf(bucket, to)
  if not sizes[bucket] then
    sizes[bucket] = redis.call('HLEN', KEYS[5] .. bucket)
    redis.call('ZADD', KEYS[6], to, bucket)
  end
  return sizes[bucket]
end

-- The number of a combination on a day, or nothing if the day has no place for it.
local function numberOf(day, combination, bound)
  local names = 'names:' .. day
  local name = day .. ' ' .. combination
  if not numbers[name] then
    local size = sizeOf(names, (day + 1) * DAY)
    local number = redis.call('HGET', KEYS[5] .. names, combination)
    if not number then
      if size >= bound then return nil end
      number = tostring(size)
      redis.call('HSET', KEYS[5] .. names, combination, number)
      sizes[names] = size + 1
    end
    numbers[name] = number
  end
  return numbers[name]
end

local function others(combination)
  return '* * ' .. string.match(combination, '^%S+ %S+ (.*)$')
end

for seconds, start, entries, calls, combination in string.gmatch(ARGV[6], '(%d+) (%d+) (%d+) (%d+) ([^\n]*)\n') do
  local day = math.floor(start / DAY)
  local bucket = seconds .. ':' .. start
  local key = KEYS[5] .. bucket
  local size = sizeOf(bucket, start + seconds)
  local number = numberOf(day, combination, in_day)
  if not number or (size >= (seconds == '7200' and in_two_hours or in_bucket) and redis.call('HEXISTS', key, number) == 0) then
    -- These differ only in members that have few values, and are always counted.
    number = numberOf(day, others(combination), 2 * in_day)
  end
  if number then
    if redis.call('HINCRBY', key, number, entries) == tonumber(entries) then sizes[bucket] = size + 1 end
    if calls ~= '0' then redis.call('HINCRBY', key, number .. '+', calls) end
  end
end
redis.call('HSET', KEYS[2], 'position', ARGV[2])
return 1
