#!lua flags=allow-oom
-- Purpose: a kill in one script: who requests it, the agent's status, its keys, the audit entry, the receipt, the record of the
--   pending event, and the message to the edges.
-- Guarantee: all or nothing. An agent that is killed already keeps the time and the reason of the first kill, and its kill is
--   published again. It also runs in a store that is over its memory limit.
-- KEYS[1] epoch · KEYS[2] edge beats · KEYS[3] their clock · KEYS[4] kills · KEYS[5] hashes of admin tokens
-- KEYS[6] killed agents whose tokens are revoked at their providers
-- ARGV[1] JSON (KillPlan in core/kill/publish-kill.ts)
-- Returns: {1, epoch, edges whose lease may still run, record as JSON, number of revoked keys, token_id or ''}, or {0} if nobody
--   with a role for it requests it, or {-1} if the agent does not exist
-- @include edge-beats
-- @include publish-change
local plan = cjson.decode(ARGV[1])
local clock = redis.call('TIME')
local now_ms = clock[1] * 1000 + math.floor(clock[2] / 1000)

-- @include sign-in

-- The text of a record with other values of some members. JSON.parse and cjson take the last value of a member that stands twice,
-- and whoever writes the record next writes each once. So all other members stay as they are, also those that Lua would misread.
local function withMembers(text, members, record)
  local format = isReadable(record) and ',"store_format":' .. plan.store_format or ''
  return string.sub(text, 1, -2) .. ',' .. members .. format .. '}'
end

local by = plan.by
if plan.proof ~= cjson.null then
  by = signIn(plan.proof)
  if not by then return {0} end
end
local organization, agent_id = by.organization_id, plan.agent_id
local agents, keys = keyOf('agents', organization), keyOf('api_keys', organization)
local text = redis.call('HGET', agents, agent_id)
if not text then return {-1} end
local agent = cjson.decode(text)
local isFirst = agent.status ~= 'killed'
local killed_at = not isFirst and isText(agent.killed_at) and agent.killed_at or plan.now
local revision = type(agent.revision) == 'number' and agent.revision or 0
-- It follows the later of two clocks, so it is higher than any that edges remember, even if the store lost the latest ones, or its
-- clock is that of a replica that is behind.
if isFirst then revision = math.max(revision + 1, now_ms, plan.now_ms) end
local revision_text = string.format('%.0f', revision)
local killed_at_text = cjson.encode(killed_at)

if isFirst then
  redis.call('HSET', agents, agent_id, withMembers(text, '"status":"killed","revision":' .. revision_text .. ',"killed_at":'
    .. killed_at_text .. ',"kill_reason":' .. plan.reason, agent))
end

-- Keys that cannot be read are left as they are: the state of the agent applies to them.
local revoked = 0
local targets = {'{"what":"kill","organization_id":' .. cjson.encode(organization) .. ',"agent_id":' .. cjson.encode(agent_id)
  .. ',"revision":' .. revision_text .. ',"killed_at":' .. killed_at_text .. '}'}
for _, id in ipairs(redis.call('ZRANGE', keyOf('api_key_index', organization), 0, -1)) do
  local key_text = redis.call('HGET', keys, id)
  local isJson, key = pcall(cjson.decode, key_text or 'null')
  if isJson and type(key) == 'table' and isReadable(key) and key.revoked_at == cjson.null then
    revoked = revoked + 1
    redis.call('HSET', keys, id, withMembers(key_text, '"revoked_at":' .. killed_at_text .. ',"revoked_by":"kill"', key))
    targets[#targets + 1] = '{"what":"key","hash":' .. cjson.encode(key.hash) .. '}'
  end
end

-- What only the store knows stands in the prepared texts as a hole with a name.
local holes = {
  organization_id = cjson.encode(organization),
  -- The name that a newer version has stored may not be readable.
  agent_name = cjson.encode(isReadable(agent) and agent.agent_name or agent_id),
  status = isFirst and '"active"' or '"killed"',
  repeated = tostring(not isFirst),
  killed_at = killed_at_text,
  revision = revision_text,
  credentials_revoked = tostring(revoked),
  email = cjson.encode(by.email),
  token_id = cjson.encode(by.token_id),
  now_ms = string.format('%.0f', now_ms),
  finish_after_ms = string.format('%.0f', now_ms + plan.own_finish_ms),
}
local function filled(prepared) return (string.gsub(prepared, '"' .. plan.mark .. '([a-z_]+)"', holes)) end
holes.event = isFirst and filled(plan.event) or 'null'
holes.receipt = filled(plan.receipt)
local record = filled(plan.record)

local epoch, epoch_text, before_text = nextEpoch()
redis.call('XADD', keyOf('activity', organization), 'MAXLEN', '~', plan.activity_max, '*', 'e', filled(plan.audit))
redis.call('HSET', KEYS[4], epoch_text, record)
redis.call('HSET', keyOf('receipts', organization), plan.kill_id, holes.receipt)
redis.call('ZADD', keyOf('receipt_index', organization), epoch_text, plan.kill_id)
redis.call('ZADD', KEYS[6], now_ms, table.concat({organization, agent_id, plan.kill_id, string.format('%.0f', now_ms)}, ' '))
local edges = publishChange(epoch_text, before_text, '[' .. table.concat(targets, ',') .. ']', plan.channel, plan.lease_ms)
return {1, epoch, edges, record, revoked, isText(by.token_id) and by.token_id or ''}
