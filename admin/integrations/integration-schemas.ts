import { LabelEffects, LabelsSchema } from '../labels/label-schemas.ts'
import { ERROR_FORMAT_NAMES } from '../../core/catalogue/error-formats.ts'
import { Type } from 'typebox'
import { ECHO_GUARDS, UPSTREAM_DEFAULTS } from '../../core/catalogue/model.ts'
import { Name, Nullable, Strict, Timestamp, Warnings } from '../http/common-schemas.ts'
import { PATTERN_MESSAGE } from '../http/describe-problem.ts'
import { AuthSchema, AuthView } from './auth-schema.ts'

/** Its name and path, for its routes and for `agw apply`. */
export const INTEGRATION_RESOURCE = {
  name: 'integration',
  path: '/admin/integrations',
  id: 'integration_id',
} as const

/** An edge holds all integrations of an organization, compiled. */
export const INTEGRATIONS_LIMIT = 1000
/** Of JSON. One with a CA and a client certificate of its own has about 10 kB. */
export const INTEGRATIONS_LIMIT_BYTES = 8_388_608
/** Edges compile each base URL in three spellings, at every change. */
export const BASE_URL_SEGMENTS_LIMIT = 32
/** Scopes that one deletion with ?cascade=true removes in one script. */
export const CASCADE_SCOPES_LIMIT = 2000

const BaseUrl = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'Scheme, host, port and path up to and including the version segment of the API',
})

const HOUR_MS = 3_600_000
const RETRIES_LIMIT = 5
/** A certificate in PEM has about 2 kB. An edge holds all integrations of an organization. */
const CA_LENGTH_LIMIT = 32_768
const CERTIFICATE_LENGTH_LIMIT = 16_384
/** A key of 4,096 bits has 3.3 kB. */
const KEY_LENGTH_LIMIT = 8_192

const Pem = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, description })

const upstreamMembers = {
  connect_timeout_ms: Nullable(
    Type.Integer({ minimum: 10, maximum: 60_000, description: 'Default: 10 seconds' }),
  ),
  response_timeout_ms: Nullable(
    Type.Integer({
      minimum: 10,
      maximum: HOUR_MS,
      description:
        'From the end of the request to the headers of the response, for each attempt. Default: none; AGW_UPSTREAM_IDLE_TIMEOUT applies',
    }),
  ),
  retries: Nullable(
    Type.Integer({
      minimum: 0,
      maximum: RETRIES_LIMIT,
      description:
        'How often a call is repeated that the API cannot have received, or that has an idempotent method and got no response. Default: 1',
    }),
  ),
  pool_idle_timeout_ms: Nullable(
    Type.Integer({
      minimum: 100,
      maximum: HOUR_MS,
      description:
        'Unused connections to the API are closed after this time. Default: AGW_UPSTREAM_POOL_IDLE_TIMEOUT',
    }),
  ),
  ca_certificates: Nullable(
    Pem(
      CA_LENGTH_LIMIT,
      'PEM. Only these CAs are trusted for this API. Default: the public CAs and AGW_UPSTREAM_CA_FILE',
    ),
  ),
  client_certificate: Nullable(
    Pem(CERTIFICATE_LENGTH_LIMIT, 'PEM, the chain that is presented to the API (mutual TLS)'),
  ),
}

const UpstreamView = Strict(upstreamMembers)

const EditableUpstream = Strict({
  ...upstreamMembers,
  client_key: Type.Optional(
    Pem(
      KEY_LENGTH_LIMIT,
      'PEM, the private key of client_certificate. Write-only; stored encrypted',
    ),
  ),
})

const NewUpstream = Strict({
  connect_timeout_ms: Type.Optional(upstreamMembers.connect_timeout_ms),
  response_timeout_ms: Type.Optional(upstreamMembers.response_timeout_ms),
  retries: Type.Optional(upstreamMembers.retries),
  pool_idle_timeout_ms: Type.Optional(upstreamMembers.pool_idle_timeout_ms),
  ca_certificates: Type.Optional(upstreamMembers.ca_certificates),
  client_certificate: Type.Optional(upstreamMembers.client_certificate),
  client_key: EditableUpstream.properties.client_key,
})

const ALSO_HOSTS_LIMIT = 32
const REWRITE_HEADERS_LIMIT = 16

const alsoHostMembers = {
  host: Type.String({
    minLength: 1,
    maxLength: 253,
    description:
      'A host name, with its port unless that is 443, or one below a wildcard: *.example.com',
  }),
  methods: Type.Array(
    Type.String({
      pattern: "^(\\*|[A-Z0-9!#$%&'+.^_`|~-]{1,32})$",
      [PATTERN_MESSAGE]: 'must be "*" or an HTTP method in upper case',
    }),
    { minItems: 1, maxItems: 20 },
  ),
  paths: Type.Array(Type.String({ minLength: 1, maxLength: 2048 }), { minItems: 1, maxItems: 20 }),
  credential: Type.Boolean({
    description:
      'Whether calls to this host get the credential of the integration. Requires an exact host, and `auth` in the request that adds or changes the entry.',
  }),
}

