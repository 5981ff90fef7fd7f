-- Purpose: takes the approval of a call, finds the grant that it is made by, tells how far its request is, or makes the request.
-- Guarantee: an approval is taken at most once, by an agent that has the revision of the request and is not killed in this store, and
--   only while those who approved may still approve. An approval ends with the run of the store that it was given in, since a failover may
--   have lost that it was taken. Each call by a grant is allowed alike, in any run, while its scope is stored. Requests that are open have
--   bounds, per agent and per organization. What has
--   ended is kept for an hour, the newest ones.
-- KEYS[1] requests by the digest of the call · KEYS[2] open requests · KEYS[3] those of the agent · KEYS[4] prefix of KEYS[3] ·
--   KEYS[5] ended requests · KEYS[6] prefix of a request · KEYS[7] agents · KEYS[8] admin tokens · KEYS[9] activity stream ·
--   KEYS[10..14] as outboxKeys lists them · KEYS[15] all requests by the ms of their creation · KEYS[16] request by the digest of the
--   grant · KEYS[17] scopes of the agent
-- ARGV[1] JSON (TakePlan in core/approval/take-approval.ts)
-- Returns: {'taken', request_id, approvals as JSON}, {'granted', request_id, approvals as JSON, scope_id}, {'pending', request_id, ms left, 0 or 1: it is new, request_id of the request
--   before that was used or '', 1, 0 or -1: its call was sent, was not, or it is not known}, {'denied', request_id, comment}, {'expired', request_id}, {'none'} if
--   there is no request and none is to be made, {'busy'}, or {'stale'} if the agent is not as the edge knows it
-- @include enqueue-event
local KEPT_MS = 3600000
local ENDED_MAX = 1000
-- Requests that one call moves from the open ones to the ended ones.
local SWEEP_MAX = 100
local plan = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function ms(number) return string.format('%.0f', number) end

local function finish(id, status)
  redis.call('ZREM', KEYS[2], id)
  local request = KEYS[6] .. id
  local agent_id = redis.call('HGET', request, 'agent_id')
  if not agent_id then return redis.call('ZREM', KEYS[15], id) end
  redis.call('ZREM', KEYS[4] .. agent_id, id)
  if status then redis.call('HSET', request, 'status', status) end
  redis.call('HSET', request, 'ended_ms', ms(now))
  redis.call('PEXPIRE', request, KEPT_MS)
  redis.call('ZADD', KEYS[5], ms(now), id)
end

for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ms(now), 'LIMIT', 0, SWEEP_MAX)) do
  local status = redis.call('HGET', KEYS[6] .. id, 'status')
  finish(id, (status == 'pending' or status == 'approved') and 'expired')
end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', ms(now))
local function forget(ids)
  for _, id in ipairs(ids) do
    redis.call('UNLINK', KEYS[6] .. id)
    redis.call('ZREM', KEYS[5], id)
    redis.call('ZREM', KEYS[15], id)
  end
end
forget(redis.call('ZRANGEBYSCORE', KEYS[5], '-inf', ms(now - KEPT_MS), 'LIMIT', 0, SWEEP_MAX))
local surplus = redis.call('ZCARD', KEYS[5]) - ENDED_MAX
if surplus > 0 then forget(redis.call('ZRANGE', KEYS[5], 0, math.min(surplus, SWEEP_MAX * 2) - 1)) end

local known, agent = pcall(cjson.decode, redis.call('HGET', KEYS[7], plan.agent_id) or 'null')
if not known or type(agent) ~= 'table' or agent.status ~= 'active' or ms(agent.revision or -1) ~= plan.revision then
  return {'stale'}
end

-- Whether everyone who approved is still an operator or administrator who may.
local function mayStillApprove(approvals, approvers)
  for _, approval in ipairs(approvals) do
    local isJson, token = pcall(cjson.decode, redis.call('HGET', KEYS[8], approval.token_id) or 'null')
    if not isJson or type(token) ~= 'table' then return false end
    if token.role ~= 'admin' and (token.role ~= 'operator' or approvers == 'admin') then return false end
    if type(token.expires_at) == 'string' and token.expires_at <= plan.now then return false end
  end
  return #approvals > 0
end

