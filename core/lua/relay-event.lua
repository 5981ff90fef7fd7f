-- Purpose: moves one event from the outbox to the queues of the webhooks that subscribe to it.
-- Guarantee: the event leaves the outbox in the script that creates its deliveries, so a crash neither loses nor doubles
--   one, however many processes relay. An event that finds the organization's bounds reached is counted as dropped;
--   history gives way first, and an event whose handling is kept is never dropped.
-- KEYS as queue-keys.ts lists them
-- ARGV[1] id in the outbox · [2] organization_id · [3] event_id · [4] event · [5] ms of the event · [6] envelope
--   [7] bytes of the entry in the outbox · [8] ms until the first attempt · [9] bound of pending deliveries
--   [10] bound of stored envelopes in bytes · [11] handling of the event (core/catalogue/events.ts) · [12..] webhook ids
-- Returns: {deliveries created, deliveries dropped}, or {-1, 0} when another process was first
-- @include webhook-queue
local organization, event_id, event, body = ARGV[2], ARGV[3], ARGV[4], ARGV[6]
if redis.call('XDEL', OUTBOX, ARGV[1]) == 0 then return {-1, 0} end
redis.call('HINCRBY', OUTBOX_USAGE, organization .. ' bytes', -ARGV[7])
local wanted = #ARGV - 11
if wanted == 0 then return {0, 0} end

local usage = USAGE .. organization
local isBounded = ARGV[11] ~= 'kept'
local key = EVENT .. organization .. ':' .. event_id
if redis.call('EXISTS', key) == 0 then
  local room = tonumber(ARGV[10]) - #body
  -- A few at a time, so that no call of this script is long; each call frees more than it takes.
  for _, old in ipairs(redis.call('ZRANGE', IDLE_EVENTS .. organization, 0, 99)) do
    if numberOf(redis.call('HGET', usage, 'event_bytes')) <= room then break end
    forgetEvent(organization, old)
  end
  if isBounded and numberOf(redis.call('HGET', usage, 'event_bytes')) > room then
    redis.call('HINCRBY', usage, 'dropped', wanted)
    return {0, wanted}
  end
  redis.call('HSET', key, 'body', body, 'event', event, 'at_ms', ARGV[5], 'needed', 0)
  redis.call('HINCRBY', usage, 'event_bytes', #body)
  redis.call('ZADD', EVENT_TIMES .. organization, ARGV[5], event_id)
  redis.call('ZADD', IDLE_EVENTS .. organization, ARGV[5], event_id)
end

local created, dropped = 0, 0
for i = 12, #ARGV do
  local webhook = ARGV[i]
  if redis.call('HEXISTS', WEBHOOKS .. organization, webhook) == 1 then
    if isBounded and numberOf(redis.call('HGET', usage, 'pending')) >= tonumber(ARGV[9]) then
      dropped = dropped + 1
    elseif createDelivery(organization, webhook, event_id, event, '', now_ms + ARGV[8]) then
      created = created + 1
      reschedule(organization, webhook)
    end
  end
end
if dropped > 0 then redis.call('HINCRBY', usage, 'dropped', dropped) end
return {created, dropped}
