-- Purpose: notes when something was done for a request: whether the call that took its approval was sent to the API, or an e-mail.
-- KEYS[1] access request
-- ARGV[1] forwarded_ms, unsent_ms if it was not and will not be, or mailed_ms
-- Returns: 1, or 0 if the request is not stored any more
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)))
return 1
