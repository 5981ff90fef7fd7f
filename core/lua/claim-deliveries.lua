-- Purpose: takes due deliveries for one process to attempt.
-- Guarantee: a delivery is with one process at a time, until it is settled or its lease is over; the lease of a process
--   that died expires. No webhook has more attempts at a time than its slots, so a slow receiver leaves the
--   others their turn. A webhook that a newer version has stored is left as it is, for a process of that version.
-- KEYS as queue-keys.ts lists them
-- ARGV[1] how many at most · [2] lease in ms · [3] name of this claim · [4] the newest format of records that it can read ·
--   [5] due webhooks to pass over, which waited for a newer process in the claim before
-- Returns: {ms until the next is due or -1, members of DUE that were left, then for each delivery: delivery_id,
--   organization_id, webhook_id, event_id, event, attempts so far, envelope}
-- @include webhook-queue
-- Webhooks of which deliveries are claimed in one call; the others follow in the next.
local WEBHOOKS_MAX = 100
-- Due webhooks that are looked at, so that those that wait for a newer process do not hide the others. More are due only if
-- so many wait; the call takes a few milliseconds then, and the next one begins behind them.
local DUE_MAX = 1000
local left = tonumber(ARGV[1])
local readable = tonumber(ARGV[4])
local passed = tonumber(ARGV[5])

-- What is missing or damaged is claimed; the worker then drops or reports it.
local function isNewer(organization, webhook)
  local text = redis.call('HGET', WEBHOOKS .. organization, webhook)
  local isRead, record = pcall(cjson.decode, text or '')
  return isRead and type(record) == 'table' and numberOf(record.store_format) > readable
end

local waiting, isWaiting = {}, {}
local claimed = {-1, waiting}

local function claimOf(organization, webhook)
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

local examined = 0
for _, member in ipairs(redis.call('ZRANGEBYSCORE', DUE, '-inf', now_ms, 'LIMIT', passed, DUE_MAX)) do
  if left <= 0 or examined >= WEBHOOKS_MAX then break end
  local organization, webhook = string.match(member, '^(%S+) (%S+)$')
  if isNewer(organization, webhook) then
    waiting[#waiting + 1] = member
    isWaiting[member] = true
  else
    claimOf(organization, webhook)
    examined = examined + 1
  end
end
-- Those that wait are due all the time.
local heads = redis.call('ZRANGE', DUE, passed, passed + #waiting, 'WITHSCORES')
for i = 1, #heads, 2 do
  if not isWaiting[heads[i]] then
    claimed[1] = math.max(0, tonumber(heads[i + 1]) - now_ms)
    break
  end
end
return claimed
