import { readFileSync } from 'node:fs'
import { fromRoot } from '../../core/system/root.ts'

// Headers as clients send them, to count false alarms with: real user agents from two public lists, and cookies,
// referers and others in the forms of widespread products, filled by a seeded generator.

type Pair = readonly [name: string, value: string]

const json = (...path: readonly string[]): unknown =>
  JSON.parse(readFileSync(fromRoot('node_modules', ...path), 'utf8'))

/** Of browsers and crawlers, about 2,200, and of SDKs and tools. */
export function userAgents(): string[] {
  const crawlers = json('crawler-user-agents', 'crawler-user-agents.json') as readonly {
    readonly instances?: readonly string[]
  }[]
  const browsers = ['desktop', 'mobile', 'index'].flatMap(
    (name) => json('top-user-agents', 'src', `${name}.json`) as readonly string[],
  )
  return [
    ...new Set([...crawlers.flatMap(({ instances = [] }) => instances), ...browsers, ...SDKS]),
  ]
}

const SDKS = [
  'OpenAI/Python 1.51.0',
  'AsyncOpenAI/Python 1.51.0',
  'OpenAI/JS 4.67.1',
  'Anthropic/Python 0.39.0',
  'anthropic-sdk-go/0.2.0',
  'Stripe/v1 NodeBindings/17.2.1',
  'Stripe/v1 PythonBindings/11.1.0',
  'octokit-core.js/6.1.2 octokit-rest.js/21.0.2 Node.js/20.18.0 (linux; x64)',
  'aws-sdk-js/3.670.0 ua/2.1 os/linux#6.8.0 lang/js md/nodejs#20.18.0 api/s3#3.670.0 m/E,N',
  'Boto3/1.35.36 md/Botocore#1.35.36 ua/2.0 os/linux#6.8.0 md/arch#x86_64 lang/python#3.12.7 md/pyimpl#CPython cfg/retry-mode#legacy Botocore/1.35.36',
  'aws-cli/2.18.5 md/awscrt#0.21.2 ua/2.0 os/linux#6.8.0 md/arch#x86_64 lang/python#3.12.6 md/prompt#off md/command#s3.cp',
  'Terraform/1.9.8 (+https://www.terraform.io) terraform-provider-google/6.6.0',
  'kubectl/v1.31.1 (linux/amd64) kubernetes/948afe5',
  'google-api-nodejs-client/7.2.0 (gzip)',
  'gl-python/3.12.7 grpc/1.66.2 gax/2.21.0 gapic/1.70.0',
  'python-requests/2.32.3',
  'python-httpx/0.27.2',
  'axios/1.7.7',
  'node-fetch/1.0 (+https://github.com/bitinn/node-fetch)',
  'undici',
  'Go-http-client/2.0',
  'okhttp/4.12.0',
  'Apache-HttpClient/5.3.1 (Java/21.0.4)',
  'curl/8.10.1',
  'Wget/1.24.5',
  'git/2.46.2',
  'Slackbot 1.0 (+https://api.slack.com/robots)',
  'PostmanRuntime/7.42.0',
  'insomnia/10.1.0',
  'Ruby',
  'Faraday v2.12.0',
  'GuzzleHttp/7',
  'Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8 Build/AP2A.240805.005)',
  'LangChain/0.3.3',
  'llama-index/0.11.17',
  'modelcontextprotocol-typescript/1.17.0',
  'cursor/0.42.3',
  'claude-cli/1.0.31 (external, cli)',
]

/** A small generator, so that a count is the same on every machine. */
class Dice {
  readonly words: readonly string[]
  #state: number

  constructor(seed: number, words: readonly string[] = WORDS) {
    this.#state = seed
    this.words = words
  }

  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.#state / 4_294_967_296) * limit)
  }

  of<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T
  }

  word(): string {
    return this.of(this.words)
  }

  text(alphabet: string, length: number): string {
    let text = ''
    for (let i = 0; i < length; i++) text += alphabet[this.below(alphabet.length)]
    return text
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)))
  }
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const HEX = '0123456789abcdef'
/** Of shops, wikis and trackers. */
const WORDS =
  'order invoice report settings account user admin page product cart checkout search profile team project issue ticket release docs guide tool agent data export print help status system model prompt'.split(
    ' ',
  )
/** The words that attacks are made of, in any order: what chance makes of them is the worst case. */
export const TRIGGER_WORDS =
  'system prompt instructions role override reset ignore previous rules policy developer mode debug act reply session token password reveal'.split(
    ' ',
  )

