-- Purpose: the ages of heartbeats, which decide for which edges a kill waits, whatever the clock of the store does. An edge that is
--   cut off serves until its own lease is over, so no heartbeat may seem older than it is.
-- The key of their clock has `<ms> <run id>`: when the heartbeats were last looked at, and by which run of the store. Each beacon
-- looks, four times a second, and each heartbeat.

-- Of the time between two looks, this much counts; the rest may be a step of the clock. It is less than the margin of a lease.
local LOOK_MS = 150

-- Returns the time of the store in ms, by how much the clock of the heartbeats is behind it, and the run of the store.
local function readBeatClock(found_clock, now)
  now = now or redis.call('TIME')
  local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
  local last_ms, run = string.match(found_clock or '', '^(%d+) (%x*)$')
  local passed_ms = last_ms and now_ms - last_ms
  if passed_ms and passed_ms >= 0 and passed_ms <= LOOK_MS then return now_ms, 0, run end
  local found = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or ''
  if not passed_ms then return now_ms, 0, found end
  -- Another run, as after a failover, may have lost the last heartbeats: all count from now.
  if run ~= found then return now_ms, now_ms, found end
  return now_ms, passed_ms < 0 and passed_ms or passed_ms - LOOK_MS, found
end

-- When a heartbeat came, by the time of now.
local function movedBeat(beat_ms, now_ms, behind_ms) return math.min(now_ms, beat_ms + behind_ms) end

-- Names of lost edges that wait for admin; those of further ones are only counted, in the field ''.
local LOST_MAX = 100

-- Removes edges that were silent for too long. Those that had not begun to stop are noted as lost.
local function forgetSilent(edges, beats, lost, oldest_ms)
  for _, edge in ipairs(redis.call('ZRANGEBYSCORE', beats, '-inf', oldest_ms)) do
    local found, record = pcall(cjson.decode, redis.call('HGET', edges, edge) or '')
    if found and type(record.edge_id) == 'string' and record.draining ~= true then
      if redis.call('HLEN', lost) < LOST_MAX then redis.call('HSET', lost, record.edge_id, redis.call('ZSCORE', beats, edge))
      else redis.call('HINCRBY', lost, '', 1) end
    end
    redis.call('HDEL', edges, edge)
    redis.call('ZREM', beats, edge)
  end
end

-- Returns the time of the store in ms, with which the heartbeats can be compared. `found` is what the key of their clock has, and
-- `now` the reply to TIME, where the script has read them.
local function lookAtBeats(beats, clock, found, now)
  local now_ms, behind_ms, run = readBeatClock(found or redis.call('GET', clock), now)
  if behind_ms ~= 0 then
    local edges = redis.call('ZRANGE', beats, 0, -1, 'WITHSCORES')
    local moved = {}
    for i = 1, #edges, 2 do
      moved[i] = movedBeat(edges[i + 1], now_ms, behind_ms)
      moved[i + 1] = edges[i]
    end
    for i = 1, #moved, 200 do redis.call('ZADD', beats, unpack(moved, i, math.min(i + 199, #moved))) end
  end
  redis.call('SET', clock, string.format('%.0f', now_ms) .. ' ' .. run)
  return now_ms
end
