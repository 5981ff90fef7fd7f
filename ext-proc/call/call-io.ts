/** What the decision can request from the stream. */
export interface CallIo {
  /** Whether a body follows the headers. */
  readonly has_body: boolean
  /** The call has ended, or has been cut. */
  readonly is_gone: boolean
  /**
   * Counts a body that will be held until the call is decided. False: the agent or its organization has too much held already.
   * @param agent_id empty while it is not known
   */
  reserve(organization_id: string, agent_id: string, bytes: number): boolean
  /** The whole body, buffered by Envoy until the response of the processor; empty if there is none. */
  body(): Promise<Buffer>
  /** From now on, a kill of this agent cuts the call. */
  hold(organization_id: string, agent_id: string): void
  /** The call will be refused and is the reason why its agent is killed. It keeps its own error response. */
  letGo(): void
}