const jwt = (dice: Dice): string =>
  [
    Buffer.from('{"alg":"RS256","typ":"JWT","kid":"1"}'),
    Buffer.from(
      JSON.stringify({
        iss: 'https://login.example.com/',
        sub: dice.text(HEX, 24),
        roles: ['user', dice.of(['admin', 'system', 'developer', 'viewer'])],
        exp: 1_700_000_000 + dice.below(1e7),
      }),
    ),
    dice.bytes(256),
  ]
    .map((part) => part.toString('base64url'))
    .join('.')

/** The value of one cookie, by the product that sets it. */
const COOKIES: readonly ((dice: Dice) => string)[] = [
  (dice) => `_ga=GA1.2.${dice.below(1e9)}.${1_600_000_000 + dice.below(1e8)}`,
  (dice) =>
    `_ga_${dice.text(LETTERS, 10)}=GS1.1.${dice.below(1e10)}.${dice.below(50)}.1.${dice.below(1e10)}.60.0.0`,
  (dice) => `_fbp=fb.1.${dice.below(1e13)}.${dice.below(1e9)}`,
  (dice) => `_gcl_au=1.1.${dice.below(1e9)}.${dice.below(1e10)}`,
  (dice) => `PHPSESSID=${dice.text('abcdefghijklmnopqrstuv0123456789', 26)}`,
  (dice) => `JSESSIONID=${dice.text('0123456789ABCDEF', 32)}.node${dice.below(9)}`,
  (dice) =>
    `connect.sid=s%3A${dice.text(LETTERS, 32)}.${encodeURIComponent(dice.bytes(32).toString('base64'))}`,
  (dice) =>
    `csrftoken=${dice.text(LETTERS, 32)}; sessionid=${dice.text(LETTERS.toLowerCase(), 32)}`,
  (dice) =>
    `XSRF-TOKEN=${encodeURIComponent(
      Buffer.from(
        JSON.stringify({
          iv: dice.bytes(16).toString('base64'),
          value: dice.bytes(96).toString('base64'),
          mac: dice.text(HEX, 64),
          tag: '',
        }),
      ).toString('base64'),
    )}`,
  (dice) =>
    `_app_session=${encodeURIComponent(dice.bytes(220).toString('base64'))}--${encodeURIComponent(dice.bytes(12).toString('base64'))}--${encodeURIComponent(dice.bytes(16).toString('base64'))}`,
  (dice) => `id_token=${jwt(dice)}`,
  (dice) => `__Secure-next-auth.session-token=${jwt(dice)}`,
  (dice) =>
    `AWSALB=${dice.bytes(96).toString('base64')}; AWSALBCORS=${dice.bytes(96).toString('base64')}`,
  (dice) =>
    `cf_clearance=${dice.text(LETTERS, 43)}-${dice.below(1e10)}-1.2.1.1-${dice.text(LETTERS, 160)}`,
  (dice) => `.AspNetCore.Cookies=${dice.bytes(300).toString('base64url')}`,
  (dice) =>
    `OptanonConsent=isGpcEnabled=0&datestamp=Mon+Mar+0${1 + dice.below(9)}+2026+1${dice.below(10)}%3A21%3A05+GMT%2B0100+(Central+European+Standard+Time)&version=202401.1.0&browserGpcFlag=0&isIABGlobal=false&hosts=&consentId=${dice.text(HEX, 8)}-${dice.text(HEX, 4)}&interactionCount=1&landingPath=NotLandingPage&groups=C0001%3A1%2CC0002%3A${dice.below(2)}%2CC0004%3A0&AwaitingReconsent=false`,
  (dice) => `OptanonAlertBoxClosed=2026-03-0${1 + dice.below(9)}T10:21:05.120Z`,
  (dice) => `euconsent-v2=${dice.text(LETTERS, 180)}.YAAAAAAAAAAA`,
  (dice) =>
    `CookieConsent={stamp:%27${encodeURIComponent(dice.bytes(24).toString('base64'))}%27%2Cnecessary:true%2Cpreferences:false%2Cstatistics:false%2Cmarketing:false%2Cver:1%2Cutc:${dice.below(1e12)}%2Cregion:%27de%27}`,
  (dice) =>
    `hubspotutk=${dice.text(HEX, 32)}; __hssrc=1; __hssc=${dice.below(1e8)}.1.${dice.below(1e13)}`,
  (dice) =>
    `intercom-session-${dice.text(LETTERS, 8)}=${dice.bytes(110).toString('base64')}--${dice.text(HEX, 40)}`,
  (dice) =>
    `ajs_user_id=${dice.below(1e6)}; ajs_anonymous_id=%22${dice.text(HEX, 8)}-${dice.text(HEX, 4)}-4${dice.text(HEX, 3)}-8${dice.text(HEX, 3)}-${dice.text(HEX, 12)}%22`,
  (dice) =>
    `mp_${dice.text(HEX, 32)}_mixpanel=${encodeURIComponent(
      JSON.stringify({
        distinct_id: dice.text(HEX, 16),
        $device_id: dice.text(HEX, 16),
        $initial_referrer: `https://www.google.com/search?q=${dice.word()}+${dice.word()}`,
        utm_campaign: `${dice.word()}-${dice.word()}`,
      }),
    )}`,
  (dice) => `optimizelyEndUserId=oeu${dice.below(1e13)}r0.${dice.below(1e16)}`,
  (dice) =>
    `_hjSessionUser_${dice.below(1e6)}=${Buffer.from(JSON.stringify({ id: dice.text(HEX, 36), created: dice.below(1e13), existing: true })).toString('base64')}`,
  (dice) =>
    `wordpress_logged_in_${dice.text(HEX, 32)}=${dice.of(['admin', 'anna', 'editor'])}%7C${dice.below(1e10)}%7C${dice.text(LETTERS, 43)}%7C${dice.text(HEX, 64)}`,
  (dice) =>
    `wp-settings-1=libraryContent%3Dbrowse%26editor%3Dtinymce; wp-settings-time-1=${dice.below(1e10)}`,
  (dice) =>
    `cart=%5B%7B%22sku%22%3A%22${dice.text(LETTERS, 8)}%22%2C%22qty%22%3A${dice.below(9)}%7D%5D; currency=EUR; lang=${dice.of(['de-DE', 'en-US', 'fr', 'zh-CN'])}`,
  (dice) => `theme=${dice.of(['dark', 'light', 'system'])}; sidebar=collapsed; tz=Europe%2FBerlin`,
  (dice) =>
    `last_search=${dice.word()}%20${dice.word()}%20${dice.word()}; recent=${dice.word()}-${dice.word()}`,
  (dice) =>
    `flash=${encodeURIComponent(`Your ${dice.word()} was saved. Please check the ${dice.word()} page.`)}`,
]

/** `Cookie` headers of one to eight cookies each. */
export function cookies(count: number, words = WORDS): string[] {
  const dice = new Dice(20_260_301, words)
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + dice.below(8) }, () => dice.of(COOKIES)(dice)).join('; '),
  )
}

const HOSTS =
  'www.google.com www.bing.com duckduckgo.com github.com stackoverflow.com docs.example.com app.example.com internal.example.net'.split(
    ' ',
  )
const REFERERS: readonly ((dice: Dice) => string)[] = [
  (dice) => `https://${dice.of(HOSTS)}/`,
  (dice) =>
    `https://${dice.of(HOSTS)}/${dice.word()}/${dice.word()}-${dice.word()}/${dice.below(1e6)}`,
  (dice) =>
    `https://${dice.of(HOSTS)}/search?q=${dice.word()}+${dice.word()}+${dice.word()}&ei=${dice.text(LETTERS, 22)}&ved=${dice.text(LETTERS, 48)}`,
  (dice) =>
    `https://stackoverflow.com/questions/${dice.below(1e8)}/how-to-${dice.word()}-the-${dice.word()}-of-a-${dice.word()}-in-python`,
  (dice) =>
    `https://github.com/${dice.word()}/${dice.word()}/blob/main/src/${dice.word()}/${dice.word()}.ts#L${dice.below(900)}`,
  (dice) =>
    `https://app.example.com/login?redirect=%2F${dice.word()}%2F${dice.below(999)}%3Ftab%3D${dice.word()}&state=${dice.bytes(48).toString('base64url')}`,
  (dice) =>
    `https://login.example.com/authorize?client_id=${dice.text(HEX, 32)}&response_type=code&scope=openid%20profile%20email&nonce=${dice.text(LETTERS, 43)}&code_challenge=${dice.bytes(32).toString('base64url')}`,
  (dice) =>
    `https://mail.example.com/mail/u/0/?utm_source=newsletter&utm_medium=email&utm_campaign=${dice.word()}_${dice.word()}&fbclid=${dice.text(LETTERS, 61)}#inbox/${dice.text(LETTERS, 32)}`,
  (dice) => `android-app://com.${dice.word()}.${dice.word()}/`,
]

