-- Purpose: all that an edge needs to know of an agent, as of one moment.
-- KEYS[1] agents · KEYS[2] the agent's scopes
-- ARGV[1] agent_id
-- Returns: {agent as JSON or nil, scope as JSON...}
return {redis.call('HGET', KEYS[1], ARGV[1]), unpack(redis.call('HVALS', KEYS[2]))}
