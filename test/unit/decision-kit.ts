import { randomBytes } from 'node:crypto'
import { hashKey, mintKey } from '../../core/keys/api-key.ts'
import { needsConsent } from '../../admin/oauth/needs-consent.ts'
import { ownerOfConnection, type PlainAuth, sealAuth } from '../../core/store/credential-binding.ts'
import { readBody } from '../../core/inspection/read-body.ts'
import type { ScanPool } from '../../core/inspection/scan-pool.ts'
import type { Agent, ApiKey, Connection, Integration, Scope } from '../../core/catalogue/model.ts'
import type { Header } from '../../core/request/header.ts'
import type { InjectionDecision } from '../../core/scanner/decide-injection.ts'
import type { Finding } from '../../core/scanner/finding.ts'
import type { ScanResult } from '../../core/scanner/scan-request.ts'
import { SearchBudget } from '../../core/scanner/text/search-budget.ts'
import type { SecretRefs } from '../../core/credential/secret-reference.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { Secret } from '../../core/keys/secret.ts'
import type { CallIo } from '../../ext-proc/call/call-io.ts'
import { decideCall, type DecisionServices } from '../../ext-proc/call/decide-call.ts'
import { SecretReferences } from '../../core/secret/secret-references.ts'
import type { SecretStores } from '../../core/secret/secret-stores.ts'
import type { TokenResult } from '../../ext-proc/credential/token-cache.ts'
import { RestrictionBoard } from '../../ext-proc/kill/restriction-board.ts'
import { PolicyStore } from '../../ext-proc/policy/policy-store.ts'
import type { ApprovalState } from '../../core/approval/take-approval.ts'
import type { RateTaken } from '../../ext-proc/rate/rate-taker.ts'
import { beginRecord } from '../../ext-proc/record/begin-record.ts'
import type { CallRecord } from '../../ext-proc/record/call-record.ts'
import type { Verdict } from '../../ext-proc/verdict/verdict.ts'
import { FakePolicyRedis } from '../kit/fake-policy-redis.ts'
import { aScope, anAgent, anIntegration } from './policy-kit.ts'

export const KILLED_AT = '2026-01-02T00:00:00.000Z'
export const ORG = 'org_default'
export const TOKEN_AUTH: PlainAuth = {
  type: 'oauth2_client_credentials',
  token_url: 'https://login.example.com/token',
  client_id: 'us',
  client_secret: 'the secret of the client',
}
/** Every step after admission has something to do. */
const SCOPE = aScope({
  name: 'write',
  rules: [{ methods: ['POST', 'GET'], paths: ['/models/**'] }],
  mcp_tools: { allow: ['search'], deny: [] },
})
const CLEAN: InjectionDecision = {
  outcome: 'clean',
  may_kill: false,
  mode: 'block',
  reported: null,
  other_findings: 0,
}
const FINDING: Finding = {
  pattern_name: 'a_pattern',
  category: 'instruction_override',
  severity: 'critical',
  matched_text: 'ignore all',
  location: 'body.q',
  start: 0,
  end: 10,
  via: [],
  pattern: null,
  whitelisted: false,
  speaker: 'user',
  counts: true,
  text_hash: 'sha256:1',
}
export const found = (change: Partial<InjectionDecision>): ScanResult => ({
  kind: 'scanned',
  findings: [FINDING],
  decision: { ...CLEAN, outcome: 'blocked', may_kill: true, reported: FINDING, ...change },
})

/** What a test may change of a call that passes. */
export interface CallChange {
  readonly method?: string
  readonly url?: string
  /** `{key}` in a value, and in the URL, is the key of the call. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly key?: Partial<ApiKey> | null
  readonly agent?: Partial<Agent> | null
  readonly scope?: Partial<Scope>
  readonly integration?: Partial<Integration>
  readonly auth?: PlainAuth
  readonly refs?: SecretRefs
  readonly env?: Readonly<Record<string, string>>
  readonly rate?: RateTaken | Error
  readonly scan?: ScanResult
  readonly token?: TokenResult
  readonly max_body_bytes?: number
  /** The answers to whether the lease is held, one after the other; the last one stays. */
  readonly mayServe?: readonly boolean[]
  readonly is_busy?: boolean
  /** Credentials are held until Envoy's configuration has been checked. */
  readonly is_held?: boolean
  /** The process was paused before the last look. */
  readonly has_stalled?: boolean
  /** Whether the store takes an automatic kill. */
  readonly is_killed?: boolean
  /** A kill arrives when this is logged. */
  readonly killed_at_event?: string
  readonly installation?: string
  /** What the store says of the approval of the call; default: there is no request for it. */
  readonly approval?: ApprovalState
}

