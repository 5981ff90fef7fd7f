#!lua flags=allow-oom
-- Purpose: a lock in one script: who creates it, whether that may be done and what it names exists, the lock, the audit entry, the
--   receipt, the record of the pending event, and the message to the edges.
-- Guarantee: all or nothing. It also runs in a store that is over its memory limit.
-- KEYS[1] epoch · KEYS[2] edge beats · KEYS[3] their clock · KEYS[4] locks in progress · KEYS[5] hashes of admin tokens
-- KEYS[6] places of locks · KEYS[7] organizations · KEYS[8] requirements of the store · KEYS[9] ends of locks
-- KEYS[10] what a request with the same Idempotency-Key has created
-- ARGV[1] JSON (LockPlan in core/kill/publish-lock.ts)
-- Returns: {1, epoch, edges whose lease may still run, record as JSON, token_id or ''}, with 2 and the lock as JSON if it was created by
--   an equal request and is in force, or {0} if nobody with a role for it requests
--   it, {-1} if what it names does not exist, {-2} if there are too many locks, {-3} if the caller may not do that
-- @include edge-beats
-- @include publish-change
local plan = cjson.decode(ARGV[1])
local clock = redis.call('TIME')
local now_ms = clock[1] * 1000 + math.floor(clock[2] / 1000)
-- @include sign-in

local by = plan.by
if plan.proof ~= cjson.null then
  by = signIn(plan.proof)
  if not by then return {0} end
end
local own, kind, id = by.organization_id, plan.kind, plan.id
if plan.repeats then
  local before, written_ms, lock_id = string.match(redis.call('GET', KEYS[10]) or '', '^(%d+) (%d+) (%S+)$')
  local place = lock_id and redis.call('HGET', KEYS[6], lock_id)
  local text = place and redis.call('HGET', keyOf('locks', place), lock_id)
  local ends = text and cjson.decode(text).expires_at
  if text and not (isText(ends) and ends <= plan.now) then
    -- Who was alive then and has not acknowledged it by the end of its lease serves no more.
    local isFresh = now_ms - tonumber(written_ms) < plan.lease_ms
    local edges = isFresh and redis.call('ZRANGEBYSCORE', KEYS[2], lookAtBeats(KEYS[2], KEYS[3]) - plan.lease_ms, '+inf') or {}
    return {2, tonumber(before), edges, text, isText(by.token_id) and by.token_id or ''}
  end
end
local isOperating = own == plan.default_organization and by.role == 'admin'
local organization, agent_name = own, cjson.null
if kind == 'everything' then
  if not isOperating then return {-3} end
  organization = '*'
elseif kind == 'organization_id' then
  if id ~= own and not isOperating then return {-1} end
  if redis.call('HEXISTS', KEYS[7], id) == 0 then return {-1} end
  organization = id
elseif kind ~= 'agent_selector' then
  local text = redis.call('HGET', keyOf(kind, own), id)
  if not text then return {-1} end
  -- A record that cannot be read, or that a newer version has stored, is locked without its name.
  local isJson, agent = pcall(cjson.decode, text)
  if kind == 'agent_id' and isJson and type(agent) == 'table' and isReadable(agent) then agent_name = agent.agent_name end
end

-- Those that are over make room.
local function remove(lock_id, from)
  redis.call('HDEL', keyOf('locks', from), lock_id)
  redis.call('HDEL', keyOf('receipts', from), lock_id)
  redis.call('HDEL', KEYS[6], lock_id)
  redis.call('ZREM', KEYS[9], lock_id)
end
local locks, receipts = keyOf('locks', organization), keyOf('receipts', organization)
if redis.call('HLEN', locks) >= plan.locks_max then
  for _, text in ipairs(redis.call('HVALS', locks)) do
    local lock = cjson.decode(text)
    if isText(lock.expires_at) and lock.expires_at < plan.now then remove(lock.lock_id, organization) end
  end
  if redis.call('HLEN', locks) >= plan.locks_max then return {-2} end
end
if redis.call('HLEN', KEYS[6]) >= plan.total_max then
  for _, lock_id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[9], '-inf', now_ms, 'LIMIT', 0, plan.removed_max)) do
    remove(lock_id, redis.call('HGET', KEYS[6], lock_id) or organization)
  end
  if redis.call('HLEN', KEYS[6]) >= plan.total_max then return {-2} end
end

-- What only the store knows stands in the prepared texts as a hole with a name.
local logged_in = organization == '*' and own or organization
local holes = {
  organization_id = cjson.encode(organization),
  logged_in = cjson.encode(logged_in),
  own = cjson.encode(own),
  agent_name = cjson.encode(agent_name),
  email = cjson.encode(by.email),
  token_id = cjson.encode(by.token_id),
  now_ms = string.format('%.0f', now_ms),
  finish_after_ms = string.format('%.0f', now_ms + plan.own_finish_ms),
}
local function filled(prepared) return (string.gsub(prepared, '"' .. plan.mark .. '([a-z_]+)"', holes)) end
holes.lock = filled(plan.lock)
local record = filled(plan.record)

local epoch, epoch_text, before_text = nextEpoch()
redis.call('HSET', locks, plan.lock_id, holes.lock)
redis.call('HSET', KEYS[6], plan.lock_id, organization)
if plan.ends_ms ~= cjson.null then redis.call('ZADD', KEYS[9], plan.ends_ms, plan.lock_id) end
redis.call('HSET', receipts, plan.lock_id, plan.receipt)
redis.call('HSET', KEYS[4], epoch_text, record)
if plan.repeats then
  redis.call('SET', KEYS[10], epoch_text .. ' ' .. holes.now_ms .. ' ' .. plan.lock_id, 'PX', plan.kept_ms)
end
-- No version that knows of this demand is older than the one that locks need.
redis.call('HSETNX', KEYS[8], 'minimum_version', plan.minimum_version)
redis.call('XADD', keyOf('activity', own), 'MAXLEN', '~', plan.activity_max, '*', 'e', filled(plan.audit))
local target = '[{"what":"lock","organization_id":' .. holes.organization_id .. ',"lock":' .. holes.lock .. '}]'
local edges = publishChange(epoch_text, before_text, target, plan.channel, plan.lease_ms)
return {1, epoch, edges, record, isText(by.token_id) and by.token_id or ''}
