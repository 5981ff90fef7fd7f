-- Purpose: adds the words of an agent to its pending access request, once.
-- KEYS[1] access request
-- ARGV[1] agent_id · ARGV[2] its revision · ARGV[3] its words · ARGV[4] what the scanner finds in them, as JSON
-- Returns: 1, or 0 if the request is not pending, is another agent's, or has words already
local status, agent_id, revision = unpack(redis.call('HMGET', KEYS[1], 'status', 'agent_id', 'agent_revision'))
if status ~= 'pending' or agent_id ~= ARGV[1] or revision ~= ARGV[2] then return 0 end
if redis.call('HSETNX', KEYS[1], 'justification', ARGV[3]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'justification_findings', ARGV[4])
return 1
