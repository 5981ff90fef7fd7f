/** A small wrong edit that lets one threat through, and the test that must find it. */
export interface ThreatEdit {
  /** A number counts the threats to the forward proxy; `name` says which. */
  readonly threat: number | 'oauth'
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

export const THREAT_EDITS: readonly ThreatEdit[] = [
  {
    threat: 1,
    name: 'a key that has expired opens tunnels',
    file: TUNNEL,
    find: 'checkKey(key, nowMs())',
    replace: 'checkKey(key, 0 * nowMs())',
    test: ['forward-proxy', 'CONNECT without a key that is in force is 407'],
  },
  {
    threat: 2,
    name: 'a kill leaves one tunnel of the agent open',
    file: 'ext-proc/kill/calls-in-flight.ts',
    find: 'Promise.all(tunnels.map(cutNow))',
    replace: 'Promise.all(tunnels.slice(1).map(cutNow))',
    test: ['forward-kill', 'a kill ends every kind of tunnel'],
  },
  {
    threat: 3,
    name: 'the identity of a tunnel is the one that a caller writes',
    file: ENVOY,
    find: "      { remove: 'x-agw-tunnel' },\n      { remove: 'x-agw-sni' },\n      ...set.map(([key, value]) => ({\n        append: { header: { key, value }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' },",
    replace:
      "      ...set.map(([key, value]) => ({\n        append: { header: { key, value }, append_action: 'ADD_IF_ABSENT' },",
    test: ['forward-proxy', 'a call through a tunnel has the stored credential'],
  },
  {
    threat: 4,
    name: 'the identity of a tunnel is no part of the key of pooled connections',
    file: ENVOY,
    find: "factory_key: 'envoy.hashable_string'",
    replace: "factory_key: 'envoy.string'",
    test: ['forward-kill', 'aborted CONNECTs of one agent'],
  },
  {
    threat: 5,
    name: 'a call in a tunnel may name another port',
    file: INSIDE,
    find: ' && authority.port === port',
    replace: ' && port > 0',
    test: ['forward-proxy', 'Host and server name must be those of the tunnel'],
  },
  {
    threat: 6,
    name: 'a client without a server name gets a certificate',
    file: ENVOY,
    find: "default_value: '-'",
    replace: "default_value: 'localhost'",
    test: ['forward-proxy', 'without a server name'],
  },
  {
    threat: 7,
    name: 'a call without TLS has the target of one with TLS',
    file: INSIDE,
    find: 'origin: `${scheme}://${host}:${port}`',
    replace: 'origin: `https://${host}:${port}`',
    test: ['forward-proxy', 'what is not TLS is decided as http'],
  },
  {
    threat: 8,
    name: 'a connection in a tunnel is decided like one to the proxy, where CONNECT is served',
    file: ENVOY,
    find: 'withAuthority(filter, authority)),\n  })\n  const chain',
    replace: 'withAuthority(filter, HOPS.entry)),\n  })\n  const chain',
    test: ['forward-proxy', 'a CONNECT in a tunnel is refused'],
  },
  {
    threat: 8,
    name: 'a certificate is issued for any server name',
    file: ENVOY,
    find: "chainNamed('other-name')",
    replace: 'chainNamed(HOPS.https)',
    test: ['forward-proxy', 'a certificate is issued for the host of the tunnel alone'],
  },
  {
    threat: 9,
    name: 'a CONNECT without a key is answered like one that opens a tunnel',
    file: TUNNEL,
    find: '{ status: 407, headers: [CHALLENGE] }',
    replace: '{ status: 200, headers: [CHALLENGE] }',
    test: ['forward-proxy', 'a request that follows a refused CONNECT'],
  },
  {
    threat: 10,
    name: 'the connection in a tunnel has no address of the client',
    file: ENVOY,
    find: "        ['remote_ip', '%DOWNSTREAM_REMOTE_ADDRESS%'],\n",
    replace: '',
    test: ['forward-proxy', 'a call through a tunnel has the stored credential'],
  },
  {
    threat: 11,
    name: 'an agent may have one tunnel more than its limit',
    file: TUNNEL,
    find: '>= tunnels_per_agent',
    replace: '> tunnels_per_agent',
    test: ['forward-limits', 'the tunnels of an agent are bounded'],
  },
  {
    threat: 12,
    name: 'the routes to the admin service are in tunnels too',
    file: ENVOY,
    find: 'routes.filter(({ name }) => PASS_ROUTES.test(String(name))),',
    replace: 'routes.filter(({ name }) => name !== PASS_ROUTES.source),',
    test: ['forward-proxy', 'calls by base URL and by proxy are decided alike'],
  },
  {
    threat: 13,
    name: 'a change of a key is not in force in open tunnels',
    file: 'ext-proc/policy/policy-store.ts',
    find: "      case 'key':\n        this.#keys.drop(target.hash)\n",
    replace: "      case 'key':\n",
    test: ['forward-proxy', 'a change of key, scope or integration'],
  },
  {
    threat: 14,
    name: 'Envoy goes on without its processor',
    file: 'envoy/bootstrap.yaml',
    find: 'failure_mode_allow: false',
    replace: 'failure_mode_allow: true',
    test: ['forward-limits', 'when the processor dies'],
  },
  {
    threat: 15,
    name: 'names may resolve to private addresses',
    file: 'envoy/bootstrap.yaml',
    find: '                        resolved_address_filter: { ranges: $refused_ranges }\n',
    replace: '',
    test: ['forward-proxy', 'a private address is refused'],
  },
  {
    threat: 16,
    name: 'a host of an integration is passed through',
    file: 'core/decision/also-hosts.ts',
    find: 'listed.own.has(host) || listed.names.has(host)',
    replace: 'listed.names.has(host)',
    test: ['forward-proxy', 'a host of an integration is never passed through'],
  },
  {
    threat: 17,
    name: 'a call may come back through the gateway',
    file: 'core/request/request-headers.ts',
    find: "if (name === 'via' && namesOwnHop(",
    replace: "if (name === 'via' && value === '' && namesOwnHop(",
    test: ['forward-proxy', 'an integration for the gateway itself'],
  },
  {
    threat: 18,
    name: 'a certificate is answered on a stream that has ended',
    file: 'ext-proc/forward/secret-service.ts',
    find: '    if (!this.#streams.isOpen(at)) return\n',
    replace: '',
    test: ['forward-pending', 'certificates that pend when Envoy ends'],
  },
  {
    threat: 19,
    name: 'an API may present a certificate that cannot be verified',
    file: 'envoy/bootstrap.yaml',
    find: 'common_tls_context: { validation_context: { trusted_ca: { filename: $trusted_ca_file } } }',
    replace:
      'common_tls_context: { validation_context: { trust_chain_verification: ACCEPT_UNTRUSTED, trusted_ca: { filename: $trusted_ca_file } } }',
    test: ['forward-proxy', 'the server of an API is verified'],
  },
  {
    threat: 'oauth',
    name: 'a state is good twice',
    file: FINISH,
    find: 'redis.getdel(',
    replace: 'redis.get(',
    test: [CONSENT, 'attack, forged state, callback replay'],
  },
  {
    threat: 'oauth',
    name: 'another operator completes a consent',
    file: FINISH,
    find: '  token_id === actor.token_id &&\n',
    replace: "  token_id !== '' &&\n",
    test: [CONSENT, 'attack, forged state, callback replay'],
  },
  {
    threat: 'oauth',
    name: 'another session of the operator completes a consent',
    file: FINISH,
    find: '(session === null || session === actor.session)',
    replace: "session !== ''",
    test: [CONSENT, 'attack, consent in another browser'],
  },
  {
    threat: 'oauth',
    name: 'the challenge of PKCE is in plain text',
    file: START,
    find: "code_challenge_method: 'S256'",
    replace: "code_challenge_method: 'plain'",
    test: [CONSENT, 'attack, PKCE downgrade'],
  },
  {
    threat: 'oauth',
    name: 'the URL of a provider replaces what the gateway asks for',
    file: START,
    find: 'if (!form.has(name)) form.set(name, value)',
    replace: 'form.set(name, value)',
    test: [CONSENT, 'attack, PKCE downgrade'],
  },
  {
    threat: 'oauth',
    name: 'the answer of another provider counts',
    file: FINISH,
    find: ': iss !== issuer)\n',
    replace: ": iss === '')\n",
    test: [CONSENT, 'attack, mix-up by iss'],
  },
  {
    threat: 'oauth',
    name: 'an answer need not say whose it is',
    file: FINISH,
    find: "iss_parameter === 'required'",
    replace: "iss_parameter === 'never'",
    test: [CONSENT, 'attack, mix-up by iss'],
  },
  {
    threat: 'oauth',
    name: 'the callback page opens an address that it is given',
    file: 'admin/oauth/callback.js',
    find: 'const result = ',
    replace: "if (query.has('next')) location.assign(query.get('next'))\nconst result = ",
    test: [CONSENT, 'attack, open redirect'],
  },
  {
    threat: 'oauth',
    name: 'all consents have one verifier',
    file: START,
    find: 'const verifier = randomBytes(SECRET_BYTES)',
    replace: 'const verifier = Buffer.alloc(SECRET_BYTES)',
    test: [CONSENT, 'attack, code injection'],
  },
  {
    threat: 'oauth',
    name: 'a code goes to an endpoint that has changed',
    file: FINISH,
    find: 'hashOfAuth(owned.connection.auth) !== consent.auth_hash',
    replace: "consent.auth_hash === ''",
    test: [CONSENT, 'attack, changed endpoint'],
  },
  {
    threat: 'oauth',
    name: 'tokens are kept for an endpoint that has changed',
    file: FINISH,
    find: 'hashOfAuth(auth) === hashOfAuth(connection.auth)',
    replace: "hashOfAuth(auth) !== ''",
    test: [CONSENT, 'attack, changed endpoint'],
  },
  {
    threat: 'oauth',
    name: 'an operator of another organization opens the link of a refusal',
    file: 'admin/connections/connect-routes.ts',
    find: '  const org = actor.organization_id\n  if (token === null || token.organization_id !== org) return notFound(GONE)\n',
    replace:
      '  if (token === null || actor.token_id === token.nonce) return notFound(GONE)\n  const org = token.organization_id\n',
    test: ['connections', 'a call without a connection is refused with a link'],
  },
  {
    threat: 'oauth',
    name: 'the link of a refusal counts twice',
    file: 'admin/connections/connect-routes.ts',
    find: ' || isUsed === 1)',
    replace: ' || isUsed > 1)',
    test: ['connections', 'a call without a connection is refused with a link'],
  },
  {
    threat: 'oauth',
    name: 'a link of a refusal has no end',
    file: 'core/store/connect-token.ts',
    find: 'return left_ms > 0 && left_ms <= CONNECT_TOKEN_MS ? token : null',
    replace: 'return left_ms <= CONNECT_TOKEN_MS ? token : null',
    test: ['connections', 'a call without a connection is refused with a link'],
  },
]
