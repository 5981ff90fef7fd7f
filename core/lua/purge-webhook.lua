-- Purpose: removes the deliveries of a deleted webhook, some in each call.
-- KEYS as queue-keys.ts lists them
-- ARGV[1] organization_id · [2] webhook_id · [3] how many at most
-- Returns: how many are left; 0 when nothing of the webhook is left
-- @include webhook-queue
local organization, webhook = ARGV[1], ARGV[2]
if redis.call('HEXISTS', WEBHOOKS .. organization, webhook) == 1 then return 0 end
for _, id in ipairs(redis.call('ZRANGE', DELIVERIES .. webhook, 0, ARGV[3] - 1)) do
  local fields = redis.call('HMGET', DELIVERY .. id, 'event_id', 'status')
  if fields[2] == 'pending' then releaseEvent(organization, fields[1]) end
  forgetDelivery(organization, webhook, id)
end
local left = redis.call('ZCARD', DELIVERIES .. webhook)
if left == 0 then
  redis.call('DEL', QUEUE .. webhook, IN_FLIGHT .. webhook, DELIVERIES .. webhook, STATE .. webhook)
  redis.call('ZREM', DUE, organization .. ' ' .. webhook)
end
return left
