import type { EnvoyStream } from '../../ext-proc/envoy/start-server.ts'
import { FakeEnvoyStream } from '../kit/fake-envoy-stream.ts'
import type { SimEdge } from './sim-edge.ts'
import type { Step } from './plan.ts'

/** What came of a call, as Envoy sees it. */
export type CallState = 'deciding' | 'passed' | 'refused' | 'cut' | 'ended'

/** One call: Envoy's side, and what it has seen of the decision. */
export class SimCall extends FakeEnvoyStream {
  readonly request_id: string
  readonly edge: SimEdge
  readonly step: Extract<Step, { kind: 'call' }>
  readonly incarnation: number
  readonly arrived_ms: number
  state: CallState = 'deciding'
  reason = ''
  /** Of the credential that the pass attaches. */
  version = 0
  decided_ms = 0
  /** Its edge knew when it arrived that its agent is killed. */
  is_known_killed = false
  onDecided: (call: SimCall) => void = () => undefined

  constructor(edge: SimEdge, step: Extract<Step, { kind: 'call' }>, number: number) {
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
    const message = this.messages.at(-1)
    if (!this.isOpen) return
    const wasPassed = this.state === 'passed'
    if (message.response === 'immediate_response') {
      this.reason = message.immediate_response.details
      this.state = wasPassed ? 'cut' : 'refused'
    } else if (message.response === 'request_headers' && !wasPassed) {
      const { set_headers } = message.request_headers.response.header_mutation
      const named = Object.fromEntries(
        set_headers.map(({ header }: any) => [header.key, String(header.raw_value)]),
      )
      this.version = Number(/secret-(\d+)$/.exec(named['authorization'] ?? '')?.[1] ?? -1)
      this.state = 'passed'
    } else return
    this.decided_ms = this.edge.process.world.now_ms
    this.onDecided(this)
  }
}
