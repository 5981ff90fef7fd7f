-- Purpose: finds edges whose heartbeat stopped without a goodbye, also where no other edge is left to remove them.
-- KEYS[1] edges · KEYS[2] edge beats · KEYS[3] their clock · KEYS[4] lost edges
-- ARGV[1] ms of silence after which an edge is removed
-- Returns: {name of a lost edge, ms of its last heartbeat, ...}; the name '' has the number of those that are only counted
-- @include edge-beats
forgetSilent(KEYS[1], KEYS[2], KEYS[4], lookAtBeats(KEYS[2], KEYS[3]) - ARGV[1])
return redis.call('HGETALL', KEYS[4])
