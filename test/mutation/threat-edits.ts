/** A small wrong edit that lets one threat through, and the test that must find it. */
export interface ThreatEdit {
  /** A number counts the threats to the forward proxy; `name` says which. */
  readonly threat: number | 'oauth' | 'approvals'
  /** What is wrong then. */
  readonly name: string
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly find: string
  readonly replace: string
  /** The integration test, and the beginning of its name. */
  readonly test: readonly [file: string, name: string]
}

const ENVOY = 'envoy/add-forward-proxy.ts'
const TUNNEL = 'ext-proc/forward/decide-tunnel.ts'
const INSIDE = 'ext-proc/forward/decide-inside.ts'
const FINISH = 'admin/oauth/finish-consent.ts'
const START = 'admin/oauth/start-consent.ts'
const CONSENT = 'oauth-consent'
const TWO = 'admin/requests/refuse-second.ts'
const DIGEST = 'core/approval/call-digest.ts'
const TAKE = 'core/lua/take-approval.lua'
const TWO_PEOPLE = ['approvals', 'two people are two e-mails'] as const
const EXACTLY = ['approvals', 'an approval is for exactly the call that was shown'] as const
const VOIDS = ['approvals', 'a change of the rule, the scope'] as const

/** By what is wrong then: the text and what takes its place. */
const inFile = (
  threat: ThreatEdit['threat'],
  file: string,
  test: ThreatEdit['test'],
  edits: Readonly<Record<string, readonly [find: string, replace: string]>>,
): ThreatEdit[] =>
  Object.entries(edits).map(([name, [find, replace]]) => ({
    threat,
    name,
    file,
    find,
    replace,
    test,
  }))