if plan.is_granted then
  local id = redis.call('GET', KEYS[16])
  local status, revision, deadline, approvals, approvers, needed, scope_id = unpack(redis.call('HMGET', KEYS[6] .. (id or ''),
    'status', 'agent_revision', 'deadline_ms', 'approvals', 'approvers', 'needed', 'scope_id'))
  if status == 'approved' and scope_id and revision == plan.revision and tonumber(deadline) > now
    and redis.call('HEXISTS', KEYS[17], scope_id) == 1 then
    local list = cjson.decode(approvals)
    if #list >= tonumber(needed) and mayStillApprove(list, approvers) then return {'granted', id, approvals, scope_id} end
  end
end

-- The id of a request whose approval was used, while it is stored, and whether its call was sent.
local function usedOf(id)
  local stored, sent, unsent = unpack(redis.call('HMGET', KEYS[6] .. (id or ''), 'request_id', 'forwarded_ms', 'unsent_ms'))
  if not stored then return '', -1 end
  return id, sent and 1 or unsent and 0 or -1
end

local function runOfStore() return string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or '' end
-- How often the same call was approved and used, when last and by which request: each request tells the next.
local before, uses, used_ms = '', 0, ''
local id = redis.call('GET', KEYS[1])
if id then
  local request = KEYS[6] .. id
  local status, revision, deadline, approvals, approvers, needed, comment, consumed, used, scope_id, approved_run, told, count, last_ms =
    unpack(redis.call('HMGET', request, 'status', 'agent_revision', 'deadline_ms', 'approvals', 'approvers', 'needed', 'comment',
      'consumed_ms', 'used', 'scope_id', 'approved_run', 'told', 'used_count', 'used_ms'))
  local isOpen = not told and status and not consumed and not scope_id and revision == plan.revision
  if isOpen and (status == 'expired' or tonumber(deadline) <= now) then
    redis.call('HSET', request, 'told', '1')
    if status ~= 'expired' then finish(id, status ~= 'denied' and 'expired') end
    if status ~= 'denied' then return {'expired', id} end
    isOpen = false
  end
  if isOpen and status == 'denied' then return {'denied', id, comment or ''} end
  if isOpen and status == 'pending' then return {'pending', id, tonumber(deadline) - now, 0, usedOf(used)} end
  if isOpen and status == 'approved' then
    local list = cjson.decode(approvals)
    if #list >= tonumber(needed) and approved_run == runOfStore() and mayStillApprove(list, approvers) then
      redis.call('HSET', request, 'consumed_ms', ms(now), 'consumed_by', plan.call)
      finish(id)
      return {'taken', id, approvals}
    end
    finish(id, 'cancelled')
  end
  before, uses, used_ms = used or '', tonumber(count or 0), last_ms or ''
  if consumed then before, uses, used_ms = id, uses + 1, consumed end
end

local ask = plan.ask
if ask == cjson.null then return {'none'} end
if redis.call('ZCARD', KEYS[3]) >= plan.agent_max or redis.call('ZCARD', KEYS[2]) >= plan.organization_max then return {'busy'} end
local deadline = now + ask.valid_ms
local request = KEYS[6] .. ask.request_id
for name, value in pairs(ask.fields) do redis.call('HSET', request, name, value) end
redis.call('HSET', request, 'status', 'pending', 'agent_id', plan.agent_id, 'agent_revision', plan.revision, 'created_ms', ms(now),
  'deadline_ms', ms(deadline), 'approvals', '[]', 'used', before, 'used_count', uses, 'used_ms', used_ms)
redis.call('PEXPIREAT', request, ms(deadline + KEPT_MS))
redis.call('SET', KEYS[1], ask.request_id, 'PX', ms(ask.valid_ms + KEPT_MS))
redis.call('ZADD', KEYS[15], ms(now), ask.request_id)
for _, open in ipairs({KEYS[2], KEYS[3]}) do
  redis.call('ZADD', open, ms(deadline), ask.request_id)
end
redis.call('XADD', KEYS[9], 'MAXLEN', '~', plan.activity_max, '*', 'e', ask.entry)
enqueueEvent(10, plan.organization_id, ask.tag, ask.entry)
return {'pending', ask.request_id, ask.valid_ms, 1, usedOf(before)}
