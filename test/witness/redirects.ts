import { readFileSync, writeFileSync } from 'node:fs'
import { fromRoot } from '../../core/root.ts'
import { startFleet } from '../kit/start-fleet.ts'
import { type KeyHeader, ORDINARY_NAMES, startRedirectApis } from '../kit/start-redirect-apis.ts'
import { type Client, redirectClients } from './redirect-clients.ts'

/**
 * Lets clients of several languages follow redirects and keep cookies through the gateway, and compares what arrived at
 * which API with `redirects.json`: no client may reach the other API. A client that is not on this machine is named and
 * skipped; its part of the record stays. Packages of Python and npm are installed into a folder of their own.
 *
 *     node cli/prepare.mjs build && node dist/test/witness/redirects.js [--record] [client ...]
 */
const RECORD = fromRoot('test', 'witness', 'redirects.json')
interface ThirdParty {
  readonly got_key: boolean
  /** With the key: clients that keep it from other hosts may send it again to the first. */
  readonly reached_other_api: boolean
}

interface Seen {
  readonly version: string
  /** Cases of which a call arrived at the other API; none may. */
  readonly reached: Readonly<Record<KeyHeader, readonly string[]>>
  /** Ordinary redirects that did not arrive. */
  readonly missed: Readonly<Record<KeyHeader, readonly string[]>>
  /** What came of a redirect to another host that redirects back: what it got, and what was reached. */
  readonly third_party: Readonly<Record<KeyHeader, ThirdParty>>
  /** The cookies that came with a call to the API that set them, below a folder of it, and to the other API. */
  readonly cookies: Readonly<Record<'inside' | 'deep' | 'other', string>>
}

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const known = JSON.parse(readFileSync(RECORD, 'utf8')) as Record<string, Seen>
const seen: Record<string, Seen> = { ...known }
const fleet = await startFleet()
try {
  for (const [name, client] of Object.entries(redirectClients)) {
    if (words.length > 0 && !words.includes(name)) continue
    const one = await observe(client).catch((error: unknown) => String(error))
    if (typeof one === 'string') {
      console.log(`${name.padEnd(10)} is not on this machine: ${one}`)
      continue
    }
    const { version, reached, missed, third_party, cookies } = one
    const count = reached.authorization.length + reached['x-api-key'].length
    console.log(`${name.padEnd(10)} reached the other API in ${count} cases (${version})`, {
      missed,
      third_party,
      cookies,
    })
    if (count > 0) process.exitCode = 1
    seen[name] = one
  }
} finally {
  await fleet.stop()
}
if (process.argv.includes('--record')) writeFileSync(RECORD, `${JSON.stringify(seen, null, 2)}\n`)
else
  for (const [name, one] of Object.entries(seen))
    if (
      JSON.stringify({ ...one, version: '' }) !== JSON.stringify({ ...known[name], version: '' })
    ) {
      console.log(`${name} differs from the record`)
      process.exitCode = 1
    }

async function observe(client: Client): Promise<Seen> {
  const gateway = fleet.envoys[0]?.url ?? ''
  const one = async (keyHeader: KeyHeader) => {
    const apis = await startRedirectApis(fleet.operator, gateway, keyHeader)
    const { login, inside, deep, other } = apis.urls
    try {
      const version = await client({
        headers: apis.headers,
        redirects: [...apis.cases.map(({ url }) => url), apis.third_party.url],
        references: [],
        jars: [[login, inside, deep, other]],
      })
      const arrived = apis.arrived()
      const cookies = {
        inside: apis.cookiesAt('/inside').join(),
        deep: apis.cookiesAt('/deep/x').join(),
        other: apis.cookiesAt('/other').join(),
      }
      const missed = ORDINARY_NAMES.filter((name) => !arrived.includes(name))
      const third_party: ThirdParty = {
        got_key: apis.third_party.seen().with_key > 0,
        reached_other_api: apis.third_party.reached(),
      }
      return { version, reached: apis.reached(), missed, third_party, cookies }
    } finally {
      await apis.stop()
    }
  }
  const [bearer, header] = [await one('authorization'), await one('x-api-key')]
  return {
    version: bearer.version,
    reached: { authorization: bearer.reached, 'x-api-key': header.reached },
    missed: { authorization: bearer.missed, 'x-api-key': header.missed },
    third_party: { authorization: bearer.third_party, 'x-api-key': header.third_party },
    cookies: bearer.cookies,
  }
}
