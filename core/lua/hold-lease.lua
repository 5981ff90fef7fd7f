-- Purpose: takes a lease that is free, or renews the one that is held.
-- Guarantee: one holder at a time. A holder whose lease had expired is informed, because another process may have held it
--   in between.
-- KEYS[1] lease
-- ARGV[1] name of the holder · ARGV[2] duration in ms, 0 to release it
-- Returns: 2 when it was held and is renewed, 1 when it was free, 0 when it is not held now
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then
  redis.call('DEL', KEYS[1])
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return holder and 2 or 1
