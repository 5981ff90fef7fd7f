-- Purpose: the body of commit.lua and commit-when-full.lua, whose headers say what it takes and returns.
local function applyChange()
  local plan = cjson.decode(ARGV[1])
  for number, guard in ipairs(plan.guards) do
    local command, place, field, expected = guard[1], guard[2], guard[3], guard[4]
    local found
    if command == 'EXISTS' then
      found = redis.call('EXISTS', KEYS[place + 3]) == 1 and 'present' or false
    elseif command == 'HLEN' or command == 'ZCARD' then
      found = tostring(redis.call(command, KEYS[place + 3]))
    else
      found = redis.call(command, KEYS[place + 3], field)
    end
    if expected == true then
      if not found then return {0, number} end
    elseif expected == false then
      if found then return {0, number} end
    elseif found ~= expected then
      return {0, number}
    end
  end
  local epoch, epoch_text, before_text = nextEpoch()
  local logged = ''
  for _, write in ipairs(plan.writes) do
    local command = {write[1], KEYS[write[2] + 3]}
    for i = 3, #write do
      command[i] = write[i] == '@epoch' and epoch_text or write[i]
    end
    local result = redis.call(unpack(command))
    if write[1] == 'XADD' then logged = result end
  end
  for _, event in ipairs(plan.events) do
    enqueueEvent(event[1], event[2], event[3], event[4])
  end
  return {1, epoch, publishChange(epoch_text, before_text, plan.targets, plan.channel, plan.lease_ms), logged}
end
