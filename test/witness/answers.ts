import { parseArgs } from 'node:util'
import { SeededRandom } from '../kit/seeded-random.ts'
import { startFleet } from '../kit/start-fleet.ts'
import type { KeyHeader } from '../kit/start-redirect-apis.ts'
import { type HostileApis, startHostileApis, STORED } from './hostile-apis.ts'
import { type Answer, randomAnswer, randomCookies } from './random-answers.ts'
import { type Client, redirectClients } from './redirect-clients.ts'

/**
 * Random hostile answers of an API, and real clients that follow them through the gateway: none may reach an integration
 * other than the one it called, take a stored credential or the gateway key to another place, or send a cookie of one
 * API to another. Prints what each client did; a violation is printed with the answer that caused it.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/answers.js [--answers 600] [--jars 150] [--seed 1]
 *         [--key authorization|x-api-key] [client ...]
 *
 * A client that is not on this machine is named and skipped.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    answers: { type: 'string', default: '600' },
    jars: { type: 'string', default: '150' },
    seed: { type: 'string', default: '1' },
    key: { type: 'string', default: 'authorization' },
  },
})

/** How a caller may spell the API's origin in the target. */
const SPELLINGS = [
  (origin: string) => origin,
  (origin: string) => origin,
  (origin: string) => origin.replace('://', ':/'),
  (origin: string) => origin.replace('://', '%3A//'),
  (origin: string) => origin.replace('http', 'HTTP'),
]

/** These send every header to every host, as they would the key of the API itself; see docs/guides/transparency.md. */
const SENDS_KEY_ANYWHERE: readonly string[] = [
  'urllib',
  'mechanize',
  'java',
  'ruby',
  'php',
  'wget',
  'perl',
  'java-url',
]

interface Case {
  readonly name: string
  readonly url: string
  /** The base URL through the gateway, spelled as in `url`. */
  readonly base: string
  readonly shown: string
}

const keyHeader: KeyHeader = values.key === 'x-api-key' ? 'x-api-key' : 'authorization'
const fleet = await startFleet()
let violations = 0
try {
  for (const [name, client] of Object.entries(redirectClients))
    if (positionals.length === 0 || positionals.includes(name))
      violations += await witness(name, client)
} finally {
  await fleet.stop()
}
console.log(`${violations} violations`)
if (violations > 0) process.exitCode = 1

async function witness(name: string, client: Client): Promise<number> {
  const gateway = fleet.envoys[0]?.url ?? ''
  const apis = await startHostileApis(fleet.operator, gateway, keyHeader)
  try {
    // The same answers for each client.
    const random = new SeededRandom(Number(values.seed))
    const answers = Array.from({ length: Number(values.answers) }, (_, i) =>
      randomAnswer(random, apis.places, i),
    )
    const cases = answers.map((answer, i) => caseOf(apis, gateway, `s${i}`, textOf(answer), random))
    // Clients call a reference with the key wherever it leads, so these have cases of their own.
    const referring = answers.flatMap((answer, i) => {
      if (isPlainRedirect(answer)) return []
      const text = textOf(answer).replaceAll(`s${i}`, `t${i}`)
      return [caseOf(apis, gateway, `t${i}`, text, random)]
    })
    const jars = Array.from({ length: Number(values.jars) }, (_, i) => {
      const lines = randomCookies(random, apis.places, i)
      const text = `HTTP/1.1 200 OK\r\n${linesOf(lines)}content-length: 2\r\n\r\nok`
      return caseOf(apis, gateway, `c${i}`, text, random)
    })
    const version = await client({
      headers: apis.headers,
      redirects: cases.map(({ url }) => url),
      references: referring.map(({ url }) => url),
      jars: jars.map(({ name: marker, url, base }) => [
        url,
        `${base}/r/back-${marker}`,
        `${gateway}/${apis.places.other}/${marker}`,
        `${base}/r/again-${marker}`,
      ]),
    }).catch((error: unknown) => new Error(String(error)))
    if (version instanceof Error) {
      console.log(`${name.padEnd(10)} is not on this machine: ${version.message.slice(0, 300)}`)
      return 0
    }
    const found = violationsOf(apis, [...cases, ...referring, ...jars], name)
    const ordinary = answers.flatMap(({ kind }, i) => (kind === 'ordinary' ? [i] : []))
    const arrived = ordinary.filter((i) =>
      apis.heads.mine().some((head) => head.includes(`done-${i} `) || head.includes(`done-${i}?`)),
    )
    const missed = ordinary.filter((i) => !arrived.includes(i)).map((i) => answers[i]?.lines[0])
    const kept = jars.filter(({ name: marker, shown }) => shown.includes(`${marker}=ordinary`))
    const returned = kept.filter(({ name: marker }) =>
      apis.heads
        .mine()
        .some((head) => head.includes(`/r/back-${marker} `) && head.includes(`${marker}=ordinary`)),
    )
    console.log(
      `${name.padEnd(10)} ${cases.length + referring.length} answers, ${jars.length} jars: ${found.length} violations; ` +
        `${arrived.length} of ${ordinary.length} ordinary redirects arrived, ${returned.length} of ${kept.length} ordinary cookies (${version})`,
    )
    if (missed.length > 0) console.log('  missed', JSON.stringify([...new Set(missed)]))
    for (const text of found) console.log(`  ${text}`)
    return found.length
  } finally {
    await apis.stop()
  }
}

