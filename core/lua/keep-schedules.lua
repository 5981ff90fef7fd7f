-- Purpose: keeps what is scheduled at its distance when the clock of the store steps back, for example after a failover.
-- Guarantee: a delivery, an e-mail or a flood waits for as long as it was scheduled, and not for the step in addition.
-- KEYS[1] clock of the store · KEYS[2] due webhooks · KEYS[3] notices about webhooks · KEYS[4] mails of kills · KEYS[5] floods ·
--   KEYS[6] revocations after kills · KEYS[7] prefix of the queue of a webhook · KEYS[8] prefix of its attempts in progress
-- ARGV none
-- Returns: the step in ms, 0 if there was none
local CLOCKS_DIFFER_MS = 2000
local clock = redis.call('TIME')
local now_ms = clock[1] * 1000 + math.floor(clock[2] / 1000)
local before_ms = tonumber(redis.call('GET', KEYS[1]) or 0)
redis.call('SET', KEYS[1], string.format('%.0f', now_ms))
local step_ms = before_ms - now_ms
if step_ms <= CLOCKS_DIFFER_MS then return 0 end

local function moveBack(key)
  for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do redis.call('ZINCRBY', key, -step_ms, member) end
end
for _, member in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  local webhook = string.match(member, ' (%S+)$') or ''
  moveBack(KEYS[7] .. webhook)
  moveBack(KEYS[8] .. webhook)
end
for i = 2, 6 do moveBack(KEYS[i]) end
return step_ms
