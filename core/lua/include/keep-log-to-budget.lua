-- Purpose: keeps an activity log to its budget of bytes, looked at now and then, also while no admin process runs.
-- keepLogToBudget takes the key of the log, the key of the budget and the number of rows that the script has added.

-- The size is estimated from a few nodes, once in so many rows.
local LOOK_EVERY = 512
local BUDGET_BYTES = 1024 * 1024 * 1024

local function keepLogToBudget(log, budget_key, added)
  local length = redis.call('XLEN', log)
  if math.floor(length / LOOK_EVERY) == math.floor((length - added) / LOOK_EVERY) then return end
  local budget = tonumber(redis.call('GET', budget_key)) or BUDGET_BYTES
  local bytes = redis.call('MEMORY', 'USAGE', log, 'SAMPLES', 10)
  if bytes and bytes > budget then
    redis.call('XTRIM', log, 'MAXLEN', '~', math.floor(length * budget / bytes * 0.95))
  end
end
