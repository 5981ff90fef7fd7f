-- What the scripts of the delivery queue share: the keys that each of them takes, in the order of
-- admin/webhooks/queue-keys.ts, and the moves that keep them in step. Those that end in a colon are prefixes.
local OUTBOX, OUTBOX_USAGE, DUE, NOTICES = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local WEBHOOKS, QUEUE, IN_FLIGHT, DELIVERIES, DELIVERY = KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local STATE, SETTLED, EVENT, EVENT_TIMES, IDLE_EVENTS, USAGE = KEYS[10], KEYS[11], KEYS[12], KEYS[13], KEYS[14], KEYS[15]

-- Attempts at one webhook at a time, unless its last answer was slow or did not come.
local SLOTS = 8

local clock = redis.call('TIME')
local now_ms = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function numberOf(text) return tonumber(text) or 0 end

-- Notes when the webhook next has something to do: its first due delivery, if a slot is free, or the end of a lease.
local function reschedule(organization, webhook)
  local head = redis.call('ZRANGE', QUEUE .. webhook, 0, 0, 'WITHSCORES')
  local lease = redis.call('ZRANGE', IN_FLIGHT .. webhook, 0, 0, 'WITHSCORES')
  local slots = tonumber(redis.call('HGET', STATE .. webhook, 'slots')) or SLOTS
  local next_ms
  if head[2] and redis.call('ZCARD', IN_FLIGHT .. webhook) < slots then next_ms = tonumber(head[2]) end
  if lease[2] and (not next_ms or tonumber(lease[2]) < next_ms) then next_ms = tonumber(lease[2]) end
  local member = organization .. ' ' .. webhook
  if next_ms then redis.call('ZADD', DUE, next_ms, member) else redis.call('ZREM', DUE, member) end
end

-- The delivery needs the body of its event until it ends.
local function holdEvent(organization, event_id)
  redis.call('HINCRBY', EVENT .. organization .. ':' .. event_id, 'needed', 1)
  redis.call('ZREM', IDLE_EVENTS .. organization, event_id)
  redis.call('HINCRBY', USAGE .. organization, 'pending', 1)
end

local function releaseEvent(organization, event_id)
  local key = EVENT .. organization .. ':' .. event_id
  redis.call('HINCRBY', USAGE .. organization, 'pending', -1)
  if redis.call('HINCRBY', key, 'needed', -1) <= 0 then
    redis.call('ZADD', IDLE_EVENTS .. organization, numberOf(redis.call('HGET', key, 'at_ms')), event_id)
  end
end

local function forgetEvent(organization, event_id)
  local key = EVENT .. organization .. ':' .. event_id
  redis.call('HINCRBY', USAGE .. organization, 'event_bytes', -redis.call('HSTRLEN', key, 'body'))
  redis.call('DEL', key)
  redis.call('ZREM', EVENT_TIMES .. organization, event_id)
  redis.call('ZREM', IDLE_EVENTS .. organization, event_id)
end

-- Lists of deliveries are paged by this number, since many are created in one millisecond.
local function listDelivery(organization, webhook, id)
  redis.call('ZADD', DELIVERIES .. webhook, redis.call('HINCRBY', USAGE .. organization, 'sequence', 1), id)
end

-- A delivery has the same id however often it is asked for: one event, one webhook, one occasion (empty, or a replay).
-- Answers false when it is there already.
local function createDelivery(organization, webhook, event_id, event, occasion, due_ms)
  local id = 'dlv_' .. string.sub(redis.sha1hex(webhook .. ' ' .. event_id .. ' ' .. occasion), 1, 24)
  local key = DELIVERY .. id
  if redis.call('EXISTS', key) == 1 then return false end
  redis.call('HSET', key, 'organization_id', organization, 'webhook_id', webhook, 'event_id', event_id, 'event', event,
    'occasion', occasion, 'status', 'pending', 'created_ms', now_ms, 'next_ms', due_ms, 'attempts', 0)
  listDelivery(organization, webhook, id)
  redis.call('ZADD', QUEUE .. webhook, due_ms, id)
  holdEvent(organization, event_id)
  return true
end

-- The range of the events that were given up, until a replay has covered it.
local function noteMissed(state, at)
  if not at then return end
  local first, last = unpack(redis.call('HMGET', state, 'missed_since_ms', 'missed_until_ms'))
  if not first or tonumber(at) < tonumber(first) then redis.call('HSET', state, 'missed_since_ms', at) end
  if not last or tonumber(at) > tonumber(last) then redis.call('HSET', state, 'missed_until_ms', at) end
end

local function forgetMissed(state, from_ms, to_ms)
  local first, last = unpack(redis.call('HMGET', state, 'missed_since_ms', 'missed_until_ms'))
  if first and tonumber(from_ms) <= tonumber(first) and tonumber(to_ms) >= tonumber(last) then
    redis.call('HDEL', state, 'missed_since_ms', 'missed_until_ms')
  end
end

local function forgetDelivery(organization, webhook, id)
  redis.call('DEL', DELIVERY .. id)
  redis.call('ZREM', DELIVERIES .. webhook, id)
  redis.call('ZREM', QUEUE .. webhook, id)
  redis.call('ZREM', IN_FLIGHT .. webhook, id)
  redis.call('ZREM', SETTLED .. organization, id)
end

-- Ended deliveries are kept for people to look at, the newest of an organization.
local function keepSettled(organization, id, settled_max)
  redis.call('ZADD', SETTLED .. organization, now_ms, id)
  local excess = redis.call('ZCARD', SETTLED .. organization) - settled_max
  if excess <= 0 then return end
  for _, old in ipairs(redis.call('ZRANGE', SETTLED .. organization, 0, math.min(excess, 10) - 1)) do
    forgetDelivery(organization, redis.call('HGET', DELIVERY .. old, 'webhook_id') or '', old)
  end
end
