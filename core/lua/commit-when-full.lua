#!lua flags=allow-oom
-- Purpose: commit.lua for a kill, a reactivation and their records: it runs in a store that is over its memory limit.
-- Guarantee, KEYS, ARGV, Returns: as in commit.lua.
-- @include enqueue-event
-- @include apply-change
return applyChange()
