-- Purpose: finds the admin token of a console session. Use extends the session, up to its maximum lifetime.
-- Guarantee: a session whose token was deleted is invalid. The cookie without the secret of the page neither authenticates
--   nor ends the session.
-- KEYS[1] session
-- ARGV[1] prefix of the hashes that hold the tokens, the organization's id follows · ARGV[2] hash of the page's secret
--   ARGV[3] now in ms · ARGV[4] ms that it lives on, 0 where this is no use of a person's
-- Returns: the token as JSON, or nil
local organization, token_id, page_hash, ends_ms =
  unpack(redis.call('HMGET', KEYS[1], 'organization_id', 'token_id', 'page_hash', 'ends_ms'))
if not token_id or page_hash ~= ARGV[2] then return nil end
local token = redis.call('HGET', ARGV[1] .. organization, token_id)
local left_ms = tonumber(ends_ms) - tonumber(ARGV[3])
if not token or left_ms <= 0 then
  redis.call('DEL', KEYS[1])
  return nil
end
if ARGV[4] ~= '0' then redis.call('PEXPIRE', KEYS[1], math.min(left_ms, tonumber(ARGV[4]))) end
return token
