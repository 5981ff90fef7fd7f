import { admit } from '../../core/decision/admit.ts'
import type { AgentFacts } from '../../core/decision/admission-facts.ts'
import type { IntegrationTable } from '../../core/policy/compile-integrations.ts'
import { parseTarget } from '../../core/policy/parse-target.ts'
import { type Explanation, explanation } from './explanation.ts'

export interface Question {
  readonly method: string
  /** The absolute target URL as the operator gave it. */
  readonly url: string
  readonly agent: AgentFacts
  readonly integrations: IntegrationTable
  readonly now_ms: number
}

/** The decision on a call of the agent without further headers. */
export const explainCall = ({ method, url, agent, integrations, now_ms }: Question): Explanation =>
  explanation(
    admit({
      request: {
        method,
        target: parseTarget(`/${Buffer.from(url, 'utf8').toString('latin1')}`),
        headers: [],
        upgrade: null,
        named_agents: [],
        installation: '',
      },
      now_ms,
      caller: { kind: 'assumed' },
      integrations,
      agent,
    }),
  )
