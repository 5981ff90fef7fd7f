-- Purpose: takes a lease that is free, or renews the one that is held.
-- Guarantee: one holder at a time. What is left of the lease of another holder is never more than its length: the clock of the
--   store may have stepped back since it was taken, and its holder may be dead.
-- Returns: 2 when it was held and is renewed, 1 when it was free, 0 when another holds it, and then for how many ms
local function holdLease(key, name, ms, holder)
  if holder and holder ~= name then
    local left = redis.call('PTTL', key)
    if left >= 0 and left <= tonumber(ms) then return 0, left end
    redis.call('PEXPIRE', key, ms)
    return 0, tonumber(ms)
  end
  redis.call('SET', key, name, 'PX', ms)
  return holder and 2 or 1
end
