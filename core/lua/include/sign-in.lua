-- Purpose: who requests what a script does. KEYS[5] has the hashes of admin tokens; `plan` is the argument of the script.
local function isText(value) return type(value) == 'string' end

-- The name of a key of an organization.
local function keyOf(kind, organization)
  return (string.gsub(plan.keys[kind], '%*', function() return organization end, 1))
end

local function isReadable(record) return (tonumber(record.store_format) or 1) <= plan.store_format end

-- The text of the admin token that a session or the hash of a token stands for; nil if there is none.
local function findToken(proof)
  if not isText(proof.session) then
    local place = redis.call('HGET', KEYS[5], proof.token_hash)
    if not place then return nil end
    local organization, id = string.match(place, '^(%S+) (%S+)$')
    return redis.call('HGET', keyOf('tokens', organization), id)
  end
  local organization, id, page_hash, ends_ms =
    unpack(redis.call('HMGET', proof.session, 'organization_id', 'token_id', 'page_hash', 'ends_ms'))
  if not id or page_hash ~= proof.page_hash then return nil end
  local left_ms = tonumber(ends_ms) - plan.now_ms
  local token = redis.call('HGET', keyOf('tokens', organization), id)
  if not token or left_ms <= 0 then return nil end
  if proof.idle_ms > 0 then
    redis.call('HSET', proof.session, 'used_ms', string.format('%.0f', plan.now_ms))
    redis.call('PEXPIRE', proof.session, math.min(left_ms, proof.idle_ms))
  end
  return token
end

-- Who requests it; nil if that is not certain: the caller then signs in as for any other request, which says why not.
local function signIn(proof)
  local text = findToken(proof)
  if not text then return nil end
  local token = cjson.decode(text)
  local expiry = token.expires_at
  local isInForce = expiry == nil or expiry == cjson.null
    or (isText(expiry) and #expiry == #plan.now and expiry > plan.now)
  if not isReadable(token) or not isInForce or not plan.roles[token.role] then return nil end
  return token
end
