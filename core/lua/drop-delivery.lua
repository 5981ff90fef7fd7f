-- Purpose: ends a claimed delivery without an attempt, since its webhook was deleted.
-- KEYS as queue-keys.ts lists them
-- ARGV[1] delivery_id · [2] name of the claim
-- Returns: 1 done, 0 claimed by another process
-- @include webhook-queue
local fields = redis.call('HMGET', DELIVERY .. ARGV[1], 'organization_id', 'webhook_id', 'event_id', 'claim')
if not fields[1] or fields[4] ~= ARGV[2] then return 0 end
releaseEvent(fields[1], fields[3])
forgetDelivery(fields[1], fields[2], ARGV[1])
reschedule(fields[1], fields[2])
return 1
