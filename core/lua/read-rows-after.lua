-- Purpose: reads the next rows of an activity log, and what tells how many of its entries are gone, as they are at one moment.
-- KEYS[1] activity stream · KEYS[2] digest
-- ARGV[1] place after which it reads · ARGV[2] rows at most · ARGV[3] bytes after which it stops; one row more is read
-- Returns: {whether there may be more (0 or 1), the rows as XRANGE returns them}, and unless the log is empty
--   {.., .., place of its oldest row, rows that are gone, place of the first block or '', number of blocks ever, number of entries
--   in blocks ever}
-- @include read-log

local rows, has_more = readLog(KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]))
local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
if not oldest then return {has_more and 1 or 0, rows} end

local gone = -redis.call('XLEN', KEYS[1])
local info = redis.call('XINFO', 'STREAM', KEYS[1])
for i = 1, #info, 2 do
  if info[i] == 'entries-added' then gone = gone + info[i + 1] end
end
local digest = redis.call('HMGET', KEYS[2], 'first_block', 'blocks', 'packed')
return {
  has_more and 1 or 0, rows, oldest[1], gone, digest[1] or '', tonumber(digest[2] or 0), tonumber(digest[3] or 0)
}
