/**
 * What happens to a header of a request. `dropped`: it is not sent to the API, in a trailer neither. `decides`: the decision
 * depends on it. All others are forwarded, but for those that the credential fills and those that hold a gateway key.
 */
export type HeaderFate = 'dropped' | 'forwarded' | 'refused' | 'decides'

interface HeaderGroup {
  readonly fate: HeaderFate
  readonly why: string
  /** In their plain form (`plainHeaderName`), which every other spelling has too. A `*` at the end: all that begin so. */
  readonly names: readonly string[]
  /** Envoy removes them once more, whatever the processor did. */
  readonly in_envoy?: true
}

const names = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Every header name that this gateway treats in its own way; docs/reference/headers.md is made from it. */
export const HEADER_TABLE = {
  key: {
    fate: 'dropped',
    why: 'Holds the gateway key; the API gets the credential of its integration. Through the forward proxy, a further or unlisted host without a credential gets the client’s own value, unless it contains a gateway key.',
    names: names('authorization'),
  },
  agent: {
    fate: 'decides',
    why: 'Names the agent of a call with an organization key. It is not sent to the API.',
    names: names('x-agw-agent-id'),
  },
  user: {
    fate: 'decides',
    why: 'Names the user whose connection the call gets, if the scope lists the user. It is not sent to the API.',
    names: names('x-agw-user'),
  },
  method: {
    fate: 'decides',
    why: 'Names another method. The call is refused unless the scope allows that method too. Every name of such words counts, in every spelling.',
    names: names(
      'x-http-method-override x-http-method x-method-override x-method x-original-method x-tunneled-method x-rest-method request-method',
    ),
  },
  destination: {
    fate: 'decides',
    why: 'COPY and MOVE write to this address. The call is refused unless the scope allows it too.',
    names: names('destination'),
  },
  upgrade: {
    fate: 'refused',
    why: 'An upgrade that is not allowed is refused (426 for a WebSocket, else 400).',
    names: names('upgrade'),
  },
  hop_by_hop: {
    fate: 'dropped',
    why: 'Belongs to one connection, as every header that `Connection` names.',
    names: names(
      'connection keep-alive proxy-authenticate proxy-connection te trailer trailers transfer-encoding expect',
    ),
  },
  ours: {
    fate: 'dropped',
    why: 'Only this gateway or its Envoy may set it.',
    names: names('x-agw-* x-envoy-* x-request-id proxy-authorization'),
    in_envoy: true,
  },
  forwarded: {
    fate: 'dropped',
    why: 'A proxy in front of the gateway describes the caller and the hop; callers can forge it.',
    names: names('forwarded x-forwarded-* x-real-ip'),
    in_envoy: true,
  },
  forwarded_otherwise: {
    fate: 'dropped',
    why: 'The same, under another name.',
    names: names(`
      forwarded-for forwarded-for-ip forwarded-host forwarded-proto forwarded-server front-end-https http-x-forwarded-for
      x-auth-request-redirect x-forward-for x-forward-host x-forward-proto x-forwarded x-forwarder-for x-http-forwarded-for
      x-original-forwarded-* x-original-port x-original-prefix x-original-proto x-original-protocol x-original-scheme x-real-port
      x-real-proto x-replaced-path x-scheme x-url-scheme x-queue-start x-request-start`),
  },
  address: {
    fate: 'dropped',
    why: 'A proxy in front of the gateway writes the address there that it was called by; some servers act on it instead of the path or the host.',
    names: names(`
      disguised-host orig-path-info path-info request-uri request-url script-name unencoded-url was-default-hostname x-accel-internal
      x-accel-mapping x-host x-host-override x-http-destination-url x-http-destinationurl x-http-host x-http-host-override
      x-original-host x-original-path x-original-query x-original-query-string x-original-request-uri x-original-uri
      x-original-url x-override-host x-override-path x-override-uri x-override-url x-path-info x-proxy-url x-real-host
      x-real-url x-request-uri x-request-url x-rewrite-host x-rewrite-path x-rewrite-query x-rewrite-uri x-rewrite-url
      x-script-name x-sendfile-type x-site-deployment-id x-waws-unencoded-url`),
  },
  client_address: {
    fate: 'dropped',
    why: 'A content delivery network or proxy in front of the gateway writes the address of the caller there, or marks the call as its own; an API behind the same network refuses it.',
    names: names(`
      akamai-origin-hop ali-cdn-real-ip cdn-loop cdn-src-ip cf-connecting-ip cf-connecting-ipv6 cf-connecting-o2o cf-device-type
      cf-ew-via cf-ipcity cf-ipcontinent cf-ipcountry cf-iplatitude cf-iplongitude cf-metro-code cf-postal-code cf-pseudo-ipv4
      cf-ray cf-region cf-region-code cf-timezone cf-visitor cf-worker client-ip cloudfront-* cluster-client-ip connect-time
      do-connecting-ip fastly-client fastly-client-ip fastly-ff fastly-ssl fastly-temp-xff fly-client-ip fly-forwarded-port
      fly-forwarded-proto fly-forwarded-ssl fly-region fly-request-id incap-client-ip proxy-client-ip real-ip remote-addr
      remote-host remote-ip source-ip total-route-time true-client-ip wl-proxy-client-ip wl-proxy-ssl x-akamai-edgescape
      x-amz-cf-id x-appengine-* x-appgw-trace-id x-arr-log-id x-arr-ssl x-azure-client-ip x-azure-clientip x-azure-fdid
      x-azure-ref x-azure-requestchain x-azure-socket-ip x-azure-socketip x-bluecoat-via x-client-addr x-client-geo-location
      x-client-host x-client-ip x-client-port x-clientip x-cluster-client-ip x-fd-healthprobe x-nf-client-connection-ip x-nf-geo
      x-nf-request-id x-orig-client-ip x-original-client-ip x-original-ip x-original-remote-addr x-originating-ip
      x-proxy-user-ip x-proxyuser-ip x-remote-addr x-remote-host x-remote-ip x-source-ip x-sourceip x-sucuri-clientip
      x-sucuri-country x-true-client-ip x-true-ip x-vercel-deployment-url x-vercel-forwarded-for x-vercel-id x-vercel-ip-*
      x-vercel-proxied-for x-vercel-proxy-signature x-vercel-proxy-signature-ts`),
  },
  front_identity: {
    fate: 'dropped',
    why: 'A proxy in front of the gateway has verified the caller and says who it is, or which certificate it has; it is meant for the gateway alone.',
    names: names(`
      cf-access-authenticated-user-email cf-access-jwt-assertion ssl-client-* x-amzn-mtls-clientcert* x-amzn-oidc-*
      x-arr-clientcert x-goog-authenticated-user-* x-goog-iap-jwt-assertion x-ms-client-principal* x-ms-token-aad-*
      x-ssl-client-*`),
  },
  framing: {
    fate: 'forwarded',
    why: 'Determines how the message is read: `Connection` cannot remove it, and a second one in another spelling is dropped.',
    names: names('content-encoding content-length content-type host'),
  },
  appended: {
    fate: 'forwarded',
    why: '`1.1 agw-<id of the deployment>` is appended, which detects loops (508).',
    names: names('via'),
  },
  encodings: {
    fate: 'forwarded',
    why: 'Reduced to what the gateway can decode if it may have to read the response.',
    names: names('accept-encoding'),
  },
  cookies: {
    fate: 'forwarded',
    why: 'Without the session of the console and without cookies that hold a gateway key.',
    names: names('cookie'),
  },
  traces: {
    fate: 'forwarded',
    why: 'The trace of the caller goes on at the API.',
    names: names('traceparent tracestate baggage'),
  },
} as const satisfies Readonly<Record<string, HeaderGroup>>

export const HEADER_GROUPS: readonly HeaderGroup[] = Object.values(HEADER_TABLE)

const listed = HEADER_GROUPS.filter(({ fate }) => fate === 'dropped' || fate === 'refused').flatMap(
  (group) => group.names,
)
const DROPPED: ReadonlySet<string> = new Set(listed.filter((name) => !name.endsWith('*')))
const DROPPED_FAMILIES = listed
  .filter((name) => name.endsWith('*'))
  .map((name) => name.slice(0, -1))

/** Whether no header of this name is sent to an API, whatever its value. @param plain its plain form */
export const isDropped = (plain: string): boolean =>
  DROPPED.has(plain) || DROPPED_FAMILIES.some((family) => plain.startsWith(family))

const FRAMING: ReadonlySet<string> = new Set(HEADER_TABLE.framing.names)

/** Whether it determines how the message is read. @param plain its plain form */
export const isFraming = (plain: string): boolean => FRAMING.has(plain)
