-- Purpose: a call has one entry that says how it was decided, although Envoy asks another process again when one dies that has
--   refused it, and although a call that was cut may have ended by itself a moment before.
-- Two hashes of each organization, so that none can hide entries of another, take turns by the minute: request id → 1. `minute`
--   says which; `cut_ms`: when an entry of a call that was cut came last.

local CALLS_MAX = 200000
local KEPT_S = 180
-- In which the entry of a call that ended by itself comes.
local CUT_MS = 5000

local function decidedCalls(first_key, second_key)
  local clock = redis.call('TIME')
  local minute = math.floor(clock[1] / 60)
  local now = first_key
  local before = second_key
  if minute / 2 ~= math.floor(minute / 2) then now, before = second_key, first_key end
  return { now = now, before = before, minute = minute, ms = clock[1] * 1000 + math.floor(clock[2] / 1000) }
end

local function isOf(key, minute) return redis.call('HGET', key, 'minute') == string.format('%.0f', minute) end

-- Whether the log has an entry of this call already; else it is noted. Entries that decide no call never have one.
local function isLogged(calls, entry)
  -- The first ones are those of the entry; its data may have others.
  local decision = string.match(entry, '"decision":("?[a-z]+)')
  local request = string.match(entry, '"request_id":("?[^",]*)')
  if not decision or not request or not string.match(decision .. request, '^"[a-z]+".') then return false end
  if isOf(calls.before, calls.minute - 1) and redis.call('HEXISTS', calls.before, request) == 1 then return true end
  if not isOf(calls.now, calls.minute) then
    redis.call('DEL', calls.now)
    redis.call('HSET', calls.now, 'minute', string.format('%.0f', calls.minute))
    redis.call('EXPIRE', calls.now, KEPT_S)
  end
  if redis.call('HLEN', calls.now) >= CALLS_MAX then return redis.call('HEXISTS', calls.now, request) == 1 end
  if redis.call('HSETNX', calls.now, request, 1) == 0 then return true end
  if decision == '"terminated' then redis.call('HSET', calls.now, 'cut_ms', string.format('%.0f', calls.ms)) end
  return false
end

local function hasCutLately(calls)
  local now_ms = tonumber(redis.call('HGET', calls.now, 'cut_ms')) or 0
  local before_ms = tonumber(redis.call('HGET', calls.before, 'cut_ms')) or 0
  return math.max(now_ms, before_ms) > calls.ms - CUT_MS
end