export interface Decided {
  readonly verdict: Verdict
  /** What was asked of store, stream and others, in order. */
  readonly events: readonly string[]
  readonly record: CallRecord
  /** The steps as they are in the log, those of the verdict included. */
  readonly steps: readonly string[]
}

/** The answer in one line: `forward`, or `step: reason why`. */
export function toldOf(verdict: Verdict): string {
  if (verdict.kind === 'forward') return 'forward'
  const { reason, details } = verdict.denial
  const why = details['reason']
  return `${verdict.step}: ${reason}${typeof why === 'string' ? ` ${why}` : ''}`
}

const keyRing = parseKeyRing(randomBytes(32).toString('base64'))

/** Decides a call by the real steps, with everything around them faked. */
export async function decide(change: CallChange = {}): Promise<Decided> {
  const events: string[] = []
  const { services, headers, note } = openGateway(change, events)
  const record = beginRecord(headers, 'edge-1', () => 0)
  const verdict = await decideCall(services, headers, ioOf(change, note), record)
  if (verdict.kind === 'deny') record.note(verdict.step, 'deny')
  const steps = record.steps.map(({ step, outcome }) => `${step} ${outcome}`)
  return { verdict, events, record, steps }
}

export interface TestGateway {
  readonly redis: FakePolicyRedis
  readonly services: DecisionServices
  /** Of the call. */
  readonly headers: readonly Header[]
  readonly note: (event: string) => void
}

/** @param events gets what is asked of store, stream and others, in order */
export function openGateway(change: CallChange, events: string[]): TestGateway {
  const killBoard = new RestrictionBoard(() => undefined)
  const note = (event: string): void => {
    events.push(event)
    if (event === change.killed_at_event)
      killBoard.receive(ORG, 'agt_a', { revision: 9, killed_at: KILLED_AT })
  }
  const { redis, key } = storeOf(change)
  const policy = new PolicyStore({ redis: redis.client, keyRing, killBoard })
  const read = redis.evalsha.bind(redis)
  redis.evalsha = (...args) => {
    note(args[1] === 1 ? 'key' : `agent ${args[4]}`)
    return read(...args)
  }
  const services = servicesOf(change, { policy, killBoard, note })
  return { redis, services, headers: headersOf(change, key), note }
}

function storeOf(change: CallChange): { readonly redis: FakePolicyRedis; readonly key: string } {
  const redis = new FakePolicyRedis()
  const text = mintKey('live')
  const hash = hashKey(text)
  const key: ApiKey = {
    key_id: 'key_a',
    organization_id: ORG,
    agent_id: 'agt_a',
    hash,
    last4: text.slice(-4),
    name: 'a',
    agent_ids: null,
    uses: ['proxy'],
    created_at: '2026-01-01T00:00:00.000Z',
    expires_at: null,
    revoked_at: null,
    revoked_by: null,
    ...change.key,
  }
  if (change.key !== null) redis.keys.set(hash, key)
  if (change.agent !== null) redis.agents.set('agt_a', anAgent(change.agent))
  redis.agents.set('agt_b', anAgent({ agent_id: 'agt_b', agent_name: 'b' }))
  for (const agent of ['agt_a', 'agt_b'])
    redis.scopes.set(agent, [{ ...SCOPE, agent_id: agent, ...change.scope }])
  const integration = anIntegration('https://api.example.com/v1', {
    integration_id: 'int_a',
    name: 'the API',
  })
  const plain = change.auth ?? TOKEN_AUTH
  const isConnected = needsConsent(plain)
  const auth = isConnected
    ? { type: 'none' as const }
    : sealAuth(keyRing, { ...integration, auth: plain })
  redis.integrations = [{ ...integration, auth, ...change.integration }]
  if (isConnected) redis.connections = [connectionOf(integration, plain)]
  return { redis, key: text }
}

/** Of the agent, with consent. */
function connectionOf(integration: Integration, auth: PlainAuth): Connection {
  const plain = {
    connection_id: 'con_a',
    organization_id: ORG,
    integration_id: 'int_a',
    name: 'a',
    subject: 'agent:agt_a' as const,
    auth,
    status: 'active' as const,
    granted_by: 'a@example.com',
    refreshed_at: null,
    created_at: '',
  }
  return { ...plain, auth: sealAuth(keyRing, ownerOfConnection(integration, plain)) }
}

export const URL_CALLED = 'https://api.example.com/v1/models/a'

function headersOf(change: CallChange, key: string): readonly Header[] {
  const { method = 'POST', url = URL_CALLED, headers = {}, body = '{}' } = change
  const all = {
    ':method': method,
    ':path': `/${url}`,
    ':authority': 'gateway.example.com',
    'content-type': 'application/json',
    'content-length': String(body.length),
    authorization: `Bearer ${key}`,
    ...headers,
  }
  return Object.entries(all)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => ({ name, value: value.replaceAll('{key}', key) }))
}

