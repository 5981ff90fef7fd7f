#!lua flags=no-writes
-- Purpose: finds the admin token of a console session where the store accepts no writes: an outage is looked at then.
-- KEYS and ARGV as the included part says
-- Returns: the token as JSON, or nil
-- @include token-of-session
local _, token = tokenOfSession()
return token
