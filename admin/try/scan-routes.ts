import { Type } from 'typebox'
import { SCOPE_DEFAULTS, SPEAKERS, type InjectionSettings } from '../../core/catalogue/model.ts'
import { patternSettings } from '../../core/scanner/compile-settings.ts'
import { DeferredSettings } from '../../core/inspection/deferred-settings.ts'
import { keyedTextHash, textHash } from '../../core/scanner/trusted-text.ts'
import { detectionsOf } from '../../core/scanner/detections-of.ts'
import { checkerOf, checkPatterns } from '../scopes/check-patterns.ts'
import { NewScope } from '../scopes/scope-schemas.ts'
import { Nullable, Strict } from '../http/common-schemas.ts'
import { type AdminCall, defineRoute, type Route } from '../http/define-route.ts'
import { type Outcome, answer } from '../http/outcome.ts'

const Question = Strict({
  body: Type.String({ description: 'A request body as text' }),
  content_type: Type.Optional(Nullable(Type.String({ maxLength: 500 }))),
  path: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 8_192,
        description:
          'Below the base URL, of a POST. Without it, the body is taken as sent to the API whose shape it has',
      }),
    ),
  ),
  injection_detection: NewScope.properties.injection_detection,
})
type Question = {
  readonly body: string
  readonly content_type?: string | null
  readonly path?: string | null
  readonly injection_detection?: Partial<InjectionSettings>
}

const Detection = Strict({
  pattern_name: Type.String(),
  category: Type.String(),
  severity: Type.Enum(['critical', 'high', 'medium']),
  speaker: Type.Enum([...SPEAKERS], { description: 'Whose words they are' }),
  action: Type.Enum(['block', 'alert', 'log'], {
    description: '`log` where the pattern is no finding in the words of this speaker',
  }),
  matched_text: Type.String(),
  location: Type.String(),
  start: Type.Integer({ description: 'Offset of its first byte in the body' }),
  end: Type.Integer({ description: 'Offset after its last byte' }),
  text_hash: Nullable(
    Type.String({
      description: 'Of the whole text, for `trusted_texts`; null if it has several speakers',
    }),
  ),
  logged_hash: Nullable(
    Type.String({
      description: 'The same as `data.text_hash` of an activity entry about this text',
    }),
  ),
})

export const ScanReport = Strict({
  blocked: Type.Boolean(),
  detections: Type.Array(Detection),
  text_hash: Type.String({
    description: 'Of the body taken as one text, for `trusted_texts`',
  }),
  logged_hash: Type.String({
    description: 'The same as `data.text_hash` of an activity entry about exactly this text',
  }),
})

export const scanRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/admin/scan',
    role: 'viewer',
    costly: 'compute',
    tag: 'scan',
    summary: 'Scan a body: what would be detected, and whether the call would be blocked',
    body: Question,
    answers: { 200: ScanReport },
    handle: scan,
  }),
]

/** Omitted members have the defaults of a scope. */
async function scan(call: AdminCall<unknown, unknown, Question>): Promise<Outcome> {
  const {
    context,
    actor,
    body: { body, content_type, path, injection_detection },
  } = call
  const settings = { ...SCOPE_DEFAULTS.injection_detection, ...injection_detection }
  const checker = checkerOf(call)
  const refused = await checkPatterns(settings, checker)
  if (refused !== null) return refused
  const text_hash = textHash(body)
  const loggedHash = (hash: string): string =>
    keyedTextHash(context.ring, actor.organization_id, hash)
  const hashes = { text_hash, logged_hash: loggedHash(text_hash) }
  if (!settings.enabled) return answer(200, { blocked: false, detections: [], ...hashes })
  const deferred = new DeferredSettings(patternSettings(settings))
  const bytes = Buffer.from(body)
  const input = { body: bytes, content_type: content_type ?? null, content_encoding: null }
  const rest = {
    method: path == null ? null : 'POST',
    base_path: '',
    path: path ?? '',
    query: '',
    headers: [],
  }
  const whole = { ...input, ...rest }
  const result = await context.scans?.scanRequest(whole, deferred, undefined, checker.owner)
  if (result?.kind !== 'scanned')
    return { kind: 'refusal', error: 'gateway_unavailable', message: BUSY }
  const { decision, findings } = result
  const blocked = decision.outcome === 'blocked'
  return answer(200, {
    blocked,
    detections: detectionsOf(findings, settings).map((detection) => ({
      ...detection,
      logged_hash: detection.text_hash === null ? null : loggedHash(detection.text_hash),
    })),
    ...hashes,
  })
}

const BUSY = 'Too many large bodies are being scanned. Try again shortly.'
