-- Purpose: takes due deliveries for one process to attempt.
-- Guarantee: a delivery is with one process at a time, until it is settled or its lease is over; the lease of a process
--   that died expires. No webhook has more attempts at a time than its slots, so a slow receiver leaves the
--   others their turn.
-- KEYS as queue-keys.ts lists them
-- ARGV[1] how many at most · [2] lease in ms · [3] name of this claim
-- Returns: {ms until the next is due or -1, then for each: delivery_id, organization_id, webhook_id, event_id, event,
--   attempts so far, envelope}
-- @include webhook-queue
-- Webhooks examined in one call; the others follow in the next.
local WEBHOOKS_MAX = 100
local left = tonumber(ARGV[1])
local claimed = {-1}
for _, member in ipairs(redis.call('ZRANGEBYSCORE', DUE, '-inf', now_ms, 'LIMIT', 0, WEBHOOKS_MAX)) do
  if left <= 0 then break end
  local organization, webhook = string.match(member, '^(%S+) (%S+)$')
  for _, lost in ipairs(redis.call('ZRANGEBYSCORE', IN_FLIGHT .. webhook, '-inf', now_ms)) do
    redis.call('ZREM', IN_FLIGHT .. webhook, lost)
    redis.call('ZADD', QUEUE .. webhook, now_ms, lost)
  end
  local slots = tonumber(redis.call('HGET', STATE .. webhook, 'slots')) or SLOTS
  local free = math.min(left, slots - redis.call('ZCARD', IN_FLIGHT .. webhook))
  if free > 0 then
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', QUEUE .. webhook, '-inf', now_ms, 'LIMIT', 0, free)) do
      local fields = redis.call('HMGET', DELIVERY .. id, 'event_id', 'event', 'attempts')
      redis.call('ZREM', QUEUE .. webhook, id)
      if fields[1] then
        redis.call('ZADD', IN_FLIGHT .. webhook, now_ms + ARGV[2], id)
        redis.call('HSET', DELIVERY .. id, 'claim', ARGV[3])
        local body = redis.call('HGET', EVENT .. organization .. ':' .. fields[1], 'body') or ''
        for _, part in ipairs({id, organization, webhook, fields[1], fields[2], fields[3], body}) do
          claimed[#claimed + 1] = part
        end
        left = left - 1
      end
    end
  end
  reschedule(organization, webhook)
end
local head = redis.call('ZRANGE', DUE, 0, 0, 'WITHSCORES')
if head[2] then claimed[1] = math.max(0, tonumber(head[2]) - now_ms) end
return claimed
