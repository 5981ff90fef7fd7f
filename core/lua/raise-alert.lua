-- Purpose: raises one alert of an organization.
-- KEYS[1] digest · KEYS[2..5] as core/alerts/alert-keys.ts lists them
-- ARGV[1] organization_id · ARGV[2] JSON {alert_id, about, kind, severity, title, count, at, at_ms, occurrence, is_mailed}
-- Returns: the id of the alert, new or open before
-- @include raise-alert
local number = redis.call('HINCRBY', KEYS[1], 'alerts', 1)
return raiseAlert(2, ARGV[1], number, cjson.decode(ARGV[2]))