export function referers(count: number, words = WORDS): string[] {
  const dice = new Dice(4_711, words)
  return Array.from({ length: count }, () => dice.of(REFERERS)(dice))
}

/** What else clients send by themselves. */
const OTHERS: readonly ((dice: Dice) => Pair)[] = [
  (dice) => [
    'accept',
    dice.of([
      '*/*',
      'application/json',
      'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
      'application/vnd.github.v3+json',
      'text/event-stream, application/json',
    ]),
  ],
  (dice) => [
    'accept-language',
    dice.of([
      'en-US,en;q=0.9',
      'de-DE,de;q=0.9,en;q=0.8',
      'zh-CN,zh;q=0.9',
      'ar;q=0.5',
      'fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5',
    ]),
  ],
  (dice) => [
    'sec-ch-ua',
    dice.of([
      '"Chromium";v="130", "Google Chrome";v="130", "Not?A_Brand";v="99"',
      '"Not.A/Brand";v="8", "Chromium";v="114"',
    ]),
  ],
  (dice) => ['traceparent', `00-${dice.text(HEX, 32)}-${dice.text(HEX, 16)}-01`],
  (dice) => ['tracestate', `dd=s:1;o:rum;p:${dice.text(HEX, 16)},rojo=${dice.text(HEX, 16)}`],
  (dice) => [
    'baggage',
    `sentry-environment=production,sentry-release=${dice.word()}%40${dice.below(9)}.0.1,sentry-public_key=${dice.text(HEX, 32)},sentry-transaction=GET%20%2F${dice.word()}`,
  ],
  (dice) => ['sentry-trace', `${dice.text(HEX, 32)}-${dice.text(HEX, 16)}-1`],
  (dice) => ['x-csrf-token', dice.bytes(64).toString('base64')],
  (dice) => ['x-api-key', dice.of([dice.text(LETTERS, 40), dice.text(HEX, 64), jwt(dice)])],
  (dice) => ['api-key', dice.bytes(96).toString('base64')],
  (dice) => ['x-goog-api-key', `AIza${dice.text(LETTERS, 35)}`],
  (dice) => ['x-amz-security-token', `IQoJb3JpZ2lu${dice.bytes(600).toString('base64')}`],
  (dice) => ['x-amz-content-sha256', dice.of([dice.text(HEX, 64), 'UNSIGNED-PAYLOAD'])],
  (dice) => ['x-amz-date', `20260${1 + dice.below(9)}12T0${dice.below(9)}2105Z`],
  (dice) => ['x-shopify-access-token', `shpat_${dice.text(HEX, 32)}`],
  (dice) => ['x-hub-signature', `sha256=${dice.text(HEX, 64)}`],
  (dice) => ['http2-settings', dice.bytes(24).toString('base64url')],
  (dice) => ['if-none-match', `W/"${dice.text(HEX, 32)}"`],
  (dice) => [
    'idempotency-key',
    `stripe-node-retry-${dice.text(HEX, 8)}-${dice.text(HEX, 4)}-4${dice.text(HEX, 3)}-9${dice.text(HEX, 3)}-${dice.text(HEX, 12)}`,
  ],
  (dice) => ['x-stainless-arch', dice.of(['x64', 'arm64', 'other:riscv64'])],
  (dice) => [
    'x-goog-api-client',
    `gl-python/3.12.${dice.below(9)} grpc/1.66.2 gax/2.21.0 gapic/1.70.0`,
  ],
  (dice) => [
    'anthropic-beta',
    dice.of([
      'prompt-caching-2024-07-31',
      'computer-use-2024-10-22,prompt-caching-2024-07-31',
      'tools-2024-04-04',
      'token-counting-2024-11-01,message-batches-2024-09-24',
    ]),
  ],
  (dice) => [
    'x-amz-target',
    `DynamoDB_20120810.${dice.of(['PutItem', 'Query', 'BatchGetItem', 'UpdateItem'])}`,
  ],
  (dice) => [
    'content-disposition',
    `attachment; filename="${dice.word()} ${dice.word()} (${dice.below(9)}).pdf"; filename*=UTF-8''${dice.word()}%20${dice.word()}.pdf`,
  ],
  (dice) => [
    'prefer',
    dice.of([
      'respond-async, wait=10',
      'return=minimal',
      'odata.include-annotations="*"',
      'count=exact',
    ]),
  ],
  (dice) => ['from', `${dice.word()}@example.com`],
  (dice) => ['origin', `https://${dice.of(HOSTS)}`],
  (dice) => ['link', `<https://api.example.com/${dice.word()}?page=${dice.below(9)}>; rel="next"`],
  (dice) => ['x-requested-with', dice.of(['XMLHttpRequest', 'com.example.app'])],
  (dice) => ['via', `1.1 ${dice.of(HOSTS)} (squid/5.7), 2 ${dice.text(HEX, 12)}`],
]

export function otherHeaders(count: number): Pair[] {
  const dice = new Dice(99)
  return Array.from({ length: count }, () => dice.of(OTHERS)(dice))
}
