import type { Injection, ScopeSettings } from '../api-types.ts'
import { CheckField, ChoiceField, localOf, TextField, utcOf } from './fields.tsx'
import { ListArea } from './list-area.tsx'

type Tools = ScopeSettings['mcp_tools']
type Rate = ScopeSettings['rate_limiting']
type Anomaly = ScopeSettings['anomaly_detection']

export const ToolFields = ({
  tools,
  onTools,
}: {
  tools: Tools
  onTools: (tools: Tools) => void
}) => (
  <>
    <ListArea
      label="Allowed, one per line"
      member="/mcp_tools/allow"
      hint="* matches any text."
      list={tools.allow}
      onList={(allow) => onTools({ ...tools, allow })}
    />
    <ListArea
      label="Denied, one per line"
      member="/mcp_tools/deny"
      hint="Takes precedence over allowed."
      list={tools.deny}
      onList={(deny) => onTools({ ...tools, deny })}
    />
  </>
)

type SetInjection = <N extends keyof Injection>(name: N) => (value: Injection[N]) => void

export function InjectionFields({
  injection,
  onInjection,
}: {
  injection: Injection
  onInjection: (injection: Injection) => void
}) {
  const set: SetInjection = (name) => (value) => onInjection({ ...injection, [name]: value })
  return (
    <>
      <CheckField label="Scan requests" value={injection.enabled} onValue={set('enabled')} />
      <ChoiceField
        label="On detection"
        value={injection.mode}
        onValue={set('mode')}
        choices={{ block: 'Block', alert: 'Allow and alert', log: 'Allow and log' }}
      />
      <ChoiceField
        label="Sensitivity"
        value={injection.sensitivity}
        onValue={set('sensitivity')}
        choices={{
          low: 'Low: critical findings',
          medium: 'Medium: critical and high findings',
          high: 'High: all findings',
        }}
      />
      <CheckField
        label="Scan responses"
        value={injection.scan_responses}
        onValue={set('scan_responses')}
      />
      <CheckField
        label="Kill the agent on a critical finding"
        hint="Only if findings are blocked."
        value={injection.auto_kill_on_critical}
        onValue={set('auto_kill_on_critical')}
      />
      <PatternFields injection={injection} set={set} />
    </>
  )
}

const PatternFields = ({ injection, set }: { injection: Injection; set: SetInjection }) => (
  <>
    <h3>Patterns</h3>
    <ListArea
      label="Custom patterns (RE2), one per line"
      member="/injection_detection/custom_patterns"
      list={injection.custom_patterns}
      onList={set('custom_patterns')}
    />
    <ListArea
      label="Whitelist patterns (RE2), one per line"
      member="/injection_detection/whitelist_patterns"
      list={injection.whitelist_patterns}
      onList={set('whitelist_patterns')}
    />
    <ChoiceField
      label="Whitelist patterns match"
      value={injection.whitelist_scope}
      onValue={set('whitelist_scope')}
      choices={{
        text: 'the text with the finding',
        request: 'anywhere in the request (an attacker can add text)',
      }}
    />
    <ListArea
      label="Disabled built-in patterns, one per line"
      member="/injection_detection/disabled_patterns"
      list={injection.disabled_patterns}
      onList={set('disabled_patterns')}
    />
  </>
)

export const RateFields = ({ rate, onRate }: { rate: Rate; onRate: (rate: Rate) => void }) => (
  <>
    <TextField
      label="Calls per minute"
      member="/rate_limiting/requests_per_minute"
      type="number"
      min={1}
      hint="Leave empty for no limit."
      value={rate.requests_per_minute === null ? '' : String(rate.requests_per_minute)}
      onValue={(text) =>
        onRate({ ...rate, requests_per_minute: text === '' ? null : Number(text) })
      }
    />
    <CheckField
      label="Kill the agent on sustained violation"
      value={rate.auto_kill_on_sustained_violation}
      onValue={(is) => onRate({ ...rate, auto_kill_on_sustained_violation: is })}
    />
    <TextField
      label="Sustained for minutes"
      member="/rate_limiting/violation_window_minutes"
      type="number"
      min={1}
      value={String(rate.violation_window_minutes)}
      onValue={(text) => onRate({ ...rate, violation_window_minutes: Number(text) })}
    />
  </>
)

