-- Purpose: takes calls from the limits of calls a minute of one or more scopes, for every edge.
-- Guarantee: of the calls it allows, no window of its length holds more than the limit (a sliding log: the call that is
--   as many calls ago as the limit must be older than the window). Calls of one scope are taken in their order.
-- KEYS[1..] for each scope, its rate log, newest first, and the rate violations of its agent
-- ARGV[1] window in ms · ARGV[2] ms for which a call may be held until its place is free
-- ARGV[3] the time in ms, only in tests; empty for the time of the store
-- ARGV[4..] for each scope, places in the log · calls that share a place, 1 but for very high limits · scope_id · calls ·
--   calls to take in advance, which are not taken when a tenth of the limit or less would be left
-- Returns: for each scope, {calls allowed at once, with those in advance, calls left (below 0 if the limit was lowered), ms until more
--   are left},
--   then for each further call {1, ms until the call may go, calls left, ms until more are left}, or {0, ms until the next
--   is allowed, whole minutes that the violation has lasted, refusals of this clock minute, of the one before, ms since it
--   began}
local VIOLATIONS_TTL_S = 150
local MINUTE_MS = 60000
-- The part of a limit up to which calls are taken in advance.
local AHEAD_UP_TO = 0.9
local window, hold_max = tonumber(ARGV[1]), tonumber(ARGV[2])
local now = tonumber(ARGV[3])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local function timeOf(place) return tonumber(string.match(place, '^%d+')) end

-- The clock has stepped back when the newest place is further ahead than a place that is held: all places move back with it, as if the
-- newest were of now. Otherwise a full log would refuse every call for as long as the step.
local RPUSH_MAX = 1000
local function followClock(log)
  local newest = redis.call('LINDEX', log, 0)
  local ahead = newest and timeOf(newest) - now or 0
  if ahead <= hold_max then return end
  local moved = redis.call('LRANGE', log, 0, -1)
  for i, place in ipairs(moved) do
    moved[i] = string.gsub(place, '^%d+', function(time) return string.format('%.0f', time - ahead) end)
  end
  redis.call('DEL', log)
  for i = 1, #moved, RPUSH_MAX do
    redis.call('RPUSH', log, unpack(moved, i, math.min(i + RPUSH_MAX - 1, #moved)))
  end
  redis.call('PEXPIRE', log, window)
end

-- Drops the places that no longer count, so that the length of the log is what is used. Mostly few have ended since the
-- last call: the search begins at the oldest and doubles its step. Returns the places used, and the time of the oldest.
local function dropEnded(log)
  local length = redis.call('LLEN', log)
  if length == 0 then return 0, nil end
  local function timeAt(ended) return timeOf(redis.call('LINDEX', log, -ended - 1)) end
  local oldest = timeAt(0)
  if oldest + window > now then return length, oldest end
  local function isOver(index) return timeAt(index - 1) + window <= now end
  local ended, step = 1, 2
  while ended + step <= length and isOver(ended + step) do
    ended = ended + step
    step = step * 2
  end
  while step > 1 do
    step = step / 2
    if ended + step <= length and isOver(ended + step) then ended = ended + step end
  end
  if ended == length then
    redis.call('DEL', log)
    return 0, nil
  end
  redis.call('LTRIM', log, 0, length - ended - 1)
  return length - ended, timeAt(0)
end

-- Takes what is free. Returns how many calls are allowed, the places used, and the calls in the newest place.
local function takeFree(log, places, shared, calls, used)
  local taken, filled = 0, shared
  if shared > 1 then
    local newest = redis.call('LINDEX', log, 0)
    local count = newest and tonumber(string.match(newest, ' (%d+)$'))
    if count and count < shared then
      taken = math.min(calls, shared - count)
      filled = count + taken
      redis.call('LSET', log, 0, string.format('%.0f %d', now, filled))
    end
  end
  local needed = math.ceil((calls - taken) / shared)
  local pushed = {}
  -- A limit may have been lowered since: then the log has more places than it now allows.
  for _ = 1, math.min(needed, places - used) do
    filled = math.min(calls - taken, shared)
    taken = taken + filled
    pushed[#pushed + 1] = string.format(shared > 1 and '%.0f %d' or '%.0f', now, filled)
  end
  if #pushed > 0 then redis.call('LPUSH', log, unpack(pushed)) end
  if taken > 0 then redis.call('PEXPIRE', log, window) end
  return taken, used + #pushed, filled
end

-- How far two clocks of stores may differ before a time that is to come means that the clock has stepped back.
local CLOCKS_DIFFER_MS = 2000

-- Whole minutes since the first refusal of a violation, which lasts as long as each minute has a refusal. After a minute
-- without one, what is left of it begins at the latest refusal, if that is near enough.
local function minutesSince(start, time) return math.floor((time - start) / MINUTE_MS) end

local function refuse(violations, scope_id, wait)
  local known = redis.call('HGET', violations, scope_id) or ''
  local first, last, minute, refused, before =
    string.match(known, '^(%d+) (%d+) (%d+) (%d+) (%d+)$')
  first, last, minute = tonumber(first), tonumber(last), tonumber(minute)
  refused, before = tonumber(refused) or 0, tonumber(before) or 0

  local ahead = last and last - now or 0
  if ahead > CLOCKS_DIFFER_MS then first, last = first - ahead, now end
  -- The clock of another store may be behind.
  local at = math.max(now, last or 0)
  if not first or minutesSince(last, at) > 1 then first = at
  elseif minutesSince(first, at) > minutesSince(first, last) + 1 then first = last end

  local present = math.floor(now / MINUTE_MS)
  if minute == present then refused = refused + 1
  elseif minute == present - 1 then refused, before = 1, refused
  else refused, before = 1, 0 end
  redis.call('HSET', violations, scope_id, string.format('%.0f %.0f %d %d %d', first, at, present, refused, before))
  redis.call('EXPIRE', violations, VIOLATIONS_TTL_S)
  return {0, math.min(wait, window), minutesSince(first, at), refused, before, now - present * MINUTE_MS}
end

-- A call for which no place is free.
local function holdOrRefuse(log, violations, places, shared, scope_id)
  local oldest = places > 0 and redis.call('LINDEX', log, places - 1)
  local wait = oldest and timeOf(oldest) + window - now or window
  if shared > 1 or not oldest or wait > hold_max then return refuse(violations, scope_id, wait) end
  -- Places are given out in the order of their times, so the log stays in order.
  redis.call('LPUSH', log, string.format('%.0f', now + wait))
  redis.call('LTRIM', log, 0, places - 1)
  redis.call('PEXPIRE', log, window + wait)
  return {1, wait, 0, timeOf(redis.call('LINDEX', log, -1)) + window - now}
end

local answers = {}
for scope = 1, #KEYS / 2 do
  local log, violations = KEYS[2 * scope - 1], KEYS[2 * scope]
  local at = 5 * scope - 1
  local places, shared = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  local scope_id, calls, ahead = ARGV[at + 2], tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
  followClock(log)
  local before, oldest = dropEnded(log)
  if before + math.ceil((calls + ahead) / shared) > places * AHEAD_UP_TO then ahead = 0 end
  local taken, used, filled = takeFree(log, places, shared, calls + ahead, before)
  -- The only place of a log may just have been filled up, and has the present time.
  if not oldest or (used == 1 and shared > 1) then oldest = now end
  answers[#answers + 1] = {taken, (places - used) * shared + shared - filled, oldest + window - now}
  for _ = taken + 1, calls do
    answers[#answers + 1] = holdOrRefuse(log, violations, places, shared, scope_id)
  end
end
return answers
