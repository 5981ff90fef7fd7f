-- Purpose: notes the outcome of one attempt and what follows from it.
-- Guarantee: log, counts, status of the webhook, next attempt and notices change together. An outcome that comes after
--   the lease was given to another process is not noted: that process makes the attempt again.
-- KEYS as queue-keys.ts lists them
-- ARGV[1] delivery_id · [2] name of the claim · [3] "1" for a success · [4] attempt as JSON · [5] ms at which it began
--   [6] slots of the webhook from now on · [7] bound of ended deliveries · [8] attempts that are kept
--   [9..] the wait before each attempt in ms
-- Returns: {1 noted or 0 not ours, ms of the next attempt or 0, 1 when the webhook became failing, 1 when it became active}
-- @include webhook-queue
-- An alert is raised when a webhook has accepted nothing for so long, whatever attempts are left.
local REFUSED_MS = 90000
local id, key = ARGV[1], DELIVERY .. ARGV[1]
local fields = redis.call('HMGET', key, 'organization_id', 'webhook_id', 'event_id', 'claim', 'by_hand', 'delivered')
local organization, webhook, event_id = fields[1], fields[2], fields[3]
if not organization or fields[4] ~= ARGV[2] then return {0, 0, 0, 0} end
local isSuccess, byHand = ARGV[3] == '1', fields[5] == '1'
local state = STATE .. webhook

redis.call('ZREM', IN_FLIGHT .. webhook, id)
-- A lease that is over has put it back there, and it has not been claimed since.
redis.call('ZREM', QUEUE .. webhook, id)
redis.call('HDEL', key, 'claim', 'by_hand', 'next_ms')
local number = redis.call('HINCRBY', key, 'attempts', 1)
redis.call('HSET', key, 'attempt ' .. number, ARGV[4])
redis.call('HDEL', key, 'attempt ' .. (number - ARGV[8]), 'next ' .. (number - ARGV[8]))
redis.call('HINCRBY', state, isSuccess and 'success_count' or 'failure_count', 1)
redis.call('HSET', state, 'last_triggered_ms', ARGV[5], 'slots', ARGV[6])

local becameActive, becameFailing, next_ms = 0, 0, 0
if isSuccess then
  if redis.call('HDEL', state, 'failing_since_ms') == 1 then becameActive = 1 end
  redis.call('HDEL', state, 'refused_since_ms')
  redis.call('ZREM', NOTICES, organization .. ' ' .. webhook .. ' refused')
elseif not byHand and redis.call('HSETNX', state, 'refused_since_ms', now_ms) == 1 then
  redis.call('ZADD', NOTICES, now_ms + REFUSED_MS, organization .. ' ' .. webhook .. ' refused')
end
local delay = ARGV[8 + number + 1]
if not isSuccess and not byHand and delay then
  next_ms = now_ms + delay
  redis.call('HSET', key, 'next_ms', next_ms, 'next ' .. number, next_ms)
  redis.call('ZADD', QUEUE .. webhook, next_ms, id)
else
  if isSuccess then redis.call('HSET', key, 'delivered', 1) end
  redis.call('HSET', key, 'status', (isSuccess or fields[6] == '1') and 'delivered' or 'failed')
  if not isSuccess and not byHand then noteMissed(state, redis.call('HGET', EVENT .. organization .. ':' .. event_id, 'at_ms')) end
  releaseEvent(organization, event_id)
  keepSettled(organization, id, tonumber(ARGV[7]))
  if not isSuccess and not byHand and redis.call('HSETNX', state, 'failing_since_ms', now_ms) == 1 then
    becameFailing = 1
    redis.call('ZADD', NOTICES, now_ms, organization .. ' ' .. webhook .. ' ' .. now_ms)
  end
end
reschedule(organization, webhook)
return {1, next_ms, becameFailing, becameActive}
