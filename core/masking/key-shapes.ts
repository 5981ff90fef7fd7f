/** Formats of keys and tokens that are recognized in any context. */
export interface KeyShape {
  readonly kind: string
  /** RE2, without groups: the prefix that stays visible and shows the kind of secret. */
  readonly shown: string
  /** RE2, without groups: the part that is masked. */
  readonly hidden: string
  /** Checks a match if the expression also matches ordinary text. */
  readonly isSecret?: (hidden: string) => boolean
  /** Its beginning may be followed by much that does not decide: it is searched for by itself, where this is in the text. */
  readonly reads_on?: RegExp
}

const any = (...parts: readonly string[]): string => `(?:${parts.join('|')})`

/** A slug of words has neither; nearly every random text of this length has one of them. */
const isRandom = (hidden: string): boolean => /[0-9A-Z]/.test(hidden) && !isPlaceholder(hidden)
/** Lower case, upper case and digits: not a word, a name or a hexadecimal number. */
const isMixed = (hidden: string): boolean =>
  /[a-z]/.test(hidden) && /[A-Z]/.test(hidden) && /[0-9]/.test(hidden)
/** `$TOKEN`, `<token>`, `{{ token }}`, `%s`, and code instead of a value. */
const isPlaceholder = (hidden: string): boolean => /^[$<{%`*]/.test(hidden)

/** Private keys in files and programs, also truncated ones. */
const PRIVATE_KEYS: readonly KeyShape[] = [
  {
    kind: 'private key, from its first line on',
    reads_on: /private/i,
    shown:
      '(?i:(?:[-–—]{2,5} ?)?BEGIN[ +][A-Z0-9 +]{0,40}PRIVATE[ +]KEY(?:[ +]BLOCK)?(?: ?[-–—]{2,5}|\\r?\\n))',
    hidden:
      '(?s:.*?)(?i:[-–—]{2,5} ?END[ +][A-Z0-9 +]{0,40}PRIVATE[ +]KEY(?:[ +]BLOCK)? ?[-–—]{2,5}|\\z)',
  },
  {
    kind: 'private key, up to its last line',
    reads_on: /private/i,
    shown: '',
    // Line ends may be escaped, as in JSON within JSON.
    hidden:
      '(?:[A-Za-z0-9+/=]|\\s|\\\\+[nr]){8,}(?i:-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5})',
  },
  {
    // The beginning of its DER encoding.
    kind: 'private key, Base64 without lines around it',
    shown: '\\bM',
    hidden: '(?:II[A-J]|HcC|Gc|GkC|GHA|IGH|FEC|C4C|HQC|D4C)[A-Za-z0-9+/]{60,}={0,2}',
  },
  {
    // `openssh-key-v1`, and `-----BEGIN` of a complete file.
    kind: 'private key, of OpenSSH or as a file in Base64',
    shown: '(?:b3BlbnNzaC1rZXktdjE|LS0tLS1CRUdJTi)',
    hidden: '(?:(?:\\r?\\n|\\\\+[nr])?[A-Za-z0-9+/]){20,}={0,2}',
  },
  {
    kind: 'private member of an RSAKeyValue',
    shown: '<(?:D|P|Q|DP|DQ|InverseQ)>',
    hidden: '[A-Za-z0-9+/=\\s]{20,}',
  },
  { kind: 'private key of PuTTY', shown: 'Private-Lines: ?\\d{1,3}', hidden: '(?s:.+)' },
  { kind: 'private key of age', shown: '(?i:\\bAGE-SECRET-KEY-1)', hidden: '(?i:[A-Z0-9]{20,})' },
  {
    kind: 'private member of a JSON Web Key',
    shown: '"(?:d|p|q|dp|dq|qi|k)[\\\\]{0,4}"\\s{0,4}:\\s{0,4}[\\\\]{0,4}"',
    hidden: '[-_A-Za-z0-9]{20,}',
  },
]

/** A key may follow a name that is joined to it (`TOKEN_ghp_…`). */
const BEGIN = '(?:\\b|_)'

/** Prefixes that end in a dash or an underscore, by issuer. */
const PREFIXES = any(
  'agw_live|agw_admin',
  // OpenAI, Anthropic, OpenRouter, Stripe, Clerk, Langfuse
  '[spr]k|SK|[spr]k_live|[spr]k_test|[spr]k_org_live|sk-proj|sk-ant|sk-or|sk-svcacct|sk-admin|sk-lf|pk-lf|whsec',
  // GitHub, GitLab, Bitbucket, Atlassian
  'gh[pousr]|github_pat|gl(?:pat|dt|rt|ptt|cbt|oas|ft|imt|agent|soat|ffct)|GR1348941|ATBB',
  // Slack, Shopify, Square, Razorpay, Plaid, EasyPost
  'xox[abceoprs]|xapp|shp(?:at|ss|ca|pa|tka)|sq0(?:atp|csp|idp)|rzp_live|rzp_test|EZ[AT]K',
  // npm, PyPI, RubyGems, crates.io, Docker, NuGet
  'npm|pypi|rubygems|cio|dckr_[po]at|oy2|AKCp',
  // Google, DigitalOcean, Heroku, Fly, Vercel, Render, Supabase, PlanetScale, Neon, Databricks
  'GOCSPX|do[opr]_v1|HRKU|fo1|vercel|vc[pkairs]|cf[uao]t|CFPAT|pul|rnd|sbp|sb_secret|pscale_(?:tkn|pw|oauth)|neon|dapi',
  // Hugging Face, Replicate, Groq, xAI, Perplexity, NVIDIA, Tavily, Firecrawl, LangSmith, ElevenLabs
  'hf|api_org|sess|r8|gsk|xai|pplx|nvapi|tvly|lsv2_(?:pt|sk)|csk|fw|jina',
  // Notion, Linear, Figma, Airtable, Asana, Postman, Typeform, ClickUp, Intercom
  'ntn|secret|lin_api|lin_oauth|figd|PMAK|tfp',
  // Grafana, New Relic, Sentry, Datadog, PostHog, Brevo, Mailgun, Resend, CircleCI, Buildkite, Doppler
  'glsa|glc|NRAK|NRJS|sntry[su]|phc|phx|xkeysib|xsmtpsib|CCIPAT|CCIPRJ|bkua',
  // 1Password, Sourcegraph, Tailscale, HubSpot
  'ops|sgp|tskey|pat-(?:na|eu)\\d',
)

/** Formats defined by the issuers. */
const ISSUED: readonly KeyShape[] = [
  {
    kind: 'key with a prefix',
    shown: `${BEGIN}${PREFIXES}[-_]`,
    hidden: '[-_.+=A-Za-z0-9]{16,}',
    isSecret: isRandom,
  },
  {
    kind: 'key in Base64 with a prefix',
    shown: `${BEGIN}(?:fm2_|FlyV1 |xoxd-|ABSK|bedrock-api-key-|APA91b|IQoJb3JpZ2lu|FwoGZXIvYXdz)`,
    hidden: '[-_=A-Za-z0-9%+/]{20,}',
    isSecret: isRandom,
  },
  {
    kind: 'key of Slack',
    shown: '\\bxox[abceoprs]-|\\bxapp-',
    hidden: '[-A-Za-z0-9]{8,}',
    isSecret: isRandom,
  },
  {
    kind: 'key of AWS',
    shown: '(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA|ANPA|ANVA)',
    hidden: '[A-Z0-9]{12,}',
  },
  {
    // Formats that are long enough to be unambiguous without a prefix.
    kind: 'key whose form tells it in any place',
    shown:
      '(?:gh[pousr]_|github_pat_|glpat-|[srp]k_live_|AIza|ATATT3x|ATCTT3x|xox[abceoprs]-|EAAC|IGQ[VW]|AKCp|APA91b|GR1348941|LTAI|AKID)',
    hidden: '[-_=A-Za-z0-9]{20,}',
    isSecret: isRandom,
  },
  { kind: 'token of Dynatrace', shown: '\\bdt0[a-z]\\d{2}\\.', hidden: '[A-Z0-9.]{24,}' },
  { kind: 'key of Resend', shown: `${BEGIN}re_`, hidden: '[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}' },
  { kind: 'key of 1Password', shown: '\\bA3-', hidden: '[A-Z0-9]{6}-[-A-Z0-9]{11,}' },
  { kind: 'key of Cloudflare', shown: '\\bv1\\.0-', hidden: '[a-f0-9]{24}-[a-f0-9]{100,}' },
  { kind: 'token of Artifactory', shown: '\\bcmVmdGtu', hidden: '[A-Za-z0-9]{40,}' },
  {
    kind: 'former token of Vault',
    shown: '\\bs\\.',
    hidden: '[A-Za-z0-9]{24}\\b',
    isSecret: isMixed,
  },
  {
    kind: 'key of Google',
    shown: '\\b(?:AIza|AQ\\.Ab|ya29\\.|1//0)',
    hidden: '[-_A-Za-z0-9]{20,}',
  },
  { kind: 'key of Twilio', shown: '\\b(?:AC|SK)', hidden: '[a-f0-9]{32}\\b' },
  { kind: 'key of Mailgun', shown: '\\bkey-', hidden: '[a-f0-9]{32}\\b' },
  { kind: 'key of Mailchimp', shown: '', hidden: '\\b[a-f0-9]{32}-us\\d{1,2}\\b' },
  { kind: 'token of Airtable', shown: '\\bpat', hidden: '[A-Za-z0-9]{14}\\.[a-f0-9]{32,}' },
  { kind: 'key of SendGrid', shown: '\\bSG\\.', hidden: '[-_A-Za-z0-9]{16,}\\.[-_A-Za-z0-9]{16,}' },
  { kind: 'token of Telegram', shown: '', hidden: '\\d{8,10}:AA[-_A-Za-z0-9]{32,34}' },
  {
    kind: 'token of Discord',
    reads_on: /[MNO][-\w]{9}/,
    shown: '',
    hidden: '\\b[MNO][A-Za-z0-9_-]{23,27}\\.[-_A-Za-z0-9]{6}\\.[-_A-Za-z0-9]{27,}',
  },
  {
    kind: 'secret of Azure',
    shown: '',
    hidden: `${'[A-Za-z0-9_~.]'.repeat(3)}\\dQ~[A-Za-z0-9_~.-]{31,34}`,
  },
  { kind: 'token of Databricks or Facebook', shown: '\\b(?:dapi|EAA)', hidden: '[A-Za-z0-9]{32,}' },
  {
    kind: 'token of Vault, Terraform or Doppler',
    shown: '\\b(?:hv[sbr]\\.|[A-Za-z0-9]{14}\\.atlasv1\\.|dp\\.(?:pt|st|ct|sa|scim|audit)\\.)',
    hidden: '[-_.A-Za-z0-9]{20,}',
  },
  {
    kind: 'JSON Web Token',
    reads_on: /eyJ/,
    shown: '\\beyJ',
    hidden: '[-_A-Za-z0-9]{8,}\\.[-_A-Za-z0-9]{4,}(?:\\.[-_A-Za-z0-9]*){0,3}',
  },
  { kind: 'PASETO', shown: '\\bv[1-4]\\.(?:local|public)\\.', hidden: '[-_A-Za-z0-9]{20,}' },
]

/** Written out, so that the search does not stop at every short word after a name. */
const VALUE = '[-_A-Za-z0-9%+/=]'

/** Secrets at a known position of a URL or request. */
const IN_REQUESTS: readonly KeyShape[] = [
  {
    kind: 'scheme of Authorization',
    shown: '(?i:\\b(?:bearer|basic|token|negotiate) )',
    hidden: '[-_.~+/=A-Za-z0-9]{16,}',
    isSecret: isRandom,
  },
  {
    kind: 'Authorization',
    shown: `(?i:\\bauthorization[\\\\]{0,4}["']?[ \\t]{0,4}[:=][ \\t]{0,4}[\\\\]{0,4}["']?(?:[a-z][a-z0-9-]{2,20} {1,4})?)`,
    hidden: '[^\\s"\'<>\\\\]{4,}',
    isSecret: (hidden) =>
      (/[0-9=+/]/.test(hidden) || hidden.length >= 16) && !isPlaceholder(hidden),
  },
  {
    kind: 'password in a URL',
    shown: `://[^\\s/:@"'<>]{0,256}:`,
    hidden: `[^\\s/@"'<>]{1,512}@`,
    isSecret: (hidden) => !isPlaceholder(hidden),
  },
  {
    kind: 'user name in a URL',
    shown: '://(?:[rs]k_)?',
    hidden: `[^\\s/:@"'<>.]{12,512}@`,
    isSecret: isRandom,
  },
  {
    kind: 'parameter of a URL',
    shown:
      '(?i:[?&](?:[a-z0-9]{1,20}[-_]){0,4}(?:sig|signature|auth|key|apikey|token|secret|password|passwd|pwd|sid|session|credential)=)',
    hidden: `[^\\s&#"'<>]{6,}`,
    isSecret: isRandom,
  },
  {
    kind: 'signature of a request',
    reads_on: /sig|response|nonce|hmac/iu,
    shown:
      '(?i:\\b(?:[a-z0-9]{1,20}[-_]){0,4}(?:signature|response|nonce|sig|hmac)["\']?[ \\t]{0,2}[:=][ \\t]{0,2}["\']?)',
    hidden: `${VALUE.repeat(8)}${VALUE}{12,}`,
    isSecret: isRandom,
  },
  {
    kind: 'value named key',
    shown: '(?i:\\bkey["\']?[ \\t]{0,2}[:=][ \\t]{0,2}["\']?)',
    hidden: `${VALUE.repeat(8)}${VALUE}{12,}`,
    isSecret: (hidden) => /\d/.test(hidden) && /[a-z]/i.test(hidden) && isRandom(hidden),
  },
  {
    kind: 'argument of a command',
    reads_on: /sshpass|mysql/iu,
    shown: '(?i:\\bsshpass -p ?|\\bmysql(?:dump|admin)?\\b[^\\n]{0,200}? -p)["\']?',
    hidden: `[^\\s"'-][^\\s"']{3,256}`,
  },
  {
    kind: 'address of a webhook',
    shown:
      '(?i:\\bhooks\\.slack(?:-gov)?\\.com/(?:services|workflows|triggers)/|\\bdiscord(?:app)?\\.com/api/(?:v\\d+/)?webhooks/|\\bwebhook\\.office\\.com/webhookb2/|\\bapi\\.telegram\\.org/(?:file/)?bot|\\.infura\\.io/(?:ws/)?v3/|\\.alchemy\\.com/v2/|\\bhooks\\.zapier\\.com/hooks/catch/|\\bmaker\\.ifttt\\.com/trigger/[^/\\s]{1,100}/(?:json/)?with/key/|/services/T[A-Z0-9]{6,12}/B[A-Z0-9]{6,12}/|/api/(?:v\\d+/)?webhooks/\\d{16,20}/|/webhookb2/)',
    hidden: `[^\\s"'<>&]{8,}`,
    isSecret: (hidden) => !isPlaceholder(hidden),
  },
  {
    kind: 'user and password of curl',
    reads_on: /curl/,
    shown: `\\bcurl\\b[^\\n]{0,200}? (?:-u|--user)[ =]?["']?`,
    hidden: `[^\\s"':]{1,256}:[^\\s"']{0,256}`,
  },
]

export const KEY_SHAPES: readonly KeyShape[] = [...PRIVATE_KEYS, ...ISSUED, ...IN_REQUESTS]
