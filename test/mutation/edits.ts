/** A small wrong edit of the source, of the kind that a review overlooks. */
export interface Edit {
  readonly area: 'decision' | 'stream' | 'kill' | 'credential'
  /** What is wrong then. */
  readonly name: string
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly find: string
  readonly replace: string
}

/** By what is wrong then: the text and what takes its place. */
const inFile = (
  area: Edit['area'],
  file: string,
  edits: Readonly<Record<string, readonly [find: string, replace: string]>>,
): Edit[] =>
  Object.entries(edits).map(([name, [find, replace]]) => ({ area, name, file, find, replace }))

/** Chosen before anyone looked which of them the unit tests find. A new one is chosen in the same way. */
export const EDITS: readonly Edit[] = [
  ...inFile('decision', 'core/decision/admit.ts', {
    'the limit of headers is lower by one': [
      'headers.length > HEADERS_LIMIT',
      'headers.length >= HEADERS_LIMIT',
    ],
    'admission does not check that the agent was killed': [
      '  if (killed_at !== null)\n    return',
      '  if (false)\n    return',
    ],
  }),
  ...inFile('decision', 'core/decision/check-key.ts', {
    'a key is good for one more millisecond': [
      'Date.parse(key.expires_at) <= now_ms',
      'Date.parse(key.expires_at) < now_ms',
    ],
  }),
  ...inFile('decision', 'core/decision/admit-body.ts', {
    'a method in the body may come under stricter settings': [
      'has_same_approval && decision.settings.scope_ids.length === settings.scope_ids.length',
      'has_same_approval',
    ],
  }),
  ...inFile('decision', 'core/decision/choose-scope.ts', {
    'an override passes where no rule has its path': [
      'if (found.rule >= 0) continue',
      'if (found.rule >= NO_RULE) continue',
    ],
  }),
  ...inFile('decision', 'ext-proc/call/decide-call.ts', {
    'a call is decided without the lease': [
      "if (!services.mayServe())\n    return deny('lease', 'gateway_unavailable', causeOf(services.whyUnavailable(null)))",
      '',
    ],
    'after a stall the call does not wait for unread kills': [
      'if (caughtUp !== null) await caughtUp',
      '',
    ],
  }),
  ...inFile('decision', 'ext-proc/call/check-rate.ts', {
    'without an answer of the store there is no rate limit': [
      "return deny('rate', 'gateway_unavailable', causeOf(services.whyUnavailable(taken.error)))",
      'return pass(rateValues({ limit, left: limit, reset_s: 60 }))',
    ],
    'a sustained violation kills a minute late': [
      'violation_minutes >= violation_window_minutes',
      'violation_minutes > violation_window_minutes',
    ],
  }),
  ...inFile('decision', 'ext-proc/call/check-tools.ts', {
    'a body that is not readable as JSON-RPC passes the tool check': [
      "if (read.kind === 'unreadable') return deny('tools', 'ambiguous_request', { reason: 'json_rpc' })",
      '',
    ],
  }),
  ...inFile('decision', 'ext-proc/call/scan-call.ts', {
    'the automatic kill of an injection cuts its own call': ['  io.leaveInFlight()\n', ''],
  }),
  ...inFile('decision', 'ext-proc/call/read-call-body.ts', {
    'a body may name another agent': [
      "return named.agent === null ? pass(body) : deny('agent', 'agent_mismatch')",
      'return pass(body)',
    ],
  }),
  ...inFile('decision', 'ext-proc/call/forward-call.ts', {
    'no last look at the kill flags before the pass': [
      "if (killed_at !== null) return deny('agent', 'agent_killed', { killed_at }, { status: 503 })",
      '',
    ],
    'the upstream host is the one that the caller names': [
      "{ name: 'x-agw-host', value: authorityOf(integration.base) }",
      "{ name: 'x-agw-host', value: head.authority }",
    ],
  }),
  ...inFile('stream', 'ext-proc/call/call-stream.ts', {
    'a call that was cut while it was decided passes': [
      "if (state.kind !== 'deciding') return this.#noteSpent(verdict, record)",
      '',
    ],
    'a call that was cut while its refusal was logged is answered twice': [
      "if (state.kind !== 'deciding') return\n    this.#become(state, { kind: 'refused', passed: null })",
      "this.#become(state, { kind: 'refused', passed: null })",
    ],
    'a call that has ended stays in the list of calls in flight': [
      '    passed?.inspector.close()\n    this.leaveInFlight()\n',
      '    passed?.inspector.close()\n',
    ],
    'the log names a status for a call that was cut after its pass': [
      'bytesMayBeOut ? null : 503',
      '503',
    ],
    'the strict log is not waited for': [
      '(await this.#logFirst(record))',
      '(this.#logFirst(record).catch(() => undefined), true)',
    ],
  }),
  ...inFile('stream', 'ext-proc/envoy/write-response.ts', {
    'a pass does not make Envoy select the route again': [
      "if (phase.startsWith('request')) writer.varintField(5, 1)",
      '',
    ],
  }),
  ...inFile('stream', 'ext-proc/response/response-phase.ts', {
    'the rest of a refused stream goes out with its end': [
      '!end && verdict.before !== null',
      'verdict.before !== null',
    ],
  }),
  ...inFile('stream', 'ext-proc/response/inspect-response.ts', {
    'a response that cannot be scanned passes': [
      "if (result.kind !== 'scanned') return { kind: 'deny', denial: UNREADABLE, before: null }",
      "if (result.kind !== 'scanned') return UNCHANGED",
    ],
  }),
  ...inFile('kill', 'ext-proc/kill/cut-pace.ts', {
    'calls are cut whatever Envoy has still to end': [
      'line.unended >= UNENDED_MAX && line.ended !== before',
      'line.unended < 0 && line.ended !== before',
    ],
  }),
  ...inFile('kill', 'ext-proc/kill/state-ledger.ts', {
    'a kill of a revision that is known counts as new': [
      'known.state.revision >= said.revision',
      'known.state.revision > said.revision',
    ],
    'a read that began before a kill lifts it': ['    if (since < known.received) return\n', ''],
  }),
  ...inFile('kill', 'ext-proc/fleet/liveness-lease.ts', {
    'the newest proof holds the lease': [
      'Math.min(beacon, ping, beat)',
      'Math.max(beacon, ping, beat)',
    ],
  }),
  ...inFile('kill', 'ext-proc/fleet/edge-link.ts', {
    'a gap in the epochs is not noticed': ['message.after === this.#epoch', 'this.#epoch !== null'],
    'a message is acknowledged though the store could not be read': ['if (!isReady) return', ''],
    'a beat counts before the messages up to it were received': [
      'this.#epoch === null || this.#epoch < owed.epoch',
      'this.#epoch === null',
    ],
    'a lost connection does not void the epoch': [
      "subscription.on('close', () => {\n      this.#epoch = null\n",
      "subscription.on('close', () => {\n",
    ],
  }),
  ...inFile('kill', 'ext-proc/policy/fill-cache.ts', {
    'a fill that a change has overtaken is used': [
      'if (this.#entries.get(key) === entry) {',
      'if (entry !== undefined) {',
    ],
  }),
  ...inFile('kill', 'ext-proc/kill/resync.ts', {
    'a resync does not check the agents with calls in flight': [', ...inFlight.agents()', ''],
  }),
  ...inFile('kill', 'core/lua/take-rates.lua', {
    'a rate limit allows one call more': [
      'math.min(needed, places - used)',
      'math.min(needed, places - used + 1)',
    ],
  }),
  ...inFile('kill', 'core/lua/finish-kill.lua', {
    'a kill is finished though another process has changed its record': [
      'if not found or found ~= ARGV[2] then return 0 end',
      'if not found then return 0 end',
    ],
  }),
  ...inFile('credential', 'core/store/credential-binding.ts', {
    'a credential opens under a changed token URL': [
      '[base_url, ...urlsOf(auth).map(([, url]) => url)].map(originOf)',
      '[base_url].map(originOf)',
    ],
    'a credential in plaintext opens': [
      'if (declared.members[member]?.was_public && !isSealed(text)) return new Secret(text)',
      'if (!isSealed(text)) return new Secret(text)',
    ],
    'a sealed member opens under another type of credential': [
      'kind: `${auth.type}.${member}`',
      'kind: member',
    ],
  }),
  ...inFile('credential', 'ext-proc/credential/token-cache.ts', {
    'a token survives a change of its integration': [
      'if (known?.revision === revision) {',
      'if (known !== undefined) {',
    ],
  }),
  ...inFile('credential', 'core/catalogue/header-table.ts', {
    "the caller's Proxy-Authorization goes upstream": [
      ' x-request-id proxy-authorization',
      ' x-request-id',
    ],
  }),
  ...inFile('credential', 'core/credential/aws-sigv4.ts', {
    'chunks without a signature are accepted by any AWS service': [
      'claimed === UNSIGNED_CHUNKS && !hashes',
      'claimed === UNSIGNED_CHUNKS',
    ],
  }),
  ...inFile('credential', 'core/decision/apply-credential.ts', {
    'a credential with a line break is put into a header': [
      "return can_stand ? { kind: 'applied', headers, raw_query } : { kind: 'unusable' }",
      "return { kind: 'applied', headers, raw_query }",
    ],
  }),
  ...inFile('credential', 'core/keys/seal.ts', {
    'a sealed value opens for another integration': [
      'JSON.stringify([organization_id, owner_id, kind, origin])',
      'JSON.stringify([organization_id, kind, origin])',
    ],
  }),
  ...inFile('credential', 'core/decision/outgoing-request.ts', {
    "the caller's value of the credential's query parameter goes upstream": [
      "if (kind === 'query') kept = removeQueryParameter(kept, name)",
      '',
    ],
  }),
  ...inFile('decision', 'ext-proc/rate/rate-shares.ts', {
    'a share of calls that were taken in advance never ends': [
      'now >= share.ends_ms || share.calls === 0',
      'share.calls === 0',
    ],
  }),
  ...inFile('decision', 'ext-proc/rate/rate-taker.ts', {
    'one call goes that the store has refused': ['i < allowed', 'i <= allowed'],
  }),
  ...inFile('decision', 'core/redis/connect-redis.ts', {
    'a command waits for the store instead of failing': [
      'maxRetriesPerRequest: failsAtOnce ? 0 : null',
      'maxRetriesPerRequest: null',
    ],
  }),
  ...inFile('decision', 'core/redis/announce-outages.ts', {
    'another cause of an outage is reported late': [
      'if (!isDue && problem === announced) return',
      'if (!isDue) return',
    ],
  }),
  ...inFile('kill', 'ext-proc/kill/cut-deleted.ts', {
    'after a change of an organization calls of its agents are cut': [
      "if (state === 'absent' || state === 'unreadable') ids[state].add(agent_id)",
      "ids[state === 'unreadable' ? state : 'absent'].add(agent_id)",
    ],
  }),
  ...inFile('kill', 'ext-proc/kill/make-auto-killer.ts', {
    'an automatic kill is in force on its edge only with its message': [
      'killBoard.receive(organization_id, agent_id, { revision, killed_at })',
      'void [killBoard, revision, killed_at]',
    ],
  }),
  ...inFile('kill', 'ext-proc/kill/calls-in-flight.ts', {
    'a tunnel that two kills cut is counted by both': [
      'const isOurs = isTunnel(call) && this.#counts.get(call) === own',
      'const isOurs = isTunnel(call)',
    ],
    'a call that took the place of one that ended cannot be removed': [
      '      last.list_place = place\n',
      '',
    ],
  }),
  ...inFile('kill', 'ext-proc/kill/enforce-kill.ts', {
    'a kill that is received again cuts nothing': [
      "received === 'outdated'\n          ? NONE_CUT\n          : inFlight",
      "received !== 'news'\n          ? NONE_CUT\n          : inFlight",
    ],
  }),
]
