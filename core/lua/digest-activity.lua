-- Purpose: indexes a part of the log, and raises the alerts that result from it.
-- Guarantee: each row is indexed once: the position is advanced in the same script, and only from where the caller read.
-- KEYS[1] activity stream · KEYS[2] digest · KEYS[3] names of the indexes · KEYS[4] prefix of an index
--   KEYS[5..8] as core/alerts/alert-keys.ts lists them
-- ARGV[1] position that was read from · ARGV[2] new position · ARGV[3] organization_id
-- ARGV[4] a line for each row: its id, then for each index a tab, how many of the row's entries are in it, a colon and the
--   name, then a tab, `=` and the hashes of the request ids; none of them holds a tab or line feed
-- ARGV[5] JSON list of alerts, or nothing
-- Returns: 1 digested, 0 another process was first or the log was deleted
-- @include raise-alert
if (redis.call('HGET', KEYS[2], 'position') or '0-0') ~= ARGV[1] or redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local known = {}

-- A row of an index takes about eleven bytes. Where entries are counted it states how many came before.
local function addTo(name, id, value)
  if not known[name] then
    known[name] = true
    redis.call('SADD', KEYS[3], name)
  end
  redis.call('XADD', KEYS[4] .. name, id, '', value)
end

for id, items in string.gmatch(ARGV[4], '([^\t\n]*)([^\n]*)\n') do
  for item in string.gmatch(items, '\t([^\t]*)') do
    local count, name = string.match(item, '^(%d+):(.*)$')
    if not count then
      addTo('r', id, string.sub(item, 2))
    elseif string.find(name, '^[ed]:') then
      addTo(name, id, redis.call('HINCRBY', KEYS[2], 'count ' .. name, count) - count)
    else
      addTo(name, id, '')
    end
  end
end
if ARGV[5] ~= '' then
  for _, alert in ipairs(cjson.decode(ARGV[5])) do
    raiseAlert(5, ARGV[3], redis.call('HINCRBY', KEYS[2], 'alerts', 1), alert)
  end
end
redis.call('HSET', KEYS[2], 'position', ARGV[2])
return 1
