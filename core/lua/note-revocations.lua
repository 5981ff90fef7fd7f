-- Purpose: writes what became of the tokens of a killed agent at their providers, beside the receipt of the kill.
-- Guarantee: only while the receipt is kept; what belongs to removed receipts is removed.
-- KEYS[1] kept receipts · KEYS[2] revocations
-- ARGV[1] kill_id · ARGV[2] Revocations as JSON · ARGV[3] receipts kept at most
-- Returns: nil
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return nil end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
if redis.call('HLEN', KEYS[2]) > tonumber(ARGV[3]) then
  for _, kill_id in ipairs(redis.call('HKEYS', KEYS[2])) do
    if redis.call('HEXISTS', KEYS[1], kill_id) == 0 then redis.call('HDEL', KEYS[2], kill_id) end
  end
end
return nil
