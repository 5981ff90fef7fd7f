-- Purpose: indexes a part of the log, and raises the alerts that result from it.
-- Guarantee: each entry is indexed once: the position is advanced in the same script, and only from where the caller read.
-- KEYS[1] activity stream · KEYS[2] digest · KEYS[3] names of the indexes · KEYS[4] prefix of an index
--   KEYS[5..8] as core/alerts/alert-keys.ts lists them
-- ARGV[1] position that was read from · ARGV[2] new position · ARGV[3] organization_id
-- ARGV[4] a line for each entry: its id, then a tab and the name of each index it is in; names hold no tab or line feed
-- ARGV[5] JSON list of alerts, or nothing
-- Returns: 1 digested, 0 another process was first or the log was deleted
-- @include raise-alert
if (redis.call('HGET', KEYS[2], 'position') or '0-0') ~= ARGV[1] or redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local known = {}
for id, names in string.gmatch(ARGV[4], '([^\t\n]*)([^\n]*)\n') do
  for name in string.gmatch(names, '\t([^\t]*)') do
    if not known[name] then
      known[name] = true
      redis.call('SADD', KEYS[3], name)
    end
    -- An index holds ids alone, so an entry takes about eleven bytes in it.
    redis.call('XADD', KEYS[4] .. name, id, '', '')
  end
end
if ARGV[5] ~= '' then
  for _, alert in ipairs(cjson.decode(ARGV[5])) do
    raiseAlert(5, ARGV[3], redis.call('HINCRBY', KEYS[2], 'alerts', 1), alert)
  end
end
redis.call('HSET', KEYS[2], 'position', ARGV[2])
return 1
