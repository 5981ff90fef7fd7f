#!lua flags=allow-oom
-- Purpose: an edge confirms that a control message is in force there.
-- Guarantee: stored before it is published, so that it can be read later; also works when the store is full.
-- KEYS[1] acknowledgements of the epoch
-- ARGV[1] id of the process · ARGV[2] Acknowledgement as JSON · ARGV[3] channel · ARGV[4] seconds to keep it
-- ARGV[5] 1 to keep an existing one unchanged, unless only that one says that calls are still ending
-- Returns: 1 stored, 0 left
local now = redis.call('TIME')
local text = string.sub(ARGV[2], 1, -2) .. ',"stored_us":' .. now[1] .. string.format('%06d', now[2]) .. '}'
local found = ARGV[5] == '1' and redis.call('HGET', KEYS[1], ARGV[1])
local function isEnding(acknowledgement) return string.find(acknowledgement, '"ending":', 1, true) ~= nil end
if found and (isEnding(text) or not isEnding(found)) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], text)
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('PUBLISH', ARGV[3], text)
return 1
