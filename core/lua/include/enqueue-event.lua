-- Purpose: puts an event into the outbox, in the script that writes the thing it reports (invariant 7).
-- Guarantee: an event that a webhook subscribes to is in the outbox, or held as the last of a flood, or counted in
--   outbox usage under "<organization> dropped" because the organization's share of the outbox is full. The share
--   does not apply to events whose handling is kept.
-- The tag of an event is its name and its handling (core/catalogue/events.ts): kept, bounded or gathered; empty where webhooks
--   cannot receive it.
-- Five keys from KEYS[first] on, as core/change/outbox-keys.ts lists them: outbox · outbox usage · subscriptions of the
--   organization · floods · prefix of a flood
-- Answer of enqueueEvent: 1 written, 0 not subscribed, held or dropped

-- Deliveries wait elsewhere; this is what may pile up while no admin process runs.
local OUTBOX_BYTES_MAX = 16 * 1024 * 1024
local FLOOD_TTL_S = 24 * 3600
-- Edges may still count refusals of a minute for this long after it (they write with their own clock).
local FLOOD_GRACE_MS = 2000

-- Of the gathered events of an agent the first of a minute is sent at once, unless the minute before had some too; of the
-- others the last is held until the minute is over, and then states how many there were.
local function heldInFlood(first, organization, text)
  local decoded, entry = pcall(cjson.decode, text)
  if not decoded or type(entry.agent_id) ~= 'string' then return false end
  if type(entry.data) == 'table' and entry.data.action_taken == 'killed' then return false end
  local now = redis.call('TIME')
  local minute = math.floor(now[1] / 60)
  local member = organization .. ' ' .. entry.agent_id .. ' '
  local flood = KEYS[first + 4] .. member .. minute
  local number = redis.call('HINCRBY', flood, 'count', 1)
  if number == 1 then
    redis.call('EXPIRE', flood, FLOOD_TTL_S)
    if redis.call('EXISTS', KEYS[first + 4] .. member .. (minute - 1)) == 0 then
      redis.call('HSET', flood, 'first_was_sent', 1)
      return false
    end
  end
  redis.call('HSET', flood, 'entry', text)
  redis.call('ZADD', KEYS[first + 3], (minute + 1) * 60000 + FLOOD_GRACE_MS, member .. minute)
  return true
end

local function enqueueOutbox(first, organization, isBounded, text)
  local used = tonumber(redis.call('HGET', KEYS[first + 1], organization .. ' bytes')) or 0
  if isBounded and used + #text > OUTBOX_BYTES_MAX then
    redis.call('HINCRBY', KEYS[first + 1], organization .. ' dropped', 1)
    return 0
  end
  redis.call('XADD', KEYS[first], '*', 'o', organization, 'e', text)
  redis.call('HINCRBY', KEYS[first + 1], organization .. ' bytes', #text)
  return 1
end

local function enqueueEvent(first, organization, tag, text)
  local event, handling = string.match(tag, '^(%S+) (%S+)$')
  if not event or (tonumber(redis.call('HGET', KEYS[first + 2], event)) or 0) <= 0 then return 0 end
  if handling == 'gathered' and heldInFlood(first, organization, text) then return 0 end
  return enqueueOutbox(first, organization, handling ~= 'kept', text)
end
