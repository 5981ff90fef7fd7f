#!lua flags=allow-oom
-- Purpose: commit.lua for a reactivation and the records of kills: it runs in a store that is over its memory limit.
-- Guarantee, KEYS, ARGV, Returns: as in commit.lua.
-- @include enqueue-event
-- @include edge-beats
-- @include publish-change
-- @include apply-change
return applyChange()
