-- Purpose: an edge says that a control message is in force there.
-- Guarantee: stored before it is published, so that who comes late can read it.
-- KEYS[1] acknowledgements of the epoch
-- ARGV[1] edge_id · ARGV[2] Acknowledgement as JSON · ARGV[3] channel · ARGV[4] seconds to keep it
-- Answer: 1
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('PUBLISH', ARGV[3], ARGV[2])
return 1
