import type { EnvoyStream } from '../../ext-proc/envoy/start-server.ts'
import { ORIGIN } from './deployment.ts'
import { FakeEnvoyStream } from '../kit/fake-envoy-stream.ts'
import type { SimEdge } from './sim-edge.ts'
import type { Step } from './plan.ts'
import { Violation } from './world.ts'

export type CallStep = Pick<
  Extract<Step, { kind: 'calls' }>,
  'edge' | 'agent' | 'key' | 'lasts_ms' | 'path' | 'method' | 'item' | 'wait_s'
>

/** Of the credentials of `deployment.ts`. */
const SECRET = 'secret-'
const UPSTREAM = new URL(ORIGIN).host

/** What came of a call, as Envoy sees it. */
export type CallState = 'deciding' | 'passed' | 'refused' | 'cut' | 'ended'

/** One call: Envoy's side, and what it has seen of the decision. */
export class SimCall extends FakeEnvoyStream {
  readonly request_id: string
  readonly edge: SimEdge
  readonly step: CallStep
  readonly incarnation: number
  readonly arrived_ms: number
  state: CallState = 'deciding'
  reason = ''
  /** Of the credential that the pass attaches. */
  version = 0
  decided_ms = 0
  /** Its stream has ended. */
  hasEnded = false
  /** Its edge knew when it arrived that its agent is killed. */
  is_known_killed = false
  /** Its refusal is one of many, which are counted. */
  isCounted = false
  onDecided: (call: SimCall) => void = () => undefined

  constructor(edge: SimEdge, step: CallStep, number: number) {
    super(true)
    this.edge = edge
    this.step = step
    this.request_id = `call-${number}`
    this.incarnation = edge.process.incarnation
    this.arrived_ms = edge.process.world.now_ms
  }

  get isOpen(): boolean {
    return this.state === 'deciding' || this.state === 'passed'
  }

  override get stream(): EnvoyStream {
    return this as unknown as EnvoyStream
  }

  override write(bytes: Buffer): void {
    super.write(bytes)
    const { messages, edge, state } = this
    const message = messages.at(-1)
    if (message.response === 'immediate_response') {
      if (!this.isOpen) return
      this.reason = message.immediate_response.details
      this.state = state === 'passed' ? 'cut' : 'refused'
      if (bytes.includes(SECRET)) this.#violate('credential: in a refusal')
    } else if (message.response === 'request_headers' && state !== 'passed') {
      if (state !== 'deciding') this.#violate('pass: after a refusal')
      const { set_headers } = message.request_headers.response.header_mutation
      const named = Object.fromEntries(
        set_headers.map(({ header }: any) => [header.key, String(header.raw_value)]),
      )
      this.version = Number(/secret-(\d+)$/.exec(named['authorization'] ?? '')?.[1] ?? -1)
      // What the route to an API asks for, and where the credential goes.
      if (named['x-agw-pass'] !== 'pass') this.#violate('pass: without the verdict')
      if (named['x-agw-host'] !== UPSTREAM) this.#violate('credential: for another host')
      this.state = 'passed'
    } else {
      if (bytes.includes(SECRET)) this.#violate('credential: outside of a pass')
      return
    }
    this.decided_ms = edge.process.world.now_ms
    this.onDecided(this)
  }

  #violate(rule: string): void {
    this.edge.process.world.fail(new Violation(rule, this.request_id))
  }
}
