#!lua flags=no-writes,allow-oom
-- Purpose: the edges that have sent a heartbeat lately.
-- Guarantee: no heartbeat seems older than it is, whatever the clock of the store does. Nothing is written, so that a store that
--   takes no writes answers as well.
-- KEYS[1] edge beats · KEYS[2] their clock
-- ARGV[1] how old the heartbeat may be, in ms
-- Returns: {id of the process, age of its last heartbeat in ms, ...}
-- @include edge-beats
local now_ms, behind_ms = readBeatClock(redis.call('GET', KEYS[2]))
local edges = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
local live = {}
for i = 1, #edges, 2 do
  local age_ms = now_ms - movedBeat(edges[i + 1], now_ms, behind_ms)
  if age_ms <= tonumber(ARGV[1]) then
    live[#live + 1] = edges[i]
    live[#live + 1] = age_ms
  end
end
return live