export const AnomalyFields = ({
  anomaly,
  onAnomaly,
}: {
  anomaly: Anomaly
  onAnomaly: (anomaly: Anomaly) => void
}) => (
  <>
    <CheckField
      label="Enable anomaly detection"
      value={anomaly.enabled}
      onValue={(enabled) => onAnomaly({ ...anomaly, enabled })}
    />
    <TextField
      label="Alert at score"
      member="/anomaly_detection/alert_threshold"
      type="number"
      min={0}
      max={1}
      step="any"
      value={String(anomaly.alert_threshold)}
      onValue={(text) => onAnomaly({ ...anomaly, alert_threshold: Number(text) })}
    />
    <TextField
      label="Auto-kill at score"
      member="/anomaly_detection/auto_kill_threshold"
      type="number"
      min={0}
      max={1}
      step="any"
      hint="1 = never"
      value={String(anomaly.auto_kill_threshold)}
      onValue={(text) => onAnomaly({ ...anomaly, auto_kill_threshold: Number(text) })}
    />
  </>
)

export const LimitFields = ({
  settings,
  onSettings,
}: {
  settings: ScopeSettings
  onSettings: (settings: ScopeSettings) => void
}) => (
  <>
    <TextField
      label="Priority"
      member="/priority"
      type="number"
      hint="If several scopes allow a call, the one with the lowest priority value applies."
      value={String(settings.priority)}
      onValue={(text) => onSettings({ ...settings, priority: Number(text) })}
    />
    <TextField
      label="Maximum body size (bytes)"
      member="/max_body_bytes"
      type="number"
      min={0}
      hint="Leave empty to use the gateway-wide limit."
      value={settings.max_body_bytes === null ? '' : String(settings.max_body_bytes)}
      onValue={(text) =>
        onSettings({ ...settings, max_body_bytes: text === '' ? null : Number(text) })
      }
    />
    <TextField
      label="Maximum size of a scanned response (bytes)"
      member="/max_response_bytes"
      type="number"
      min={1}
      hint="Leave empty to use the gateway-wide limit."
      value={settings.max_response_bytes === null ? '' : String(settings.max_response_bytes)}
      onValue={(text) =>
        onSettings({ ...settings, max_response_bytes: text === '' ? null : Number(text) })
      }
    />
    <CheckField
      label="Let longer responses pass unscanned"
      value={settings.over_limit === 'pass_unscanned'}
      onValue={(passes) =>
        onSettings({ ...settings, over_limit: passes ? 'pass_unscanned' : 'refuse' })
      }
    />
    <CheckField
      label="Allow batches that cannot be read"
      hint="Calls within a batch that can be read must be allowed by the rules in any case."
      value={settings.allow_batches}
      onValue={(allow_batches) => onSettings({ ...settings, allow_batches })}
    />
  </>
)

export const TimeFields = ({
  settings,
  onSettings,
}: {
  settings: ScopeSettings
  onSettings: (settings: ScopeSettings) => void
}) => (
  <>
    <TextField
      label="Begins"
      member="/not_before"
      type="datetime-local"
      step={1}
      hint="Your local time. Leave empty for at once."
      value={localOf(settings.not_before ?? undefined)}
      onValue={(text) => onSettings({ ...settings, not_before: utcOf(text) ?? null })}
    />
    <TextField
      label="Ends"
      member="/expires_at"
      type="datetime-local"
      step={1}
      hint="Your local time. Leave empty for never."
      value={localOf(settings.expires_at ?? undefined)}
      onValue={(text) => onSettings({ ...settings, expires_at: utcOf(text) ?? null })}
    />
    <CheckField
      label="End running calls too"
      hint="Otherwise, a call that began before the end may run on."
      value={settings.end_streams}
      onValue={(end_streams) => onSettings({ ...settings, end_streams })}
    />
  </>
)
