-- Purpose: the key, or the admin token, that a hash belongs to.
-- KEYS[1] hashes
-- ARGV[1] SHA-256 in hex · ARGV[2] prefix of the hashes that hold the records, the organization's id follows
-- Returns: the record as JSON, or nil
local place = redis.call('HGET', KEYS[1], ARGV[1])
if not place then return nil end
local organization, id = string.match(place, '^(%S+) (%S+)$')
return redis.call('HGET', ARGV[2] .. organization, id)
