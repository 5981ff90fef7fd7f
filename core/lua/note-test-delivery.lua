-- Purpose: keeps a test delivery, which was attempted at once, among the deliveries of its webhook.
-- Guarantee: no count and no state changes.
-- KEYS as queue-keys.ts lists them
-- ARGV[1] delivery_id · [2] organization_id · [3] webhook_id · [4] event_id · [5] status · [6] attempt as JSON
--   [7] bound of ended deliveries · [8] envelope, which no event has
-- Returns: ms of its creation, or 0 when the webhook is gone
-- @include webhook-queue
local id, organization, webhook = ARGV[1], ARGV[2], ARGV[3]
if redis.call('HEXISTS', WEBHOOKS .. organization, webhook) == 0 then return 0 end
redis.call('HSET', DELIVERY .. id, 'organization_id', organization, 'webhook_id', webhook, 'event_id', ARGV[4],
  'event', 'test', 'occasion', 'test', 'status', ARGV[5], 'created_ms', now_ms, 'attempts', 1, 'attempt 1', ARGV[6],
  'body', ARGV[8])
listDelivery(organization, webhook, id)
keepSettled(organization, id, tonumber(ARGV[7]))
return now_ms