export function ioOf({ body = '{}' }: CallChange, note: (event: string) => void): CallIo {
  const held = Promise.resolve(Buffer.from(body))
  let isAsked = false
  return {
    is_over: false,
    moreTime: () => undefined,
    ended: new Promise<void>(() => undefined),
    has_body: body !== '',
    body: () => {
      if (!isAsked) note('body')
      isAsked = true
      return held
    },
    reserve: () => true,
    registerInFlight: (organization_id, agent_id) =>
      note(`in flight ${organization_id} ${agent_id}`),
    leaveInFlight: () => note('not in flight'),
  }
}

interface Around {
  readonly policy: PolicyStore
  readonly killBoard: RestrictionBoard
  readonly note: (event: string) => void
}

/** Only variables and files. */
export const storesOf = (env: Readonly<Record<string, string | undefined>>): SecretStores => ({
  env,
  egress: null as never,
  vault: null,
  aws: null,
})

function servicesOf(change: CallChange, { policy, killBoard, note }: Around): DecisionServices {
  const { rate = { kind: 'allowed', left: 7, reset_s: 3 }, token = A_TOKEN } = change
  const lease = [...(change.mayServe ?? [true])]
  return {
    policy,
    killBoard,
    uses: { note: () => undefined },
    keyedHash: (organization_id, hash) => `${organization_id} ${hash}`,
    tokens: {
      get: () => {
        note('token')
        return token
      },
      rejected: () => undefined,
    },
    references: new SecretReferences({
      refs: change.refs ?? {},
      stores: storesOf(change.env ?? {}),
      onStale: () => undefined,
      nowMs: () => 0,
      log: { warn: () => undefined, error: () => undefined },
    }),
    mayServe: () => (lease.length > 1 ? lease.shift() : lease[0]) === true,
    whyUnavailable: (error) => (error === null ? null : 'the store is full'),
    egress: { wayTo: () => ({ kind: 'direct' }) },
    connectUrl: () => 'http://admin/#/connect/token',
    mayAttach: () => change.is_held !== true,
    caughtUp: () =>
      change.has_stalled === true ? Promise.resolve().then(() => note('caught up')) : null,
    pool: poolOf(change, note),
    autoKill: async (agent, { kill_method }) => {
      note(`kill ${agent.agent_id} ${kill_method}`)
      return change.is_killed ?? true
    },
    takeRate: async ({ agent_id, scope_id, limit }) => {
      note(`rate ${agent_id} ${scope_id} ${limit}`)
      if (rate instanceof Error) throw rate
      return rate
    },
    holds: { calls: { wait: () => Promise.resolve('full' as const) }, limit_ms: 0, margin_ms: 0 },
    approvals: {
      take: async ({ agent_id, digest }, ask) => {
        note(
          `approval ${agent_id}${ask === null ? '' : ` asks for ${ask.fields.digest === digest}`}`,
        )
        return change.approval ?? { kind: ask === null ? 'none' : 'busy' }
      },
      seal: () => 'sealed',
      noteForwarded: async (_, request_id, was_sent) =>
        note(`${was_sent ? 'sent' : 'unsent'} ${request_id}`),
      edge_id: 'edge-1',
      sealState: () => 'agw.sealed',
      openState: () => null,
      spendState: () => Promise.resolve(false),
      pageOf: (request_id) => `http://console/#/requests/${request_id}`,
    },
    nowMs: () => Date.parse('2026-06-01T00:00:00.000Z'),
    settings: {
      organization_id: ORG,
      max_body_bytes: change.max_body_bytes ?? 1000,
      verdict_secret: 'the verdict secret',
      echo_origin: null,
      gateway: { hosts: ['127.0.0.1'], ports: [8080], proxy_url: null },
    },
    installation: () => change.installation ?? 'here',
  }
}

const A_TOKEN: TokenResult = { kind: 'token', token: new Secret('the-access-token') }

/** Bodies are really read; what a scan of them finds is the test's. */
function poolOf(change: CallChange, note: (event: string) => void): ScanPool {
  const pool: Pick<ScanPool, 'readBody'> = {
    readBody: (body, questions) => {
      note('read')
      if (change.is_busy === true) return { kind: 'busy', by: 'all' }
      const reading = readBody(body, { ...questions, scan: null }, null, new SearchBudget())
      const scan = change.scan ?? found({ ...CLEAN })
      const facts = { ...reading.facts, scan: questions.scan === null ? null : scan }
      return { kind: 'read', ...reading, facts }
    },
  }
  return pool as ScanPool
}
