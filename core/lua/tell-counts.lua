-- Purpose: writes into the log how many refusals of one minute were counted instead of recorded.
-- Guarantee: each counted refusal is in exactly one entry, even with several processes and crashes. Later counts are
--   reported by a later call. The minute stays scheduled until everything is reported.
-- KEYS[1] floods · KEYS[2] counts of the minute · KEYS[3] what was told of them · KEYS[4] activity stream · KEYS[5] organizations
-- ARGV[1] `<organization_id> <minute>` · ARGV[2] organization_id · ARGV[3] bound of the stream · ARGV[4] seconds to keep what was told
-- ARGV[5] 1 in the last call for what is due: only that sums the counts, of which there may be thousands
-- ARGV[6..] for each count: its name, how much of it was told, how much is told now, the entry as JSON
-- Returns: number of entries written
if redis.call('HEXISTS', KEYS[5], ARGV[2]) == 0 then
  redis.call('ZREM', KEYS[1], ARGV[1])
  return 0
end
local written = 0
for i = 6, #ARGV, 4 do
  if (redis.call('HGET', KEYS[3], ARGV[i]) or '0') == ARGV[i + 1] then
    redis.call('XADD', KEYS[4], 'MAXLEN', '~', ARGV[3], '*', 'e', ARGV[i + 3])
    redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 2])
    written = written + 1
  end
end
redis.call('EXPIRE', KEYS[3], ARGV[4])
if ARGV[5] ~= '1' then return written end
local left = 0
for _, count in ipairs(redis.call('HVALS', KEYS[2])) do left = left + tonumber(count) end
for _, told in ipairs(redis.call('HVALS', KEYS[3])) do left = left - tonumber(told) end
if left <= 0 then redis.call('ZREM', KEYS[1], ARGV[1]) end
return written
