-- Purpose: removes what deliveries of a deleted organization left, once those of its webhooks are gone.
-- KEYS as queue-keys.ts lists them
-- ARGV[1] organization_id · [2] how many events at most
-- Returns: 0 when nothing is left, else 1
-- @include webhook-queue
local organization = ARGV[1]
for _, id in ipairs(redis.call('ZRANGE', IDLE_EVENTS .. organization, 0, ARGV[2] - 1)) do forgetEvent(organization, id) end
if redis.call('ZCARD', EVENT_TIMES .. organization) > 0 then return 1 end
redis.call('DEL', SETTLED .. organization, USAGE .. organization)
redis.call('HDEL', OUTBOX_USAGE, organization .. ' dropped')
return 0
