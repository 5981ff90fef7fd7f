-- Purpose: takes a lease that is free, renews the one that is held, or releases it.
-- Guarantee: one holder at a time. A holder whose lease had expired is informed, because another process may have held it
--   in between.
-- KEYS[1] lease
-- ARGV[1] name of the holder · ARGV[2] duration in ms, 0 to release it
-- Returns: 2 when it was held and is renewed, 1 when it was free, 0 when it is not held now
-- @include hold-lease
if ARGV[2] ~= '0' then return (holdLease(KEYS[1], ARGV[1], ARGV[2], redis.call('GET', KEYS[1]))) end
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 0
