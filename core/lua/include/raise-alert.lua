-- Purpose: raises an alert: a new open item, or one more in the count of the open item about the same thing.
-- Four keys from KEYS[first] on: prefix of the alerts · index · open alerts · notices, as core/alerts/alert-keys.ts lists them
-- Of an organization the newest alerts are kept, whether acknowledged or not.
local ALERTS_MAX = 2000

local function raiseAlert(first, organization, number, alert)
  local prefix, index, open = KEYS[first], KEYS[first + 1], KEYS[first + 2]
  local id = redis.call('HGET', open, alert.about)
  if id then
    local key = prefix .. id
    redis.call('HINCRBY', key, 'count', 1)
    redis.call('HSET', key, 'last', alert.occurrence, 'last_at', alert.at)
    return id
  end
  id = alert.alert_id
  redis.call('HSET', prefix .. id, 'alert_id', id, 'status', 'open', 'about', alert.about, 'kind', alert.kind, 'severity',
    alert.severity, 'title', alert.title, 'count', 1, 'first_at', alert.at, 'last_at', alert.at, 'last', alert.occurrence)
  redis.call('HSET', open, alert.about, id)
  redis.call('ZADD', index, number, id)
  if not alert.is_mailed then redis.call('ZADD', KEYS[first + 3], alert.at_ms, organization .. ' ' .. id) end
  if redis.call('ZCARD', index) > ALERTS_MAX then
    local old = redis.call('ZPOPMIN', index)[1]
    local about = redis.call('HGET', prefix .. old, 'about')
    if about and redis.call('HGET', open, about) == old then redis.call('HDEL', open, about) end
    redis.call('DEL', prefix .. old)
    redis.call('ZREM', KEYS[first + 3], organization .. ' ' .. old)
  end
  return id
end
