import type { Injection, Rule, ScopeSettings } from './api-types.ts'
import { countOf } from './count-of.ts'
import { zonedText } from './time-text.ts'

/** What a scope allows and how it protects, in sentences. The service decides with the settings; these only read them aloud. */

/** "GET and POST on /models and everything below it". */
export const ruleWords = ({ methods, paths, upgrade }: Rule): string =>
  `${methods.includes('*') ? 'Any method' : joined(methods, 'no method')}${upgrade?.includes('websocket') === true ? ', and WebSockets,' : ''} on ${joined(paths.map(pathWords), 'no path')}`

function pathWords(path: string): string {
  if (path === '/**') return 'every path'
  const isSubtree = path.endsWith('/**')
  const start = isSubtree ? path.slice(0, -'/**'.length) : path
  const shown = start.split('/').map(segmentWords).join('/')
  return isSubtree ? `${shown} and everything below it` : shown
}

const segmentWords = (segment: string): string =>
  segment === '*' ? '{any}' : segment === '**' ? '{any number}' : segment

export function toolWords({ allow, deny }: ScopeSettings['mcp_tools']): string {
  if (allow.length === 0) return 'No MCP tool may be called.'
  const but = deny.length === 0 ? '' : ` except ${joined(deny)}`
  return allow.includes('*')
    ? `All MCP tools may be called${but}.`
    : `Only the MCP tools ${joined(allow)} may be called${but === '' ? '' : `,${but}`}.`
}

const FOUND = {
  low: 'a critical finding',
  medium: 'a critical or high finding',
  high: 'any finding',
} as const satisfies Record<Injection['sensitivity'], string>
const DONE = {
  block: 'is refused',
  alert: 'passes and raises an alert',
  log: 'passes and is logged',
} as const satisfies Record<Injection['mode'], string>

export function injectionWords(injection: Injection): string {
  const { enabled, mode, sensitivity, scan_responses } = injection
  if (!enabled) return 'Requests and responses are not scanned.'
  const scanned = scan_responses ? 'Requests and responses are' : 'Requests are'
  const kills =
    injection.auto_kill_on_critical && mode === 'block'
      ? ' A critical finding kills the agent.'
      : ''
  const counts = [
    [injection.custom_patterns.length, 'custom'],
    [injection.whitelist_patterns.length, 'whitelist'],
    [injection.disabled_patterns.length, 'disabled'],
  ] as const
  const patterns = counts.filter(([count]) => count > 0).map(([count, kind]) => `${count} ${kind}`)
  const more = patterns.length === 0 ? '' : ` Patterns: ${joined(patterns)}.`
  return `${scanned} scanned; one with ${FOUND[sensitivity]} ${DONE[mode]}.${kills}${more}`
}

export function rateWords(rate: ScopeSettings['rate_limiting']): string {
  const { requests_per_minute: limit, violation_window_minutes: minutes } = rate
  if (limit === null) return 'No rate limit.'
  const kills = rate.auto_kill_on_sustained_violation
    ? ` A violation that lasts ${countOf(minutes, 'minute')} kills the agent.`
    : ''
  return `At most ${countOf(limit, 'call')} per minute.${kills}`
}

export function anomalyWords(anomaly: ScopeSettings['anomaly_detection']): string {
  if (!anomaly.enabled) return 'Anomalies raise no alert.'
  const kill =
    anomaly.auto_kill_threshold >= 1
      ? ', never a kill'
      : `, a kill at ${anomaly.auto_kill_threshold}`
  return `An alert at score ${anomaly.alert_threshold}${kill}.`
}

export function limitWords(settings: ScopeSettings): string {
  const { priority, max_body_bytes, max_response_bytes, over_limit, allow_batches } = settings
  const body =
    max_body_bytes === null
      ? 'Bodies up to the limit of the gateway'
      : `Bodies up to ${countOf(max_body_bytes, 'byte')}`
  const response =
    max_response_bytes === null ? '' : `, responses up to ${countOf(max_response_bytes, 'byte')}`
  const rest = over_limit === 'pass_unscanned' ? ' Longer responses pass unscanned.' : ''
  const batches = allow_batches ? ' Batches that cannot be read are allowed.' : ''
  return `${body}${response}.${rest} Priority ${priority}.${batches}`
}

export function timeWords({ not_before, expires_at, end_streams }: ScopeSettings): string {
  if (not_before === null && expires_at === null) return 'It is in force at all times.'
  const from = not_before === null ? '' : ` from ${zonedText(Date.parse(not_before))}`
  const until = expires_at === null ? '' : ` until ${zonedText(Date.parse(expires_at))}`
  const rest =
    expires_at === null
      ? ''
      : end_streams
        ? ' Running calls end then too.'
        : ' Running calls may go on after that.'
  return `It is in force${from}${until}.${rest}`
}

function joined(texts: readonly string[], none = ''): string {
  if (texts.length === 0) return none
  if (texts.length === 1) return texts[0] ?? none
  return `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`
}