function caseOf(
  { answers, mine }: HostileApis,
  gateway: string,
  name: string,
  text: string,
  random: SeededRandom,
): Case {
  answers.set(name, text)
  const spelled = random.pick(SPELLINGS)(mine)
  const origin = spelled.replace(/\/v1$/, '')
  const url = name.startsWith('c')
    ? random.pick([`${spelled}/r/${name}`, `${origin}?x=/r/${name}`, `${origin}/?x=/r/${name}`])
    : `${spelled}/${random.pick(['', '', 'a/', 'a/b/c/'])}r/${name}`
  return {
    name,
    url: `${gateway}/${url}`,
    base: `${gateway}/${spelled}`,
    shown: `${url} ${JSON.stringify(text)}`,
  }
}

function isPlainRedirect(answer: Answer | undefined): boolean {
  if (answer === undefined || answer.status < 301 || answer.status > 399) return false
  return answer.lines.every((line) => /^location:/i.test(line))
}

function linesOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\r\n`).join('')
}

function textOf({ status, lines }: Answer): string {
  return `HTTP/1.1 ${status} X\r\n${linesOf(lines)}content-length: 2\r\n\r\nok`
}

function violationsOf(apis: HostileApis, cases: readonly Case[], client: string): string[] {
  const found: string[] = []
  const add = (what: string, head: string): void => {
    const marker = /[stc]\d+/.exec(head.split('\r\n', 1)[0] ?? '')?.[0]
    const shown = cases.find(({ name }) => name === marker)?.shown ?? ''
    found.push(`${what}: ${head.slice(0, 120).replaceAll(/\s+/g, ' ')} after ${shown}`)
  }
  const { mine, other, neighbour, same_host, other_host } = apis.heads
  // With a cookie jar the other API is called on purpose.
  for (const head of other())
    if (/^GET \/v1\/c\d+ /.test(head)) {
      if (/\r\ncookie:/i.test(head))
        add(`cookie at the other API (${/\r\ncookie:.*/i.exec(head)?.[0].trim()})`, head)
    } else add('reached the other API', head)
  for (const head of neighbour()) add('reached the other integration of the origin', head)
  for (const [place, heads] of Object.entries({ mine, other, neighbour, same_host, other_host }))
    for (const head of heads()) {
      const mayHave = place in STORED ? STORED[place as keyof typeof STORED] : ''
      if (Object.values(STORED).some((token) => token !== mayHave && head.includes(token)))
        add(`stored credential at ${place}`, head)
      if (
        head.includes(apis.key) &&
        !SENDS_KEY_ANYWHERE.includes(client) &&
        keyHeader === 'authorization' &&
        !/^\S+ \S*\/kt\d/.test(head)
      )
        add(`gateway key at ${place}`, head)
      if (/agw_session/i.test(/\r\ncookie:.*/i.exec(head)?.[0] ?? ''))
        add(`own cookie at ${place}`, head)
    }
  return found
}
