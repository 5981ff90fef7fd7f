#!lua flags=allow-oom
-- Purpose: records the heartbeat of an edge, and removes edges that have been silent for a long time.
-- Guarantee: kills wait for an edge from its first heartbeat on, which it sends before it serves.
-- KEYS[1] edges · KEYS[2] edge beats · KEYS[3] their clock · KEYS[4] epoch · KEYS[5] lost edges
-- ARGV[1] id of the process · ARGV[2] EdgeRecord as JSON, or empty to deregister · ARGV[3] ms of silence after which an edge is
--   removed
-- Returns: {the epoch, the time of the store in ms} as texts
-- @include edge-beats
local now = redis.call('TIME')
local found = redis.call('MGET', KEYS[3], KEYS[4])
local now_ms = lookAtBeats(KEYS[2], KEYS[3], found[1], now)
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
else
  redis.call('ZADD', KEYS[2], now_ms, ARGV[1])
  -- Each new process makes room for itself; admin looks for silent ones, too.
  if redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) == 1 then forgetSilent(KEYS[1], KEYS[2], KEYS[5], now_ms - ARGV[3]) end
end
return {found[2] or '0', string.format('%.3f', now[1] * 1000 + now[2] / 1000)}
