-- Purpose: reads the next rows of an activity log, from old to new.
-- KEYS[1] activity stream
-- ARGV[1] place after which it reads · ARGV[2] rows at most · ARGV[3] bytes after which it stops; one row more is read
-- Returns: {whether there may be more (0 or 1), the rows as XRANGE returns them}
-- @include read-log

local rows, has_more = readLog(KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]))
return {has_more and 1 or 0, rows}
