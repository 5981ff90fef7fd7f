#!lua flags=allow-oom
-- Purpose: elects the one process that sends the beacon, and sends it when this is the one.
-- Guarantee: a beacon requires a write to the store that has its epoch; a store that accepts no writes sends none.
-- KEYS[1] beacon leader · KEYS[2] epoch · KEYS[3] edge beats · KEYS[4] their clock
-- ARGV[1] name of this process · ARGV[2] time to live of the election in ms · ARGV[3] channel
-- Returns: 0 when this process sent the beacon, else for how many ms another process is elected
-- @include hold-lease
-- @include edge-beats
local found = redis.call('MGET', KEYS[1], KEYS[2], KEYS[4])
local held, left_ms = holdLease(KEYS[1], ARGV[1], ARGV[2], found[1])
if held == 0 then return math.max(1, left_ms) end
lookAtBeats(KEYS[3], KEYS[4], found[3])
local epoch = found[2] or '0'
redis.call('PUBLISH', ARGV[3], '{"kind":"beacon","version":1,"epoch":' .. epoch .. ',"sender":' .. cjson.encode(ARGV[1]) .. '}')
return 0
