-- Purpose: raises an alert: a new open item, or more in the count of the open item about the same thing.
-- Four keys from KEYS[first] on: prefix of the alerts · index · open alerts · notices, as core/alerts/alert-keys.ts lists them
-- Of an organization the newest alerts are kept. What agents do never displaces an open alert about the gateway itself.
local ALERTS_MAX = 2000
local LOOK = 100
local HOUR_MS, HOURS = 3600000, 24

-- The oldest that was handled or is closed, else the oldest about an agent, else the oldest.
local function leastNeeded(prefix, index)
  for from = 0, ALERTS_MAX, LOOK do
    local of_agent
    for _, id in ipairs(redis.call('ZRANGE', index, from, from + LOOK - 1)) do
      local concern, status = unpack(redis.call('HMGET', prefix .. id, 'concern', 'status'))
      if concern == 'handled' or status ~= 'open' then return id end
      if concern ~= 'gateway' then of_agent = of_agent or id end
    end
    if of_agent then return of_agent end
  end
  return redis.call('ZRANGE', index, 0, 0)[1]
end

-- One field for each hour of a day: the number of the hour, and what occurred in it.
local function countInHour(key, at_ms, times)
  local hour = math.floor(at_ms / HOUR_MS)
  local field = 'hour ' .. hour % HOURS
  local before, count = string.match(redis.call('HGET', key, field) or '', '^(%d+) (%d+)$')
  if before and tonumber(before) > hour then return end
  if tonumber(before) ~= hour then count = 0 end
  redis.call('HSET', key, field, string.format('%d %d', hour, count + times))
end

local function raiseAlert(first, organization, number, alert)
  local prefix, index, open = KEYS[first], KEYS[first + 1], KEYS[first + 2]
  local id = redis.call('HGET', open, alert.about)
  if id then
    local key = prefix .. id
    redis.call('HINCRBY', key, 'count', alert.count)
    redis.call('HSET', key, 'last', alert.occurrence, 'last_at', alert.at)
    countInHour(key, alert.at_ms, alert.count)
    return id
  end
  id = alert.alert_id
  redis.call('HSET', prefix .. id, 'alert_id', id, 'status', 'open', 'about', alert.about, 'kind', alert.kind, 'severity',
    alert.severity, 'title', alert.title, 'count', alert.count, 'first_at', alert.at, 'last_at', alert.at, 'last', alert.occurrence,
    'concern', alert.concern)
  countInHour(prefix .. id, alert.at_ms, alert.count)
  redis.call('HSET', open, alert.about, id)
  redis.call('ZADD', index, number, id)
  if not alert.is_mailed then redis.call('ZADD', KEYS[first + 3], alert.at_ms, organization .. ' ' .. id) end
  if redis.call('ZCARD', index) > ALERTS_MAX then
    local old = leastNeeded(prefix, index)
    local about = redis.call('HGET', prefix .. old, 'about')
    if about and redis.call('HGET', open, about) == old then redis.call('HDEL', open, about) end
    redis.call('ZREM', index, old)
    redis.call('DEL', prefix .. old)
    redis.call('ZREM', KEYS[first + 3], organization .. ' ' .. old)
  end
  return id
end
