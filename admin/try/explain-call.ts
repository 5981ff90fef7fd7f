import { admit } from '../../core/decision/admit.ts'
import type { Admission } from '../../core/decision/admission.ts'
import { admitBody } from '../../core/decision/admit-body.ts'
import type { AgentFacts } from '../../core/decision/admission-facts.ts'
import type { IntegrationTable } from '../../core/decision/compile-integrations.ts'
import { type BodyQuestions, readBody } from '../../core/inspection/read-body.ts'
import { isBatchPath } from '../../core/request/batch.ts'
import type { ApiKey } from '../../core/catalogue/model.ts'
import type { Header } from '../../core/request/header.ts'
import type { LockTable } from '../../core/decision/locks.ts'
import type { UnlistedFacts } from '../../core/decision/unlisted-hosts.ts'
import { parseTarget } from '../../core/request/parse-target.ts'
import { SearchBudget } from '../../core/scanner/text/search-budget.ts'
import { type Explanation, explanation } from './explanation.ts'

export const METHOD_PATTERN = "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,32}$"
export const URL_LENGTH_MAX = 16_384

export interface Question {
  readonly method: string
  /** The absolute target URL as the operator gave it. */
  readonly url: string
  /** Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Default: none. */
  readonly body?: string | undefined
  readonly agent: AgentFacts
  readonly integrations: IntegrationTable
  /** Default: none. */
  readonly locks?: LockTable
  /** Of an agent that asks itself; null, the default: an operator asks. */
  readonly key?: ApiKey | null
  /** For a call through the forward proxy; default: it is made by base URL. */
  readonly unlisted?: UnlistedFacts
  readonly now_ms: number
}

/** The decision on a call of the agent. What a body names counts even where an edge would not have to read it. */
export const explainCall = (question: Question): Explanation => explanation(admitQuestion(question))

export function admitQuestion(question: Question): Admission {
  const { method, url, agent, integrations, locks, key = null, now_ms, body = null } = question
  const { unlisted } = question
  const headers = headersOf(question)
  const valueOf = (wanted: string): readonly string[] =>
    headers.filter(({ name }) => name === wanted).map(({ value }) => value)
  const [protocol] = valueOf('upgrade')
  const admission = admit({
    request: {
      method,
      target: parseTarget(`/${latin1(url)}`),
      headers,
      upgrade:
        protocol === undefined
          ? null
          : protocol.toLowerCase() === 'websocket' && method === 'GET'
            ? 'websocket'
            : 'other',
      named_agents: [],
      named_users: valueOf('x-agw-user'),
      is_proxied: unlisted !== undefined,
      installation: '',
    },
    now_ms,
    caller: { kind: 'assumed', key },
    integrations,
    agent,
    ...(unlisted === undefined ? {} : { unlisted }),
    locks: locks === undefined ? null : { table: locks, at_ms: now_ms },
  })
  if (admission.kind !== 'admitted' || body === null) return admission
  const questions = {
    ...OVERRIDES_ALONE,
    content_type: valueOf('content-type').join(', '),
    is_batch_path: isBatchPath(admission.target.segments),
  }
  const { overrides } = readBody(Buffer.from(body), questions, null, new SearchBudget()).facts
  return admitBody(admission, overrides) ?? admission
}

/** Of a body that is text, and short. */
const OVERRIDES_ALONE: Omit<BodyQuestions, 'content_type'> = {
  content_encoding: null,
  limit_bytes: Number.MAX_SAFE_INTEGER,
  identity: null,
  asks_overrides: true,
  json_rpc: null,
  keeps_body: false,
  scan: null,
}

const latin1 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

/** As Envoy sends them to an edge. */
const headersOf = ({ method, headers = {} }: Question): readonly Header[] => [
  { name: ':method', value: method },
  ...Object.entries(headers).map(([name, value]) => ({
    name: name.toLowerCase(),
    value: latin1(value.trim()),
  })),
]