export const THREAT_EDITS: readonly ThreatEdit[] = [
  ...inFile(1, TUNNEL, ['forward-proxy', 'CONNECT without a key that is in force is 407'], {
    'a key that has expired opens tunnels': [
      'checkKey(key, nowMs())',
      'checkKey(key, 0 * nowMs())',
    ],
  }),
  ...inFile(
    2,
    'ext-proc/kill/calls-in-flight.ts',
    ['forward-kill', 'a kill ends every kind of tunnel'],
    {
      'a kill leaves one tunnel of the agent open': [
        'this.#pace.cut(tunnels, cutNow)',
        'this.#pace.cut(tunnels.slice(1), cutNow)',
      ],
    },
  ),
  ...inFile(3, ENVOY, ['forward-proxy', 'a call through a tunnel has the stored credential'], {
    'the identity of a tunnel is the one that a caller writes': [
      "      { remove: 'x-agw-tunnel' },\n      { remove: 'x-agw-sni' },\n      ...set.map(([key, value]) => ({\n        append: { header: { key, value }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' },",
      "      ...set.map(([key, value]) => ({\n        append: { header: { key, value }, append_action: 'ADD_IF_ABSENT' },",
    ],
  }),
  ...inFile(4, ENVOY, ['forward-kill', 'aborted CONNECTs of one agent'], {
    'the identity of a tunnel is no part of the key of pooled connections': [
      "factory_key: 'envoy.hashable_string'",
      "factory_key: 'envoy.string'",
    ],
  }),
  ...inFile(5, INSIDE, ['forward-proxy', 'Host and server name must be those of the tunnel'], {
    'a call in a tunnel may name another port': [' && authority.port === port', ' && port > 0'],
  }),
  ...inFile(6, ENVOY, ['forward-proxy', 'without a server name'], {
    'a client without a server name gets a certificate': [
      "default_value: '-'",
      "default_value: 'localhost'",
    ],
  }),
  ...inFile(7, INSIDE, ['forward-proxy', 'what is not TLS is decided as http'], {
    'a call without TLS has the target of one with TLS': [
      'origin: `${scheme}://${host}:${port}`',
      'origin: `https://${host}:${port}`',
    ],
  }),
  ...inFile(8, ENVOY, ['forward-proxy', 'a CONNECT in a tunnel is refused'], {
    'a connection in a tunnel is decided like one to the proxy, where CONNECT is served': [
      'withAuthority(filter, authority)),\n  })\n  const chain',
      'withAuthority(filter, HOPS.entry)),\n  })\n  const chain',
    ],
  }),
  ...inFile(
    8,
    ENVOY,
    ['forward-proxy', 'a certificate is issued for the host of the tunnel alone'],
    {
      'a certificate is issued for any server name': [
        "chainNamed('other-name')",
        'chainNamed(HOPS.https)',
      ],
    },
  ),
  ...inFile(9, TUNNEL, ['forward-proxy', 'a request that follows a refused CONNECT'], {
    'a CONNECT without a key is answered like one that opens a tunnel': [
      '{ status: 407, headers: [CHALLENGE] }',
      '{ status: 200, headers: [CHALLENGE] }',
    ],
  }),
  ...inFile(10, ENVOY, ['forward-proxy', 'a call through a tunnel has the stored credential'], {
    'the connection in a tunnel has no address of the client': [
      "        ['remote_ip', '%DOWNSTREAM_REMOTE_ADDRESS%'],\n",
      '',
    ],
  }),
  ...inFile(11, TUNNEL, ['forward-limits', 'the tunnels of an agent are bounded'], {
    'an agent may have one tunnel more than its limit': [
      '>= tunnels_per_agent',
      '> tunnels_per_agent',
    ],
  }),
  ...inFile(12, ENVOY, ['forward-proxy', 'calls by base URL and by proxy are decided alike'], {
    'the routes to the admin service are in tunnels too': [
      'routes.filter(({ name }) => PASS_ROUTES.test(String(name))),',
      'routes.filter(({ name }) => name !== PASS_ROUTES.source),',
    ],
  }),
  ...inFile(
    13,
    'ext-proc/policy/policy-store.ts',
    ['forward-proxy', 'a change of key, scope or integration'],
    {
      'a change of a key is not in force in open tunnels': [
        "      case 'key':\n        this.#keys.drop(target.hash)\n",
        "      case 'key':\n",
      ],
    },
  ),
  ...inFile(14, 'envoy/bootstrap.yaml', ['forward-limits', 'when the processor dies'], {
    'Envoy goes on without its processor': [
      'failure_mode_allow: false',
      'failure_mode_allow: true',
    ],
  }),
  ...inFile(15, 'envoy/bootstrap.yaml', ['forward-proxy', 'a private address is refused'], {
    'names may resolve to private addresses': [
      '                        resolved_address_filter: { ranges: $refused_ranges }\n',
      '',
    ],
  }),
  ...inFile(
    16,
    'core/decision/also-hosts.ts',
    ['forward-proxy', 'a host of an integration is never passed through'],
    {
      'a host of an integration is passed through': [
        'listed.own.has(host) || listed.names.has(host)',
        'listed.names.has(host)',
      ],
    },
  ),
  ...inFile(
    17,
    'core/request/request-headers.ts',
    ['forward-proxy', 'an integration for the gateway itself'],
    {
      'a call may come back through the gateway': [
        "if (name === 'via' && namesOwnHop(",
        "if (name === 'via' && value === '' && namesOwnHop(",
      ],
    },
  ),
  ...inFile(
    18,
    'ext-proc/forward/secret-service.ts',
    ['forward-pending', 'certificates that pend when Envoy ends'],
    {
      'a certificate is answered on a stream that has ended': [
        '    if (!this.#streams.isOpen(at)) return\n',
        '',
      ],
    },
  ),
  ...inFile(19, 'envoy/bootstrap.yaml', ['forward-proxy', 'the server of an API is verified'], {
    'an API may present a certificate that cannot be verified': [
      'common_tls_context: { validation_context: { trusted_ca: { filename: $trusted_ca_file } } }',
      'common_tls_context: { validation_context: { trust_chain_verification: ACCEPT_UNTRUSTED, trusted_ca: { filename: $trusted_ca_file } } }',
    ],
  }),
  ...inFile('oauth', FINISH, [CONSENT, 'attack, forged state, callback replay'], {
    'a state is good twice': ['redis.getdel(', 'redis.get('],
    'another operator completes a consent': [
      '  token_id === actor.token_id &&\n',
      "  token_id !== '' &&\n",
    ],
  }),
  ...inFile('oauth', FINISH, [CONSENT, 'attack, consent in another browser'], {
    'another session of the operator completes a consent': [
      '(session === null || session === actor.session)',
      "session !== ''",
    ],
  }),
  ...inFile('oauth', START, [CONSENT, 'attack, PKCE downgrade'], {
    'the challenge of PKCE is in plain text': [
      "code_challenge_method: 'S256'",
      "code_challenge_method: 'plain'",
    ],
    'the URL of a provider replaces what the gateway asks for': [
      'if (!form.has(name)) form.set(name, value)',
      'form.set(name, value)',
    ],
  }),
  ...inFile('oauth', FINISH, [CONSENT, 'attack, mix-up by iss'], {
    'the answer of another provider counts': [': iss !== issuer)\n', ": iss === '')\n"],
    'an answer need not say whose it is': [
      "iss_parameter === 'required'",
      "iss_parameter === 'never'",
    ],
  }),
  ...inFile('oauth', 'admin/oauth/callback.js', [CONSENT, 'attack, open redirect'], {
    'the callback page opens an address that it is given': [
      'const result = ',
      "if (query.has('next')) location.assign(query.get('next'))\nconst result = ",
    ],
  }),
  ...inFile('oauth', START, [CONSENT, 'attack, code injection'], {
    'all consents have one verifier': [
      'const verifier = randomBytes(SECRET_BYTES)',
      'const verifier = Buffer.alloc(SECRET_BYTES)',
    ],
  }),
  ...inFile('oauth', FINISH, [CONSENT, 'attack, changed endpoint'], {
    'a code goes to an endpoint that has changed': [
      'hashOfAuth(owned.connection.auth) !== consent.auth_hash',
      "consent.auth_hash === ''",
    ],
    'tokens are kept for an endpoint that has changed': [
      'hashOfAuth(auth) === hashOfAuth(connection.auth)',
      "hashOfAuth(auth) !== ''",
    ],
  }),
  ...inFile(
    'oauth',
    'admin/connections/connect-routes.ts',
    ['connections', 'a call without a connection is refused with a link'],
    {
      'an operator of another organization opens the link of a refusal': [
        '  const org = actor.organization_id\n  if (token === null || token.organization_id !== org) return notFound(GONE)\n',
        '  if (token === null || actor.token_id === token.nonce) return notFound(GONE)\n  const org = token.organization_id\n',
      ],
      'the link of a refusal counts twice': [' || isUsed === 1)', ' || isUsed > 1)'],
    },
  ),
  ...inFile(
    'oauth',
    'core/store/connect-token.ts',
    ['connections', 'a call without a connection is refused with a link'],
    {
      'a link of a refusal has no end': [
        'return left_ms > 0 && left_ms <= CONNECT_TOKEN_MS ? token : null',
        'return left_ms <= CONNECT_TOKEN_MS ? token : null',
      ],
    },
  ),
  ...inFile('approvals', 'admin/requests/access-request-routes.ts', TWO_PEOPLE, {
    'a viewer decides': [
      "path: `/admin/access-requests/:request_id/${what}`,\n    role: 'operator'",
      "path: `/admin/access-requests/:request_id/${what}`,\n    role: 'viewer'",
    ],
  }),
  ...inFile('approvals', 'admin/requests/decide-request.ts', TWO_PEOPLE, {
    'an operator decides what is for administrators': [
      "known.fields.approvers === 'admin' && ",
      "known.fields.approvers !== 'admin' && ",
    ],
  }),
  ...inFile('approvals', TWO, TWO_PEOPLE, {
    'the creator of an agent counts as one of two': ['isSame(email, created_by) || ', ''],
    'the owner of an agent counts as one of two': [
      " || isOwner(labels['owner'] ?? '', email)",
      " || isOwner(labels['owner'] ?? '', '')",
    ],
    'the holder of the first token counts as one of two': [
      'isSame(email, settings.adminEmail)',
      "isSame('', settings.adminEmail)",
    ],
    'one person counts as two': ['isSame(approval.email, email))', "isSame(approval.email, ''))"],
  }),
  ...inFile('approvals', TAKE, ['approvals', 'who approved must still be allowed to'], {
    'who approved need not be allowed to any more': [
      "if not isJson or type(token) ~= 'table' then return false end",
      "if not isJson or type(token) ~= 'table' then return true end",
    ],
  }),
  ...inFile('approvals', DIGEST, EXACTLY, {
    'the query does not count': ['    call.url,\n', "    call.url.split('?')[0],\n"],
    'the body does not count': ["['bytes', body_sha256]", "['bytes']"],
  }),
  ...inFile('approvals', DIGEST, VOIDS, {
    'a change of scope or rule voids nothing': [
      '[recordHash(scope), by.map((one) => [recordHash(one.scope), one.rule])]',
      '[scope.scope_id, by.length]',
    ],
    'another account of a connection voids nothing': [
      '`${connection.connection_id} ${recordHash(connection)}`',
      'connection.connection_id',
    ],
  }),
  ...inFile('approvals', 'ext-proc/call/check-approval.ts', VOIDS, {
    'a change of the integration voids nothing': [
      'integration_sha256: recordHash(call.integration.integration)',
      'integration_sha256: call.integration.integration.integration_id',
    ],
  }),
  ...inFile('approvals', TAKE, ['approvals', 'a kill voids what waits'], {
    'an approval outlives a kill': [
      'not scope_id and revision == plan.revision\n',
      'not scope_id\n',
    ],
  }),
  ...inFile(
    'approvals',
    'ext-proc/call/check-approval.ts',
    ['clients-mcp-revisions', 'a tool call that is repeated with another id'],
    {
      'a state whose approval was used is no error of the client': [
        "(state.kind === 'none' || isOther)",
        "state.kind === 'none' && isOther",
      ],
    },
  ),
]
