-- Purpose: the admin token of a console session, and for how many ms it lives; nil if it is over.
-- KEYS[1] session
-- ARGV[1] prefix of the hashes that hold the tokens, the organization's id follows · ARGV[2] hash of the page's secret
--   ARGV[3] now in ms, by the clock of the host · ARGV[4] ms that it lives on without use
-- Returns: whether it is another page's or none, the token as JSON, the ms

local function tokenOfSession()
  local organization, token_id, page_hash, ends_ms, used_ms =
    unpack(redis.call('HMGET', KEYS[1], 'organization_id', 'token_id', 'page_hash', 'ends_ms', 'used_ms'))
  if not token_id or page_hash ~= ARGV[2] then return true end
  local token = redis.call('HGET', ARGV[1] .. organization, token_id)
  local now_ms, idle_max = tonumber(ARGV[3]), tonumber(ARGV[4])
  local left_ms = tonumber(ends_ms) - now_ms
  -- The store ends an idle session too, by its own clock, which may step back.
  local isIdle = used_ms and now_ms - tonumber(used_ms) >= idle_max
  if not token or left_ms <= 0 or isIdle then return false end
  return false, token, math.min(left_ms, idle_max)
end
