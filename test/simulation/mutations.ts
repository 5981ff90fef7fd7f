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
  /** Whose seeds find it. */
  readonly subject: Subject
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

/** By name: the text, what takes its place, and another edit. */
const inFile = (
  subject: Subject,
  file: string,
  edits: Readonly<Record<string, readonly [find: string, replace: string, also?: Edit]>>,
): Mutation[] =>
  Object.entries(edits).map(([name, [find, replace, also]]) => ({
    name,
    subject,
    file,
    find,
    replace,
    ...(also === undefined ? {} : { also }),
  }))

export const MUTATIONS: readonly Mutation[] = [
  ...inFile('kills', LINK, {
    'a gap in the epochs is not noticed': [
      'message.is_understood && message.after === this.#epoch',
      'message.is_understood && this.#epoch !== null',
    ],
    'a message of a newer version counts as understood': [
      'message.is_understood && message.after',
      'message.after',
    ],
    'a beacon renews the lease whatever its epoch': [
      'if (message.epoch !== this.#epoch) void this.#catchUp',
      'if (this.#epoch === null) void this.#catchUp',
    ],
    'a message is acknowledged though the store could not be read': ['if (!isReady) return\n', ''],
    'a change invalidates nothing': ['else this.#parts.drop(target)', 'else void target'],
    'calls go on without a lease': [
      'if (inFlight.size > 0 && !lease.isHeld) inFlight',
      'if (inFlight.size < 0) inFlight',
    ],
  }),
  ...inFile('kills', PUBLISH, {
    'a change gets the number of one that the store has lost': [
      'local epoch = now[1] * 1000000 + now[2]',
      'local epoch = before + 1',
    ],
  }),
  ...inFile('kills', BEATS, {
    'a step of the clock makes heartbeats older': [
      'passed_ms < 0 and passed_ms or passed_ms - LOOK_MS, found',
      '0, found',
    ],
    'heartbeats that a failover has lost end leases early': [
      'if run ~= found then return now_ms, now_ms, found end',
      '',
    ],
  }),
  ...inFile('kills', LEASE, {
    'the newest proof holds the lease': [
      'return Math.min(beacon, ping, beat)',
      'return Math.max(beacon, ping, beat)',
    ],
    'the lease never ends': ['return this.left_ms > 0', 'return this.left_ms > -1e9'],
  }),
  ...inFile('kills', LEDGER, {
    'a kill of a lower revision is in force again': [
      'if (known !== undefined && known.state.revision >= said.revision)',
      'if (known !== undefined && known.state.revision === said.revision)',
    ],
    // Each call after a kill reads its agent again, and learns of the kill.
    'a read that began before a kill lifts it, and a kill drops nothing': [
      'if (since < known.received) return\n    const { before, state }',
      'const { before, state }',
      {
        file: 'ext-proc/kill/enforce-kill.ts',
        find: 'policy.drop(target)',
        replace: 'if (target.what !== "kill") policy.drop(target)',
      },
    ],
    'a state that the store has lost is not restored': [
      '    this.#rules.onLost(key, lost)\n',
      '    void lost\n',
    ],
    'an older state of the store is taken over': [
      'if (known === undefined || found.revision >= known.state.revision) {',
      'if (known === undefined || found.revision > 0) {',
    ],
  }),
  ...inFile('kills', 'ext-proc/kill/enforce-kill.ts', {
    'a kill cuts no calls': [
      "received === 'outdated'\n          ? NONE_CUT\n          : inFlight",
      "received !== 'outdated'\n          ? NONE_CUT\n          : inFlight",
    ],
  }),
  ...inFile('kills', 'ext-proc/call/forward-call.ts', {
    // A cut ends calls that are being decided, so the last look finds none of them.
    'a kill spares calls that are being decided, and the last look before the pass does not see it':
      [
        'if (killed_at !== null) return deny',
        'if (killed_at === "") return deny',
        {
          file: 'ext-proc/kill/calls-in-flight.ts',
          find: 'if (!call.cut(why) ||',
          replace: 'if (call.passed_ms === null || !call.cut(why) ||',
        },
      ],
    // The first look refuses whatever comes later; the last one what was begun before, which the end of the lease cuts as well.
    'the lease is not looked at': [
      'if (!mayServe()) return deny',
      'if (mayServe() && false) return deny',
      {
        file: 'ext-proc/call/decide-call.ts',
        find: 'if (!services.mayServe())',
        replace: 'if (services.mayServe() && false)',
      },
    ],
  }),
  ...inFile('kills', 'ext-proc/policy/fill-cache.ts', {
    'a fill that is in progress survives the change that makes it stale': [
      'this.#bytes -= this.#entries.get(key)?.bytes ?? 0',
      'if (this.#entries.get(key)?.value === undefined) return',
      // One that failed is gone too.
      {
        file: 'ext-proc/policy/fill-cache.ts',
        find: 'if (this.#entries.get(key) === entry) this.drop(key)',
        replace: 'if (this.#entries.get(key) === entry) this.#entries.delete(key)',
      },
    ],
  }),
  ...inFile('kills', 'ext-proc/kill/resync.ts', {
    // A kill whose message an edge has missed awaits its acknowledgement, so its agent is read in any case.
    'a resync checks neither the agents with calls in flight nor the kills that await acknowledgement':
      [
        '[...killBoard.toConfirm(), ...inFlight.agents()]',
        '[...killBoard.toConfirm()]',
        {
          file: 'ext-proc/kill/resync.ts',
          find: 'for (const [, { organization_id, agent_id }] of waited)',
          replace: 'for (const [, { organization_id, agent_id }] of waited.slice(waited.length))',
        },
      ],
    'a resync keeps the caches': ['  policy.clear()\n', '  void policy\n'],
  }),
  ...inFile('kills', 'admin/changes/carry-out.ts', {
    'a change does not wait for the edges': [
      'if (targets.length > 0) await waitForEdges',
      'if (targets.length > 99) await waitForEdges',
    ],
  }),
  ...inFile('kills', 'admin/changes/wait-for-edges.ts', {
    'a change waits for a third of the lease': [
      'settings.killLease_ms + LEASE_MARGIN_MS',
      'settings.killLease_ms / 3',
    ],
  }),
  ...inFile('kills', 'core/kill/await-edges.ts', {
    'a silent edge does not keep a kill from being complete': [
      'complete: unheard.length === 0 &&',
      'complete: unheard.length >= 0 &&',
    ],
  }),
  ...inFile('kills', 'core/lua/include/apply-change.lua', {
    'guards are not checked': ['elseif found ~= expected then', 'elseif false then'],
  }),
  ...inFile('kills', 'core/lua/include/publish-change.lua', {
    'a change publishes nothing and takes no epoch': [
      "redis.call('SET', KEYS[1], text)",
      'epoch, text = before, string.format("%.0f", before)',
    ],
  }),
  ...inFile('kills', 'core/lua/finish-kill.lua', {
    'a kill is finished though another process has changed its record': [
      'if not found or found ~= ARGV[2] then return 0 end',
      'if not found then return 0 end',
    ],
  }),
  ...inFile('kills', 'core/lua/relay-event.lua', {
    'an event leaves the outbox before its deliveries are made': [
      'if wanted == 0 then return {0, 0} end',
      'if wanted >= 0 then return {0, 0} end',
    ],
  }),
  ...inFile('kills', 'core/lua/claim-deliveries.lua', {
    'a lost claim of a delivery is not taken over': [
      "redis.call('ZADD', QUEUE .. webhook, now_ms, lost)",
      'local _ = lost',
    ],
  }),
  ...inFile('kills', 'ext-proc/record/activity-recorder.ts', {
    'refusals that could not be written are forgotten': [
      'if (!this.#refusals.add({ organization_id, id: entry.id, line, may_be_there }))',
      'if (may_be_there && line === "")',
    ],
  }),
  ...inFile('locks', 'ext-proc/kill/enforce-kill.ts', {
    'a lock cuts no calls': [
      "received === 'outdated' ? NONE_CUT : cutLocked",
      "received !== 'outdated' ? NONE_CUT : cutLocked",
    ],
  }),
  ...inFile('locks', BOARD, {
    'a lock that the store has lost is not restored': [
      'if (lock !== null) lost.lock(lock)',
      'void lock',
    ],
    'the end of a lock that the store has lost stands': [
      'yields: ({ lock }) => lock === null',
      'yields: () => false',
    ],
  }),
  ...inFile('locks', 'ext-proc/kill/verify-locks.ts', {
    'the end of a lock is not learned from the store': [
      'if (lifted[at] != null) killBoard',
      'if (lifted[at] === undefined) killBoard',
    ],
  }),
  ...inFile('locks', LINK, {
    'a change that could not be applied is forgotten': [
      '        this.#epoch = null\n        this.#parts.log.warn(\n          { error: String(error), epoch }',
      '        this.#parts.log.warn(\n          { error: String(error), epoch }',
    ],
  }),
  ...inFile('locks', 'ext-proc/kill/resync.ts', {
    'a resync cuts no call that a lock forbids': [
      'if (lock === null) continue',
      'if (lock === null || at_ms > 0) continue',
      {
        file: 'ext-proc/kill/resync.ts',
        find: 'if (killBoard.hasLock(lock))',
        replace: 'if (killBoard.hasLock(lock) && waited.length < 0)',
      },
    ],
  }),
  ...inFile('locks', 'core/decision/locks.ts', {
    'a lock has no end': ['if (one.until_ms <= at_ms || (modes', 'if ((modes'],
    'a lock by labels selects nothing': [
      'for (const one of selectedBy(table, agent.labels)) look(one)',
      '',
    ],
  }),
  ...inFile('scopes', IN_FORCE, {
    'a scope that has ended allows calls': [
      '  from_ms <= at_ms && at_ms < until_ms\n',
      '  from_ms <= at_ms || until_ms < 0\n',
    ],
    'a scope allows calls before it begins': [
      '  from_ms <= at_ms && at_ms < until_ms\n',
      '  from_ms < until_ms && at_ms < until_ms\n',
    ],
    'the scopes in force are those of the first call': [
      'if (known?.phase === phase)',
      'if (known !== undefined)',
    ],
  }),
  ...inFile('scopes', 'core/control/store-clock.ts', {
    'a scope ends by the clock of the host of the edge': [
      'Math.floor(this.#steadyMs() + this.#ahead_ms)',
      'Date.now() + 0 * this.#ahead_ms',
    ],
  }),
  ...inFile('scopes', REVIEWS, {
    'a running call outlives the end of a scope with end_streams': [
      'if (call.standing?.ends_ms == null) return',
      'if (call.standing !== undefined) return',
    ],
    'a change of labels reviews no running call': [
      'return `agent ${target.organization_id} ${target.agent_id}`',
      'return null',
    ],
    'a change of a selector reviews no running call': [
      "    case 'scopes':\n      return `organization ${target.organization_id}`\n",
      "      return `organization ${target.organization_id}`\n    case 'scopes':\n",
    ],
  }),
  ...inFile('scopes', 'ext-proc/call/review-call.ts', {
    'a review ends what may outlive the end of its scope': [
      'endsByItself(agent.scopes, scope) ? now_ms : nowMs()',
      'endsByItself(agent.scopes, scope) ? nowMs() : nowMs()',
    ],
    'a changed end does not end running calls': [
      'endsByItself(agent.scopes, scope) ? now_ms : nowMs()',
      'endsByItself(agent.scopes, scope) ? now_ms : now_ms',
    ],
  }),
  ...inFile('scopes', POLICY, {
    'a change of a selector is not read': [
      'this.#shared.drop(target.organization_id)',
      'void target',
    ],
    'agents keep the scopes that selected them': [
      'this.#agents.dropAll(`${target.organization_id} `)',
      'void target',
    ],
    'a selector selects every agent': [
      'matchesSelector(scope.agent_selector, agent.labels)',
      'scope.agent_selector !== null',
    ],
  }),
  ...inFile('approvals', TAKE, {
    'an approval is taken again': [
      'status and not consumed and not scope_id',
      'status and not scope_id',
    ],
    'an approval outlives a kill': [
      'not scope_id and revision == plan.revision\n',
      'not scope_id\n',
    ],
    'an approval is taken for an agent that is not as its edge knows it': [
      "or agent.status ~= 'active' or ms(agent.revision or -1) ~= plan.revision then",
      'then',
    ],
    'an approval outlives the run of the store': ['approved_run == runOfStore() and', ''],
    'an approval has no end': [
      'tonumber(deadline) <= now) then',
      'tonumber(deadline) <= 0) then',
      {
        file: TAKE,
        find: "KEYS[2], '-inf', ms(now), 'LIMIT'",
        replace: "KEYS[2], '-inf', '0', 'LIMIT'",
      },
    ],
  }),
  ...inFile('approvals', 'ext-proc/call/check-approval.ts', {
    'a call that took an approval is noted as sent though it is refused': [
      'await note(false)',
      'await note(true)',
    ],
  }),
  ...inFile('refresh', REFRESH, {
    'a token request is not announced': [
      'announced = await swapGrant(redis, owner, text, started)',
      'announced = text',
    ],
    'a refresh token that may have been used is used again': [
      'if (grant.sent_ms === null) return',
      'if (grant.sent_ms !== -1) return',
    ],
    'the answer to a request whose announcement is lost is thrown away': [
      '[announced, text], next',
      '[announced], next',
    ],
  }),
  ...inFile('refresh', 'core/lua/swap-grant.lua', {
    'a grant is replaced though another process has changed it': [
      'if found ~= ARGV[2] then return 0 end',
      'local _ = found',
    ],
  }),
  ...inFile('refresh', 'core/oauth/end-grant.ts', {
    'a grant is ended though another process has renewed it': [
      "guards: [['HGET', grants, connection_id, text]],",
      'guards: [],',
    ],
  }),
  ...inFile('refresh', 'core/oauth/grant.ts', {
    'a step of the clock keeps an access token in use': [
      ' && now_ms >= grant.issued_ms - STEP_MS\n',
      '\n',
    ],
  }),
]
