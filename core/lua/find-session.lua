#!lua flags=allow-oom
-- Purpose: finds the admin token of a console session. Use extends the session, up to its maximum lifetime.
-- Guarantee: a session whose token was deleted is invalid. The cookie without the secret of the page neither authenticates
--   nor ends the session.
-- KEYS[1] session
-- ARGV[1] prefix of the hashes that hold the tokens, the organization's id follows · ARGV[2] hash of the page's secret
--   ARGV[3] now in ms, by the clock of the host · ARGV[4] ms that it lives on without use · ARGV[5] 1 where this is the use of a person
-- Returns: the token as JSON, or nil
local organization, token_id, page_hash, ends_ms, used_ms =
  unpack(redis.call('HMGET', KEYS[1], 'organization_id', 'token_id', 'page_hash', 'ends_ms', 'used_ms'))
if not token_id or page_hash ~= ARGV[2] then return nil end
local token = redis.call('HGET', ARGV[1] .. organization, token_id)
local now_ms, idle_max = tonumber(ARGV[3]), tonumber(ARGV[4])
local left_ms = tonumber(ends_ms) - now_ms
-- The store ends an idle session too, by its own clock, which may step back.
local isIdle = used_ms and now_ms - tonumber(used_ms) >= idle_max
if not token or left_ms <= 0 or isIdle then
  redis.call('DEL', KEYS[1])
  return nil
end
if ARGV[5] == '1' then
  redis.call('HSET', KEYS[1], 'used_ms', ARGV[3])
  redis.call('PEXPIRE', KEYS[1], math.min(left_ms, idle_max))
end
return token
