-- Purpose: makes a delivery due now, when an operator requests it.
-- Guarantee: a delivery with remaining attempts keeps them; a finished one gets a single additional attempt.
-- KEYS as queue-keys.ts lists them
-- ARGV[1] delivery_id · [2] organization_id · [3] webhook_id
-- Returns: "queued" | "not_found" | "in_flight" | "test" | "event_gone"
-- @include webhook-queue
local id, organization, webhook = ARGV[1], ARGV[2], ARGV[3]
local fields = redis.call('HMGET', DELIVERY .. id, 'organization_id', 'webhook_id', 'event_id', 'status', 'occasion')
if fields[1] ~= organization or fields[2] ~= webhook then return 'not_found' end
if redis.call('HEXISTS', WEBHOOKS .. organization, webhook) == 0 then return 'not_found' end
if fields[5] == 'test' then return 'test' end
if redis.call('ZSCORE', IN_FLIGHT .. webhook, id) then return 'in_flight' end
if fields[4] ~= 'pending' then
  if redis.call('EXISTS', EVENT .. organization .. ':' .. fields[3]) == 0 then return 'event_gone' end
  redis.call('HSET', DELIVERY .. id, 'status', 'pending', 'by_hand', 1)
  redis.call('ZREM', SETTLED .. organization, id)
  holdEvent(organization, fields[3])
end
redis.call('HSET', DELIVERY .. id, 'next_ms', now_ms)
redis.call('ZADD', QUEUE .. webhook, now_ms, id)
reschedule(organization, webhook)
return 'queued'
