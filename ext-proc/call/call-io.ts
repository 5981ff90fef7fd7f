/** The check for which a body is buffered: the first of those that read it. */
export type BodyReader =
  | 'agent_id'
  | 'scan'
  | 'tools'
  | 'mcp_headers'
  | 'signature'
  | 'overrides'
  | 'lock'
  | 'approval'

/** What the decision can request from the stream. */
export interface CallIo {
  /** Whether a body follows the headers. */
  readonly has_body: boolean
  /** The call has ended, or has been cut. */
  readonly is_over: boolean
  /**
   * Counts a body that will be held until the call is decided. False: the agent or its organization has too much held already.
   * @param agent_id empty while it is not known
   */
  reserve(organization_id: string, agent_id: string, bytes: number): boolean
  /**
   * The whole body, buffered by Envoy until the response of the processor; empty if there is none.
   * @param held_by the check that reads it
   */
  body(held_by: BodyReader): Promise<Buffer>
  /**
   * Lets Envoy wait longer for the decision; used once, when the body is there.
   * @param ms from now
   */
  moreTime(ms: number): void
  /** Resolves when the call has ended, be it that its caller has left. */
  readonly ended: Promise<void>
  /** Adds the call to the calls in flight of this agent: from now on, a kill of the agent cuts it. */
  registerInFlight(organization_id: string, agent_id: string): void
  /** For a call that is itself the reason for the kill of its agent: the kill does not cut it, and it keeps its own refusal. */
  leaveInFlight(): void
}
