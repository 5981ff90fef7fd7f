import type { Subject } from './subject.ts'

interface Edit {
  readonly file: string
  /** Occurs once in the file. */
  readonly find: string
  readonly replace: string
}

/** A wrong edit of the protocol code, or two at once where either guard covers what the other one lets through. */
export interface Mutation extends Edit {
  readonly name: string
  /** Whose seeds find it; kills if absent. */
  readonly subject?: Subject
  readonly also?: Edit
}

const LINK = 'ext-proc/fleet/edge-link.ts'
const LEDGER = 'ext-proc/kill/state-ledger.ts'
const BEATS = 'core/lua/include/edge-beats.lua'
const PUBLISH = 'core/lua/include/publish-change.lua'
const LEASE = 'ext-proc/fleet/liveness-lease.ts'
const BOARD = 'ext-proc/kill/restriction-board.ts'
const REVIEWS = 'ext-proc/kill/review-queue.ts'
const POLICY = 'ext-proc/policy/policy-store.ts'
const IN_FORCE = 'core/decision/scopes-in-force.ts'
const TAKE = 'core/lua/take-approval.lua'
const REFRESH = 'core/oauth/refresh-grant.ts'

export const editsOf = ({ name, also, ...edit }: Mutation) =>
  (also === undefined ? [edit] : [edit, also]).map((one) => ({ name, ...one }))

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'a gap in the epochs is not noticed',
    file: LINK,
    find: 'message.is_understood && message.after === this.#epoch',
    replace: 'message.is_understood && this.#epoch !== null',
  },
  {
    name: 'a message of a newer version counts as understood',
    file: LINK,
    find: 'message.is_understood && message.after',
    replace: 'message.after',
  },
  {
    name: 'a beacon renews the lease whatever its epoch',
    file: LINK,
    find: 'if (message.epoch !== this.#epoch) void this.#catchUp',
    replace: 'if (this.#epoch === null) void this.#catchUp',
  },
  {
    name: 'a message is acknowledged though the store could not be read',
    file: LINK,
    find: 'if (!isReady) return\n',
    replace: '',
  },
  {
    name: 'a change gets the number of one that the store has lost',
    file: PUBLISH,
    find: 'local epoch = now[1] * 1000000 + now[2]',
    replace: 'local epoch = before + 1',
  },
  {
    name: 'a step of the clock makes heartbeats older',
    file: BEATS,
    find: 'passed_ms < 0 and passed_ms or passed_ms - LOOK_MS, found',
    replace: '0, found',
  },
  {
    name: 'heartbeats that a failover has lost end leases early',
    file: BEATS,
    find: 'if run ~= found then return now_ms, now_ms, found end',
    replace: '',
  },
  {
    name: 'a change invalidates nothing',
    file: LINK,
    find: 'else this.#parts.drop(target)',
    replace: 'else void target',
  },
  {
    name: 'calls go on without a lease',
    file: LINK,
    find: 'if (inFlight.size > 0 && !lease.isHeld) inFlight',
    replace: 'if (inFlight.size < 0) inFlight',
  },
  {
    name: 'the newest proof holds the lease',
    file: LEASE,
    find: 'return Math.min(beacon, ping, beat)',
    replace: 'return Math.max(beacon, ping, beat)',
  },
  {
    name: 'the lease never ends',
    file: LEASE,
    find: 'return this.left_ms > 0',
    replace: 'return this.left_ms > -1e9',
  },
  {
    name: 'a kill of a lower revision is in force again',
    file: LEDGER,
    find: 'if (known !== undefined && known.state.revision >= said.revision)',
    replace: 'if (known !== undefined && known.state.revision === said.revision)',
  },
  // Each call after a kill reads its agent again, and learns of the kill.
  {
    name: 'a read that began before a kill lifts it, and a kill drops nothing',
    file: LEDGER,
    find: 'if (since < known.received) return\n    const { before, state }',
    replace: 'const { before, state }',
    also: {
      file: 'ext-proc/kill/enforce-kill.ts',
      find: 'policy.drop(target)',
      replace: 'if (target.what !== "kill") policy.drop(target)',
    },
  },
  {
    name: 'a state that the store has lost is not restored',
    file: LEDGER,
    find: '    this.#rules.onLost(key, lost)\n',
    replace: '    void lost\n',
  },
  {
    name: 'an older state of the store is taken over',
    file: LEDGER,
    find: 'if (known === undefined || found.revision >= known.state.revision) {',
    replace: 'if (known === undefined || found.revision > 0) {',
  },
  {
    name: 'a kill cuts no calls',
    file: 'ext-proc/kill/enforce-kill.ts',
    find: "received === 'outdated'\n          ? NONE_CUT\n          : inFlight",
    replace: "received !== 'outdated'\n          ? NONE_CUT\n          : inFlight",
  },
  // A cut ends calls that are being decided, so the last look finds none of them.
  {
    name: 'a kill spares calls that are being decided, and the last look before the pass does not see it',
    file: 'ext-proc/call/forward-call.ts',
    find: 'if (killed_at !== null) return deny',
    replace: 'if (killed_at === "") return deny',
    also: {
      file: 'ext-proc/kill/calls-in-flight.ts',
      find: 'if (!call.cut(why) ||',
      replace: 'if (call.passed_ms === null || !call.cut(why) ||',
    },
  },
  // The first look refuses whatever comes later; the last one what was begun before, which the end of the lease cuts as well.
  {
    name: 'the lease is not looked at',
    file: 'ext-proc/call/forward-call.ts',
    find: 'if (!mayServe()) return deny',
    replace: 'if (mayServe() && false) return deny',
    also: {
      file: 'ext-proc/call/decide-call.ts',
      find: 'if (!services.mayServe())',
      replace: 'if (services.mayServe() && false)',
    },
  },
  {
    name: 'a fill that is in progress survives the change that makes it stale',
    file: 'ext-proc/policy/fill-cache.ts',
    find: 'this.#bytes -= this.#entries.get(key)?.bytes ?? 0',
    replace: 'if (this.#entries.get(key)?.value === undefined) return',
    // One that failed is gone all the same.
    also: {
      file: 'ext-proc/policy/fill-cache.ts',
      find: 'if (this.#entries.get(key) === entry) this.drop(key)',
      replace: 'if (this.#entries.get(key) === entry) this.#entries.delete(key)',
    },
  },
  // A kill whose message an edge has missed awaits its acknowledgement, so its agent is read in any case.
  {
    name: 'a resync checks neither the agents with calls in flight nor the kills that await acknowledgement',
    file: 'ext-proc/kill/resync.ts',
    find: '[...killBoard.toConfirm(), ...inFlight.agents()]',
    replace: '[...killBoard.toConfirm()]',
    also: {
      file: 'ext-proc/kill/resync.ts',
      find: 'for (const [, { organization_id, agent_id }] of waited)',
      replace: 'for (const [, { organization_id, agent_id }] of waited.slice(waited.length))',
    },
  },
  {
    name: 'a resync keeps the caches',
    file: 'ext-proc/kill/resync.ts',
    find: '  policy.clear()\n',
    replace: '  void policy\n',
  },
  {
    name: 'a change does not wait for the edges',
    file: 'admin/changes/carry-out.ts',
    find: 'if (targets.length > 0) await waitForEdges',
    replace: 'if (targets.length > 99) await waitForEdges',
  },
  {
    name: 'a change waits for a third of the lease',
    file: 'admin/changes/wait-for-edges.ts',
    find: 'settings.killLease_ms + LEASE_MARGIN_MS',
    replace: 'settings.killLease_ms / 3',
  },
  {
    name: 'a silent edge does not keep a kill from being complete',
    file: 'core/kill/await-edges.ts',
    find: 'complete: unheard.length === 0 &&',
    replace: 'complete: unheard.length >= 0 &&',
  },
  {
    name: 'guards are not checked',
    file: 'core/lua/include/apply-change.lua',
    find: 'elseif found ~= expected then',
    replace: 'elseif false then',
  },
  {
    name: 'a change publishes nothing and takes no epoch',
    file: 'core/lua/include/publish-change.lua',
    find: "redis.call('SET', KEYS[1], text)",
    replace: 'epoch, text = before, string.format("%.0f", before)',
  },
  {
    name: 'a kill is finished though another process has changed its record',
    file: 'core/lua/finish-kill.lua',
    find: 'if not found or found ~= ARGV[2] then return 0 end',
    replace: 'if not found then return 0 end',
  },
  {
    name: 'an event leaves the outbox before its deliveries are made',
    file: 'core/lua/relay-event.lua',
    find: 'if wanted == 0 then return {0, 0} end',
    replace: 'if wanted >= 0 then return {0, 0} end',
  },
  {
    name: 'a lost claim of a delivery is not taken over',
    file: 'core/lua/claim-deliveries.lua',
    find: "redis.call('ZADD', QUEUE .. webhook, now_ms, lost)",
    replace: 'local _ = lost',
  },
  {
    name: 'refusals that could not be written are forgotten',
    file: 'ext-proc/record/activity-recorder.ts',
    find: 'if (!this.#refusals.add({ organization_id, id: entry.id, line, may_be_there }))',
    replace: 'if (may_be_there && line === "")',
  },
  {
    name: 'a lock cuts no calls',
    subject: 'locks',
    file: 'ext-proc/kill/enforce-kill.ts',
    find: "received === 'outdated' ? NONE_CUT : cutLocked",
    replace: "received !== 'outdated' ? NONE_CUT : cutLocked",
  },
  {
    name: 'a lock that the store has lost is not restored',
    subject: 'locks',
    file: BOARD,
    find: 'if (lock !== null) lost.lock(lock)',
    replace: 'void lock',
  },
  {
    name: 'the end of a lock that the store has lost stands',
    subject: 'locks',
    file: BOARD,
    find: 'yields: ({ lock }) => lock === null',
    replace: 'yields: () => false',
  },
  {
    name: 'the end of a lock is not learned from the store',
    subject: 'locks',
    file: 'ext-proc/kill/verify-locks.ts',
    find: 'if (lifted[at] != null) killBoard',
    replace: 'if (lifted[at] === undefined) killBoard',
  },
  {
    name: 'a change that could not be applied is forgotten',
    subject: 'locks',
    file: LINK,
    find: '        this.#epoch = null\n        this.#parts.log.warn(\n          { error: String(error), epoch }',
    replace: '        this.#parts.log.warn(\n          { error: String(error), epoch }',
  },
  {
    name: 'a resync cuts no call that a lock forbids',
    subject: 'locks',
    file: 'ext-proc/kill/resync.ts',
    find: 'if (lock === null) continue',
    replace: 'if (lock === null || at_ms > 0) continue',
    also: {
      file: 'ext-proc/kill/resync.ts',
      find: 'if (killBoard.hasLock(lock))',
      replace: 'if (killBoard.hasLock(lock) && waited.length < 0)',
    },
  },
  {
    name: 'a lock has no end',
    subject: 'locks',
    file: 'core/decision/locks.ts',
    find: 'if (one.until_ms <= at_ms || (modes',
    replace: 'if ((modes',
  },
  {
    name: 'a lock by labels selects nothing',
    subject: 'locks',
    file: 'core/decision/locks.ts',
    find: 'for (const one of selectedBy(table, agent.labels)) look(one)',
    replace: '',
  },
  {
    name: 'a scope that has ended allows calls',
    subject: 'scopes',
    file: IN_FORCE,
    find: '  from_ms <= at_ms && at_ms < until_ms\n',
    replace: '  from_ms <= at_ms || until_ms < 0\n',
  },
  {
    name: 'a scope allows calls before it begins',
    subject: 'scopes',
    file: IN_FORCE,
    find: '  from_ms <= at_ms && at_ms < until_ms\n',
    replace: '  from_ms < until_ms && at_ms < until_ms\n',
  },
  {
    name: 'the scopes in force are those of the first call',
    subject: 'scopes',
    file: IN_FORCE,
    find: 'if (known?.phase === phase)',
    replace: 'if (known !== undefined)',
  },
  {
    name: 'a scope ends by the clock of the host of the edge',
    subject: 'scopes',
    file: 'core/control/store-clock.ts',
    find: 'Math.floor(this.#steadyMs() + this.#ahead_ms)',
    replace: 'Date.now() + 0 * this.#ahead_ms',
  },
  {
    name: 'a running call outlives the end of a scope with end_streams',
    subject: 'scopes',
    file: REVIEWS,
    find: 'if (call.standing?.ends_ms == null) return',
    replace: 'if (call.standing !== undefined) return',
  },
  {
    name: 'a review ends what may outlive the end of its scope',
    subject: 'scopes',
    file: 'ext-proc/call/review-call.ts',
    find: 'endsByItself(agent.scopes, scope) ? now_ms : nowMs()',
    replace: 'endsByItself(agent.scopes, scope) ? nowMs() : nowMs()',
  },
  {
    name: 'a changed end does not end running calls',
    subject: 'scopes',
    file: 'ext-proc/call/review-call.ts',
    find: 'endsByItself(agent.scopes, scope) ? now_ms : nowMs()',
    replace: 'endsByItself(agent.scopes, scope) ? now_ms : now_ms',
  },
  {
    name: 'a change of labels reviews no running call',
    subject: 'scopes',
    file: REVIEWS,
    find: 'return `agent ${target.organization_id} ${target.agent_id}`',
    replace: 'return null',
  },
  {
    name: 'a change of a selector reviews no running call',
    subject: 'scopes',
    file: REVIEWS,
    find: "    case 'scopes':\n      return `organization ${target.organization_id}`\n",
    replace: "      return `organization ${target.organization_id}`\n    case 'scopes':\n",
  },
  {
    name: 'a change of a selector is not read',
    subject: 'scopes',
    file: POLICY,
    find: 'this.#shared.drop(target.organization_id)',
    replace: 'void target',
  },
  {
    name: 'agents keep the scopes that selected them',
    subject: 'scopes',
    file: POLICY,
    find: 'this.#agents.dropAll(`${target.organization_id} `)',
    replace: 'void target',
  },
  {
    name: 'a selector selects every agent',
    subject: 'scopes',
    file: POLICY,
    find: 'matchesSelector(scope.agent_selector, agent.labels)',
    replace: 'scope.agent_selector !== null',
  },
  {
    name: 'an approval is taken again',
    subject: 'approvals',
    file: TAKE,
    find: 'status and not consumed and not scope_id',
    replace: 'status and not scope_id',
  },
  {
    name: 'an approval outlives a kill',
    subject: 'approvals',
    file: TAKE,
    find: 'not scope_id and revision == plan.revision\n',
    replace: 'not scope_id\n',
  },
  {
    name: 'an approval is taken for an agent that is not as its edge knows it',
    subject: 'approvals',
    file: TAKE,
    find: "or agent.status ~= 'active' or ms(agent.revision or -1) ~= plan.revision then",
    replace: 'then',
  },
  {
    name: 'an approval outlives the run of the store',
    subject: 'approvals',
    file: TAKE,
    find: 'approved_run == runOfStore() and',
    replace: '',
  },
  {
    name: 'an approval has no end',
    subject: 'approvals',
    file: TAKE,
    find: 'tonumber(deadline) <= now) then',
    replace: 'tonumber(deadline) <= 0) then',
    also: {
      file: TAKE,
      find: "KEYS[2], '-inf', ms(now), 'LIMIT'",
      replace: "KEYS[2], '-inf', '0', 'LIMIT'",
    },
  },
  {
    name: 'a call that took an approval is noted as sent though it is refused',
    subject: 'approvals',
    file: 'ext-proc/call/check-approval.ts',
    find: 'await note(false)',
    replace: 'await note(true)',
  },
  {
    name: 'a token request is not announced',
    subject: 'refresh',
    file: REFRESH,
    find: 'announced = await swapGrant(redis, owner, text, started)',
    replace: 'announced = text',
  },
  {
    name: 'a refresh token that may have been used is used again',
    subject: 'refresh',
    file: REFRESH,
    find: 'if (grant.sent_ms === null) return',
    replace: 'if (grant.sent_ms !== -1) return',
  },
  {
    name: 'a grant is replaced though another process has changed it',
    subject: 'refresh',
    file: 'core/lua/swap-grant.lua',
    find: 'if found ~= ARGV[2] then return 0 end',
    replace: 'local _ = found',
  },
  {
    name: 'a grant is ended though another process has renewed it',
    subject: 'refresh',
    file: 'core/oauth/end-grant.ts',
    find: "guards: [['HGET', grants, connection_id, text]],",
    replace: 'guards: [],',
  },
  {
    name: 'a step of the clock keeps an access token in use',
    subject: 'refresh',
    file: 'core/oauth/grant.ts',
    find: ' && now_ms >= grant.issued_ms - STEP_MS\n',
    replace: '\n',
  },
  {
    name: 'the answer to a request whose announcement is lost is thrown away',
    subject: 'refresh',
    file: REFRESH,
    find: '[announced, text], next',
    replace: '[announced], next',
  },
]
