-- Purpose: looks for entries that were written one by one among the newest rows of an activity log.
-- Guarantee: looks at so many rows and bytes at most, so that no call of it is long.
-- KEYS[1] activity stream
-- ARGV[1] rows at most · ARGV[2] bytes after which it stops · ARGV[3..] ids of entries
-- Returns: the ids that it has found

-- The log is read in steps of so many rows, since a row may have a hundred kilobytes.
local ROWS = 8
local left, bytes_max = tonumber(ARGV[1]), tonumber(ARGV[2])
local asked, found, bytes, upper = {}, {}, 0, '+'
for i = 3, #ARGV do asked[ARGV[i]] = true end

while left > 0 and bytes < bytes_max do
  local rows = redis.call('XREVRANGE', KEYS[1], upper, '-', 'COUNT', math.min(ROWS, left))
  if #rows == 0 then break end
  for _, row in ipairs(rows) do
    local fields = row[2]
    -- The id is the first member of an entry.
    local id = fields[1] == 'e' and string.match(fields[2], '^{"id":"([^"]+)"')
    if id and asked[id] then found[#found + 1] = id end
    bytes = bytes + #fields[2]
  end
  left = left - #rows
  upper = '(' .. rows[#rows][1]
end
return found
