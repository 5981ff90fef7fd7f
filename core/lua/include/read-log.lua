-- The log is read in steps of so many rows, since a row may have a hundred kilobytes.
local LOG_STEP = 8

-- The rows of a log after a place, from old to new: so many at most, and none after those that have so many bytes together, so
-- that no reply is long. Returns them and whether there may be more.
local function readLog(key, after, rows_max, bytes_max)
  local read, bytes, from = {}, 0, '(' .. after
  while #read < rows_max do
    local asked = math.min(LOG_STEP, rows_max - #read)
    local rows = redis.call('XRANGE', key, from, '+', 'COUNT', asked)
    for _, row in ipairs(rows) do
      if bytes >= bytes_max then return read, true end
      read[#read + 1] = row
      for _, field in ipairs(row[2]) do bytes = bytes + #field end
    end
    if #rows < asked then return read, false end
    from = '(' .. rows[#rows][1]
  end
  return read, true
end
