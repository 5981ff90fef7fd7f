/** A seed with the steps of its plan that matter, and what it found. */
export interface KeptSeed {
  readonly found: string
  readonly seed: number
  readonly keep: readonly number[]
  /** Of what happens by chance; that of the plan if absent. */
  readonly world?: number
}

/** Shrunk seeds that have found a wrong edit of `mutations.ts`. All hold now. A change of `plan.ts` makes other plans of them. */
export const KEPT_SEEDS: readonly KeptSeed[] = [
  { found: 'a gap in the epochs is not noticed', seed: 42, keep: [2, 3, 8, 9, 12], world: 5 },
  { found: 'a message of a newer version counts as understood', seed: 30, keep: [0, 2, 3, 5] },
  {
    found: 'a beacon renews the lease whatever its epoch',
    seed: 45,
    keep: [0, 1, 2, 3, 5, 7, 8],
    world: 1,
  },
  {
    found: 'a message is acknowledged though the store could not be read',
    seed: 19,
    keep: [0, 1, 2, 6],
  },
  {
    found: 'a change gets the number of one that the store has lost',
    seed: 121,
    keep: [3, 4, 5, 8, 9, 11, 12],
  },
  { found: 'a step of the clock makes heartbeats older', seed: 34, keep: [0, 1, 4, 8] },
  {
    found: 'heartbeats that a failover has lost end leases early',
    seed: 3345,
    keep: [0, 1, 2, 4, 7],
  },
  { found: 'a change invalidates nothing', seed: 1, keep: [21, 25, 26] },
  { found: 'calls go on without a lease', seed: 21, keep: [0, 5] },
  { found: 'the newest proof holds the lease', seed: 267, keep: [1, 2] },
  { found: 'the lease never ends', seed: 21, keep: [0, 5] },
  { found: 'a kill of a lower revision is in force again', seed: 12, keep: [0, 1, 2, 3, 4] },
  {
    found: 'a read that began before a kill lifts it, and a kill drops nothing',
    seed: 697,
    keep: [0, 1, 2, 3, 4, 5, 6, 7],
    world: 2,
  },
  { found: 'a state that the store has lost is not restored', seed: 3, keep: [2, 10] },
  { found: 'an older state of the store is taken over', seed: 26, keep: [3, 9, 18, 20] },
  { found: 'a kill cuts no calls', seed: 1, keep: [10, 13, 14] },
  {
    found:
      'a kill spares calls that are being decided, and the last look before the pass does not see it',
    seed: 1,
    keep: [4, 5],
  },
  { found: 'the lease is not looked at', seed: 75, keep: [0, 1, 2, 3] },
  {
    found: 'a fill that is in progress survives the change that makes it stale',
    seed: 376,
    keep: [0, 1, 4, 5],
  },
  {
    found:
      'a resync checks neither the agents with calls in flight nor the kills that await acknowledgement',
    seed: 19,
    keep: [0, 2, 6],
  },
  { found: 'a resync keeps the caches', seed: 9, keep: [4, 8, 9] },
  { found: 'a change does not wait for the edges', seed: 8, keep: [1, 2, 3] },
  { found: 'a change waits for a third of the lease', seed: 19, keep: [0, 1, 2, 3, 5] },
  { found: 'a silent edge does not keep a kill from being complete', seed: 19, keep: [0, 1, 2, 6] },
  { found: 'guards are not checked', seed: 1, keep: [11, 13] },
  {
    found: 'a change publishes nothing and takes no epoch',
    seed: 1,
    keep: [0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 19],
  },
  {
    found: 'a kill is finished though another process has changed its record',
    seed: 40,
    keep: [1, 3, 4, 8, 9],
  },
  { found: 'an event leaves the outbox before its deliveries are made', seed: 1, keep: [19] },
  {
    found: 'a lost claim of a delivery is not taken over',
    seed: 351,
    keep: [0, 1, 2, 3, 5, 6],
    world: 5,
  },
  { found: 'refusals that could not be written are forgotten', seed: 3, keep: [2, 17, 23] },
  { found: 'a lock cuts no calls', seed: 1000004, keep: [1, 5] },
  { found: 'a lock that the store has lost is not restored', seed: 1000008, keep: [0, 12] },
  { found: 'the end of a lock that the store has lost stands', seed: 1000039, keep: [2, 3, 5] },
  { found: 'the end of a lock is not learned from the store', seed: 1000013, keep: [7, 8] },
  {
    found: 'a change that could not be applied is forgotten',
    seed: 1000015,
    keep: [7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 24],
  },
  {
    found: 'a resync cuts no call that a lock forbids',
    seed: 1000002,
    keep: [1, 2, 9],
  },
  { found: 'a lock has no end', seed: 1000001, keep: [3, 16, 17] },
  { found: 'a lock by labels selects nothing', seed: 1000001, keep: [22, 23] },
  { found: 'a change of a selector reviews no running call', seed: 4000090, keep: [1, 8] },
  { found: 'a change of a selector is not read', seed: 4000002, keep: [1, 13] },
  { found: 'agents keep the scopes that selected them', seed: 4000006, keep: [2, 7] },
  { found: 'a selector selects every agent', seed: 4000001, keep: [8] },
  { found: 'a scope that has ended allows calls', seed: 4000003, keep: [5] },
  { found: 'a scope allows calls before it begins', seed: 4000002, keep: [1, 13] },
  { found: 'the scopes in force are those of the first call', seed: 4000007, keep: [3, 6] },
  { found: 'a scope ends by the clock of the host of the edge', seed: 4000024, keep: [2, 7] },
  {
    found: 'an approval is taken for an agent that is not as its edge knows it',
    seed: 2000676,
    keep: [3, 5, 7, 8, 9],
  },
  { found: 'an approval is taken again', seed: 2000006, keep: [4, 8] },
  { found: 'an approval outlives a kill', seed: 2001103, keep: [1, 2, 3, 8, 9] },
  // Of the checker: a kill cuts a call whose first refusal was only counted.
  {
    found: 'a counted refusal has an entry of its own',
    seed: 2000002,
    keep: [4, 7, 8, 9, 10, 13, 15],
  },
  { found: 'an approval outlives the run of the store', seed: 2000025, keep: [0, 1, 2, 3, 8] },
  { found: 'a token request is not announced', seed: 3000005, keep: [0, 1, 3, 4] },
  {
    found: 'a refresh token that may have been used is used again',
    seed: 3000196,
    keep: [18, 22, 23, 29],
  },
  {
    found: 'a grant is replaced though another process has changed it',
    seed: 3000005,
    keep: [0, 1, 3, 4],
  },
  {
    found: 'a grant is ended though another process has renewed it',
    seed: 3000009,
    keep: [8],
  },
  { found: 'a step of the clock keeps an access token in use', seed: 3000012, keep: [2, 3, 4] },
  {
    found: 'the answer to a request whose announcement is lost is thrown away',
    seed: 3000115,
    keep: [1, 6],
  },
  {
    found: 'a running call outlives the end of a scope with end_streams',
    seed: 4000924,
    keep: [2, 3],
  },
  { found: 'a review ends what may outlive the end of its scope', seed: 4000246, keep: [0, 1, 9] },
  { found: 'a changed end does not end running calls', seed: 4000251, keep: [2, 7] },
  { found: 'a change of labels reviews no running call', seed: 4000137, keep: [1, 5] },
  { found: 'an approval has no end', seed: 2000016, keep: [0, 1, 2, 3] },
  {
    found: 'a call that took an approval is noted as sent though it is refused',
    seed: 2000006,
    keep: [4, 5, 6],
  },
]
