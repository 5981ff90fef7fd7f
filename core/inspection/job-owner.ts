/** The agent whose body is read in a scan process, so that these are shared fairly. */
export interface JobOwner {
  readonly organization_id: string
  /** Empty while it is not known. */
  readonly agent_id: string
  /** The caller has left, so the result is not needed. */
  isGone(): boolean
}
