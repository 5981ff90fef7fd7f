#!lua flags=allow-oom
-- Purpose: finds the admin token of a console session. Use extends the session, up to its maximum lifetime.
-- Guarantee: a session whose token was deleted is invalid. The cookie without the secret of the page neither authenticates
--   nor ends the session.
-- KEYS and ARGV[1..4] as the included part says · ARGV[5] 1 where this is the use of a person
-- Returns: the token as JSON, or nil
-- @include token-of-session
local isOther, token, lives_ms = tokenOfSession()
if isOther then return nil end
if not token then
  redis.call('DEL', KEYS[1])
  return nil
end
if ARGV[5] == '1' then
  redis.call('HSET', KEYS[1], 'used_ms', ARGV[3])
  redis.call('PEXPIRE', KEYS[1], lives_ms)
end
return token
