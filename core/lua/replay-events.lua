-- Purpose: creates deliveries of stored events for one webhook.
-- Guarantee: within one replay an event is delivered once, however often the script is called with it.
-- KEYS as queue-keys.ts lists them
-- ARGV[1] organization_id · [2] webhook_id · [3] name of the replay · [4] ms until the first attempt
--   [5] bound of pending deliveries · [6] the webhook's events, each with a space on both sides · [7] and [8] ms of
--   the range if the replay is complete with these events, else empty · [9..] event ids
-- Returns: {deliveries created, event ids looked at}; fewer looked at than given when the bound was reached
-- @include webhook-queue
local organization, webhook = ARGV[1], ARGV[2]
local created = 0
if redis.call('HEXISTS', WEBHOOKS .. organization, webhook) == 0 then return {0, #ARGV - 8} end
for i = 9, #ARGV do
  local event = redis.call('HGET', EVENT .. organization .. ':' .. ARGV[i], 'event')
  if event and string.find(ARGV[6], ' ' .. event .. ' ', 1, true) then
    if numberOf(redis.call('HGET', USAGE .. organization, 'pending')) >= tonumber(ARGV[5]) then
      reschedule(organization, webhook)
      return {created, i - 9}
    end
    if createDelivery(organization, webhook, ARGV[i], event, ARGV[3], now_ms + ARGV[4]) then created = created + 1 end
  end
end
reschedule(organization, webhook)
if ARGV[7] ~= '' then forgetMissed(STATE .. webhook, ARGV[7], ARGV[8]) end
return {created, #ARGV - 8}