/** Defaults for what an entry of `also_hosts` leaves out. */
export const ALSO_HOST_DEFAULTS = {
  methods: ['GET', 'HEAD'],
  paths: ['/**'],
  credential: false,
} as const

const AlsoHosts = Type.Array(
  Strict({
    host: alsoHostMembers.host,
    methods: Type.Optional(alsoHostMembers.methods),
    paths: Type.Optional(alsoHostMembers.paths),
    credential: Type.Optional(alsoHostMembers.credential),
  }),
  {
    maxItems: ALSO_HOSTS_LIMIT,
    description:
      'Further https hosts that belong to the API, such as its download host. An agent with a scope for the integration may call them, under the settings of that scope.',
  },
)
const RewriteHeaders = Type.Array(
  Type.String({
    pattern: "^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$",
    [PATTERN_MESSAGE]: 'must be the name of a header in lower case',
  }),
  {
    maxItems: REWRITE_HEADERS_LIMIT,
    description:
      'Names, in lower case, of further response headers that hold the URL of a next call. By base URL they are rewritten to URLs of the gateway.',
  },
)

export const EditableIntegration = Strict({
  name: Name,
  base_url: BaseUrl,
  strip_agent_id: Type.Boolean({ default: true }),
  allow_empty_segments: Type.Boolean({ default: false }),
  allow_encoded_slashes: Type.Boolean({
    default: false,
    description:
      'The API treats an encoded slash (%2F) as part of a name, as GitLab does. Otherwise a path with one is allowed only if one scope allows every reading of it: as written, and split at the encoded slashes. The same applies to & and to an encoded ? or #.',
  }),
  also_hosts: AlsoHosts,
  rewrite_headers: RewriteHeaders,
  echo_guard: Type.Enum([...ECHO_GUARDS], {
    default: 'off',
    description:
      '`headers`: if a response header or trailer repeats the attached credential (as it is, percent-encoded or in Base64), it is redacted there. `full`: a body that repeats it is withheld too (403 `credential_echoed`), and a stream is cut.',
  }),
  error_format: Type.Enum([...ERROR_FORMAT_NAMES], {
    default: 'gateway',
    description:
      'The shape of refusals, so that the SDKs of the API show their message. Status and X-Agw-Reason are the same. It applies once the caller is known and has a scope for the integration.',
  }),
  upstream: EditableUpstream,
  labels: LabelsSchema,
  /** A change without it keeps the stored credential. */
  auth: Type.Optional(AuthSchema),
})

export const NewIntegration = Strict({
  ...EditableIntegration.properties,
  auth: AuthSchema,
  strip_agent_id: Type.Optional(EditableIntegration.properties.strip_agent_id),
  allow_empty_segments: Type.Optional(EditableIntegration.properties.allow_empty_segments),
  allow_encoded_slashes: Type.Optional(EditableIntegration.properties.allow_encoded_slashes),
  also_hosts: Type.Optional(AlsoHosts),
  rewrite_headers: Type.Optional(RewriteHeaders),
  echo_guard: Type.Optional(EditableIntegration.properties.echo_guard),
  error_format: Type.Optional(EditableIntegration.properties.error_format),
  upstream: Type.Optional(NewUpstream),
  labels: Type.Optional(LabelsSchema),
})

export const IntegrationView = Strict({
  integration_id: Type.String(),
  name: Type.String(),
  base_url: Type.String(),
  strip_agent_id: Type.Boolean(),
  allow_empty_segments: Type.Boolean(),
  allow_encoded_slashes: Type.Boolean(),
  also_hosts: Type.Array(Strict(alsoHostMembers)),
  rewrite_headers: Type.Array(Type.String()),
  echo_guard: EditableIntegration.properties.echo_guard,
  error_format: Type.Enum([...ERROR_FORMAT_NAMES]),
  upstream: UpstreamView,
  labels: LabelsSchema,
  ...LabelEffects,
  auth: AuthView,
  created_at: Timestamp,
  warnings: Type.Optional(Warnings),
})

export const INTEGRATION_DEFAULTS = {
  strip_agent_id: true,
  allow_empty_segments: false,
  allow_encoded_slashes: false,
  also_hosts: [],
  rewrite_headers: [],
  echo_guard: 'off' as const,
  error_format: 'gateway' as const,
  upstream: UPSTREAM_DEFAULTS,
  labels: {},
}
