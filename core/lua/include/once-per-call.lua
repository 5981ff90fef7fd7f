-- Purpose: a call has one entry that says how it was decided, although Envoy asks another process again when one dies that has
--   refused it, and although a call that was cut may have ended by itself a moment before. Only a call that one process has refused
--   and another allowed has two: it was made.
-- Two hashes of each organization, so that none can hide entries of another, take turns by the minute: end of the request id → how
--   the call was decided. `minute` says which; `has_cut`: a call of it was cut.

local CALLS_MAX = 200000
-- Beyond it only refusals are noted.
local ALLOWED_MAX = 100000
local KEPT_S = 180

local function decidedCalls(first_key, second_key)
  local minute = math.floor(redis.call('TIME')[1] / 60)
  local now = first_key
  local before = second_key
  if minute / 2 ~= math.floor(minute / 2) then now, before = second_key, first_key end
  return { now = now, before = before, minute = minute }
end

local function isOf(key, minute) return redis.call('HGET', key, 'minute') == string.format('%.0f', minute) end

local function beginMinute(calls)
  if calls.has_begun then return end
  calls.has_begun = true
  if isOf(calls.now, calls.minute) then return end
  redis.call('DEL', calls.now)
  redis.call('HSET', calls.now, 'minute', string.format('%.0f', calls.minute))
  redis.call('EXPIRE', calls.now, KEPT_S)
end

-- Whether the log has an entry of this call already; else it is noted. Entries that decide no call never have one.
local function isLogged(calls, entry)
  -- The first ones are those of the entry; its data may have others.
  local decision = string.match(entry, '"decision":("?[a-z]+)')
  local request = string.match(entry, '"request_id":("?[^",]*)')
  if not decision or not request or not string.match(decision .. request, '^"[a-z]+".') then return false end
  decision = string.sub(decision, 2)
  -- 48 random bits of an id of Envoy; core/activity/pack-block.ts gives the same.
  request = string.sub(string.sub(request, 2), -12)
  beginMinute(calls)
  local known = redis.call('HGET', calls.now, request)
    or isOf(calls.before, calls.minute - 1) and redis.call('HGET', calls.before, request)
  local both = (known or '') .. ' ' .. decision
  if known and both ~= 'blocked allowed' and both ~= 'allowed blocked' then return true end
  if redis.call('HLEN', calls.now) >= CALLS_MAX then return false end
  -- A third entry is equal to none of both.
  redis.call('HSET', calls.now, request, known and both or decision)
  if decision == 'terminated' then redis.call('HSET', calls.now, 'has_cut', 1) end
  return false
end

-- The hashes that have a call that was cut.
local function hashesWithCuts(calls)
  local found = {}
  for key, minute in pairs({ [calls.now] = calls.minute, [calls.before] = calls.minute - 1 }) do
    if isOf(key, minute) and redis.call('HEXISTS', key, 'has_cut') == 1 then found[#found + 1] = key end
  end
  return found
end

-- Whether one of the calls was cut.
local function isCut(hashes, ids)
  if #hashes == 0 then return false end
  local requests = {}
  for id in string.gmatch(ids, '%S+') do requests[#requests + 1] = id end
  if #requests == 0 then return false end
  for _, key in ipairs(hashes) do
    for _, decision in ipairs(redis.call('HMGET', key, unpack(requests))) do
      if decision == 'terminated' then return true end
    end
  end
  return false
end

-- Notes calls that were allowed.
local function noteAllowed(calls, ids)
  beginMinute(calls)
  if redis.call('HLEN', calls.now) >= ALLOWED_MAX then return end
  local requests = {}
  for id in string.gmatch(ids, '%S+') do requests[#requests + 1] = id end
  if #requests == 0 then return end
  local known = redis.call('HMGET', calls.now, unpack(requests))
  local before = isOf(calls.before, calls.minute - 1) and redis.call('HMGET', calls.before, unpack(requests)) or {}
  local noted = {}
  for i, request in ipairs(requests) do
    noted[#noted + 1] = request
    noted[#noted + 1] = known[i] or before[i] or 'allowed'
    if noted[#noted] == 'blocked' then noted[#noted] = 'blocked allowed' end
  end
  redis.call('HSET', calls.now, unpack(noted))
end
