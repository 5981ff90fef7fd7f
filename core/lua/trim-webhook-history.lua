-- Purpose: forgets stored events and ended deliveries of an organization that are older than the retention.
-- Guarantee: what a delivery still needs stays, however old.
-- KEYS as queue-keys.ts lists them
-- ARGV[1] organization_id · [2] retention in ms · [3] how many of each at most
-- Returns: how many were forgotten
-- @include webhook-queue
local organization, oldest_ms = ARGV[1], now_ms - ARGV[2]
local forgotten = 0
for _, id in ipairs(redis.call('ZRANGEBYSCORE', SETTLED .. organization, '-inf', oldest_ms, 'LIMIT', 0, ARGV[3])) do
  forgetDelivery(organization, redis.call('HGET', DELIVERY .. id, 'webhook_id') or '', id)
  forgotten = forgotten + 1
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', IDLE_EVENTS .. organization, '-inf', oldest_ms, 'LIMIT', 0, ARGV[3])) do
  forgetEvent(organization, id)
  forgotten = forgotten + 1
end
return forgotten
