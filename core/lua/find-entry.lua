-- Purpose: looks for one entry in a piece of the activity log, from old to new.
-- KEYS[1] activity stream
-- ARGV[1] from, ARGV[2] to, as XRANGE takes them · ARGV[3] entries at most · ARGV[4] the member `id` of the entry as JSON
--   writes it; a text inside a value cannot be like it, since its quotes are escaped
-- Returns: {'', entry} found · {id of the last entry looked at} go on there · {''} not there
local rows = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[2], 'COUNT', ARGV[3])
for _, row in ipairs(rows) do
  if string.find(row[2][2], ARGV[4], 1, true) then return {'', row[2][2]} end
end
if #rows < tonumber(ARGV[3]) then return {''} end
return {rows[#rows][1]}
