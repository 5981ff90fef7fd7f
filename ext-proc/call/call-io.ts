/** What the decision may ask of the stream. */
export interface CallIo {
  /** Whether a body follows the headers. */
  readonly has_body: boolean
  /** The whole body, held by Envoy until the answer; empty when there is none. */
  body(): Promise<Buffer>
  /** From now on a kill of this agent ends the call. */
  hold(organization_id: string, agent_id: string): void
  /** The call will be refused, and is what its agent is killed for: it keeps its own answer. */
  letGo(): void
}
