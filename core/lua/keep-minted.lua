-- Purpose: keeps a token that was minted for one agent alone, so that a kill of the agent can revoke it at its provider.
-- KEYS[1] tokens of the agent, each under `<ms at which it ends> <ms at which it was kept> <id>`
-- ARGV[1] lifetime of the token in ms · ARGV[2] its id · ARGV[3] KeptToken as JSON · ARGV[4] tokens kept at most
-- ARGV[5] lifetime of the hash in ms
-- Returns: nil
local clock = redis.call('TIME')
local now_ms = clock[1] * 1000 + math.floor(clock[2] / 1000)
local kept = {}
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  local ends_ms = tonumber(string.match(field, '^%d+') or 0)
  if ends_ms <= now_ms then
    redis.call('HDEL', KEYS[1], field)
  else
    kept[#kept + 1] = {ends_ms, field}
  end
end
table.sort(kept, function(a, b) return a[1] < b[1] end)
for i = 1, #kept - ARGV[4] + 1 do redis.call('HDEL', KEYS[1], kept[i][2]) end
redis.call('HSET', KEYS[1], string.format('%.0f %.0f %s', now_ms + ARGV[1], now_ms, ARGV[2]), ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return nil
