-- Purpose: takes one call from a scope's limit of calls a minute, for every edge.
-- Guarantee: of the calls it allows, no window of its length holds more than the limit (a sliding log: the call that is
--   as many calls ago as the limit must be older than the window).
-- KEYS[1] rate log, newest first · KEYS[2] rate violations of the agent
-- ARGV[1] places in the log · ARGV[2] calls that share a place, 1 but for very high limits · ARGV[3] window in ms
-- ARGV[4] scope_id · ARGV[5] ms for which a call may be held until its place is free
-- ARGV[6] the time in ms, only in tests; else it is the time of the store
-- Returns: {1, ms until the call may go, calls left, ms until more are left}, or {0, ms until the next is allowed,
--   whole minutes that the violation has lasted, refusals of this clock minute, of the one before, ms since it began}
local VIOLATIONS_TTL_S = 150
local MINUTE_MS = 60000
local places, shared, window = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now = tonumber(ARGV[6])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local function placeAt(index) return redis.call('LINDEX', KEYS[1], index) end
local function timeOf(place) return tonumber(string.match(place, '^%d+')) end
local function isOver(place) return timeOf(place) + window <= now end

-- Drops the places that no longer count, so that the length of the log is what is used. Mostly few have ended since the
-- last call: the search begins at the oldest and doubles its step.
local function dropEnded()
  local length = redis.call('LLEN', KEYS[1])
  local ended, step = 0, 1
  while ended + step <= length and isOver(placeAt(-ended - step)) do
    ended = ended + step
    step = step * 2
  end
  while step > 1 do
    step = step / 2
    if ended + step <= length and isOver(placeAt(-ended - step)) then ended = ended + step end
  end
  if ended > 0 and ended == length then redis.call('DEL', KEYS[1])
  elseif ended > 0 then redis.call('LTRIM', KEYS[1], 0, length - ended - 1) end
  return length - ended
end

-- `filled`: calls in the newest place.
local function allowed(wait, used, filled)
  local left = (places - used) * shared + shared - filled
  return {1, wait, math.max(0, left), timeOf(placeAt(-1)) + window - now}
end

local used = dropEnded()
if shared > 1 then
  local newest = placeAt(0)
  local count = newest and tonumber(string.match(newest, ' (%d+)$'))
  if count and count < shared then
    redis.call('LSET', KEYS[1], 0, string.format('%.0f %d', now, count + 1))
    redis.call('PEXPIRE', KEYS[1], window)
    return allowed(0, used, count + 1)
  end
end
-- A limit may have been lowered since: then the log has more places than it now allows.
if used < places then
  redis.call('LPUSH', KEYS[1], string.format(shared > 1 and '%.0f 1' or '%.0f', now))
  redis.call('PEXPIRE', KEYS[1], window)
  return allowed(0, used + 1, 1)
end

local oldest = places > 0 and placeAt(places - 1)
local wait = oldest and timeOf(oldest) + window - now or window
if shared == 1 and oldest and wait <= tonumber(ARGV[5]) then
  -- Places are given out in the order of their times, so the log stays in order.
  redis.call('LPUSH', KEYS[1], string.format('%.0f', now + wait))
  redis.call('LTRIM', KEYS[1], 0, places - 1)
  redis.call('PEXPIRE', KEYS[1], window + wait)
  return allowed(wait, places, 1)
end

local known = redis.call('HGET', KEYS[2], ARGV[4]) or ''
local first, last, minute, refused, before =
  string.match(known, '^(%d+) (%d+) (%d+) (%d+) (%d+)$')
first, last, minute = tonumber(first), tonumber(last), tonumber(minute)
refused, before = tonumber(refused) or 0, tonumber(before) or 0

-- A violation lasts as long as each minute since its first refusal has a refusal. After a minute without one, what is
-- left of it begins at the latest refusal, if that is near enough.
local function minutesSince(start, time) return math.floor((time - start) / MINUTE_MS) end
-- The clock of another store may be behind.
local at = math.max(now, last or 0)
if not first or minutesSince(last, at) > 1 then first = at
elseif minutesSince(first, at) > minutesSince(first, last) + 1 then first = last end

local present = math.floor(now / MINUTE_MS)
if minute == present then refused = refused + 1
elseif minute == present - 1 then refused, before = 1, refused
else refused, before = 1, 0 end
redis.call('HSET', KEYS[2], ARGV[4], string.format('%.0f %.0f %d %d %d', first, at, present, refused, before))
redis.call('EXPIRE', KEYS[2], VIOLATIONS_TTL_S)
return {0, wait, minutesSince(first, at), refused, before, now - present * MINUTE_MS}
