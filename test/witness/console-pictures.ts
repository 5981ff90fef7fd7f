import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Page, type Request } from 'playwright-core'
import type { ActivityEntry } from '../../core/activity/activity-entry.ts'
import { mintActivityId } from '../../core/activity/activity-id.ts'
import { recordEntries } from '../../core/change/record-entries.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import { operatorAt } from '../kit/operator.ts'
import { problemsOf, TOO_WIDE } from '../kit/page-problems.ts'
import { newAdminIdentity, startAdmin } from '../kit/start-admin.ts'
import { startValkey } from '../kit/start-valkey.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'
import { writePicture } from './write-picture.ts'

// node dist/test/witness/console-pictures.js [FOLDER [PAGE [AGENTS]]]: pictures of every page of the console, light, dark and narrow, on
// a store with a week of made-up calls. No edge runs; what the page asks of edges is answered here. With a number of agents, PNG of
// three widths in both schemes, of the pages whose names begin with one of PAGE (separated by commas), and what axe finds or is too wide.

const [folder = 'docs/pictures', only = '', agent_count] = process.argv.slice(2)
const COUNT = agent_count === undefined ? null : Number(agent_count)
const VIEWS =
  COUNT === null
    ? ([
        ['light', 1280, 800],
        ['dark', 1280, 800],
        ['narrow', 390, 844],
      ] as const)
    : [390, 768, 1440].flatMap((width) =>
        ['light', 'dark'].map((scheme) => [`${width}-${scheme}`, width, 900] as const),
      )
const ORG = 'org_default'
const HOUR_MS = 3_600_000
const PARTS = { redis: 'ok', store: 'ok', edges: 'ok', proxy: 'ok', encryption_key: 'ok' }
/** A change of the address alone is no loading of a page that a browser could be asked to wait for. */
const SETTLED_MS = 600
const ENTRIES = 6_000
/** After this entry, so many calls like another one follow within a minute and a half. */
const BURST = { after: 5_000, like: 4, calls: 80, every_ms: 1_000 }
const NAMED = [
  'billing-bot',
  'research-crawler',
  'docs-writer',
  'support-triage',
  'release-manager',
  'oncall-helper',
]
const NAMES =
  COUNT === null ? NAMED : Array.from({ length: COUNT }, (_, i) => `${NAMED[i % 6]}-${i + 1}`)
const APIS = [
  ['openai', 'https://api.openai.com/v1', '/chat/completions'],
  ['stripe', 'https://api.stripe.com/v1', '/charges'],
  ['notion-mcp', 'https://mcp.notion.com', '/mcp'],
  ['slack', 'https://slack.com/api', '/chat.postMessage'],
] as const
const REFUSALS = [
  [
    'permission_denied',
    'permission_denied',
    { attempted_action: 'DELETE /charges/ch_1', reason: 'method_not_allowed' },
  ],
  ['rate_limit_exceeded', 'rate_limit_exceeded', { limit: 60, current_rpm: 60 }],
  [
    'injection_blocked',
    'security_block',
    {
      pattern_name: 'ignore_previous_instructions',
      severity: 'critical',
      matched_text: 'Ignore all previous instructions',
      location: 'body.messages[1].content',
    },
  ],
  ['mcp_tool_blocked', 'mcp_tool_blocked', { tool_name: 'delete_page', reason: 'denied' }],
] as const

const valkey = await startValkey()
const redis = connectRedis(valkey.url, { name: 'pictures', role: 'queue' })
const admin = await startAdmin(valkey.url, newAdminIdentity(), {
  AGW_ARCHIVE_DIR: tempFolder('archive'),
})
const operator = operatorAt(admin.url, admin.token)
try {
  const made = await fillStore()
  mkdirSync(folder, { recursive: true })
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM_BIN'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  })
  for (const [kind, width, height] of VIEWS) {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme: kind.endsWith('dark') ? 'dark' : 'light',
    })
    const page = await context.newPage()
    const loading = new Set<Request>()
    page.on('request', (request) => loading.add(request))
    page.on('requestfinished', (request) => loading.delete(request))
    page.on('requestfailed', (request) => loading.delete(request))
    await pretendEdges(page)
    page.on('pageerror', (error) => process.stdout.write(`${error.message}\n`))
    await page.goto(admin.url)
    await page.getByLabel('Admin token').fill(admin.token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    for (const [name, hash] of pagesOf(made)) {
      if (!only.split(',').some((part) => name.startsWith(part))) continue
      await page.goto(`${admin.url}/#/${hash}`)
      await settle(page, loading)
      if (COUNT === null) await writePicture(page, join(folder, `${name}-${kind}.webp`))
      else {
        const path = join(folder, `${name}-${COUNT}-${kind}.png`)
        await page.screenshot({ path, fullPage: true })
        const wide = (await page.evaluate(TOO_WIDE)) as string[]
        for (const problem of [...(await problemsOf(page)), ...wide])
          process.stdout.write(`${name} ${COUNT} ${kind}: ${problem}\n`)
      }
    }
    await context.close()
  }
  await browser.close()
} finally {
  await admin.stop()
  redis.disconnect()
  await valkey.stop()
}

interface Made {
  readonly agent_id: string
  readonly scope_id: string
  readonly kill_id: string
  readonly webhook_id: string
  readonly delivery_id: string
  readonly entry_id: string
}

function pagesOf(made: Made): readonly (readonly [name: string, hash: string])[] {
  return [
    ['overview', ''],
    ['flow', 'flow?minutes=60'],
    ['access-map', 'map'],
    ['activity', 'activity'],
    ['drawer', `activity/${made.entry_id}`],
    ['agents', 'agents'],
    ['agent', `agents/${made.agent_id}`],
    ['integrations', 'integrations'],
    ['add-slack', 'integrations?do=add slack'],
    ['scopes', 'scopes'],
    ['scope', `scopes/${made.scope_id}`],
    ['alerts', 'alerts'],
    ['anomalies', `anomalies?agent_id=${made.agent_id}`],
    ['kills', 'kills'],
    ['kill', `kills/${made.kill_id}`],
    ['webhooks', 'webhooks'],
    ['webhook', `webhooks/${made.webhook_id}`],
    ['delivery', `webhooks/${made.webhook_id}?delivery=${made.delivery_id}`],
    ['security', 'security'],
    ['try', 'try'],
    ['settings', 'settings'],
    ['organizations', 'settings?tab=organizations'],
    ['health', 'settings?tab=health'],
    ['audit', 'settings?tab=audit'],
  ]
}

async function pretendEdges(page: Page): Promise<void> {
  const started_at = new Date(Date.now() - 30 * HOUR_MS).toISOString()
  const data = ['edge-1', 'edge-2'].map((edge_id, i) => ({
    edge_id,
    region: 'local',
    role: i === 0 ? 'active' : 'standby',
    started_at,
    version: '0.2.0',
    in_flight: 3 + i,
    tunnels: i,
    beat_age_ms: 212 + i * 40,
    draining: false,
  }))
  await page.route('**/readyz', (route) => route.fulfill({ json: { ready: true, parts: PARTS } }))
  await page.route('**/admin/edges', (route) =>
    route.fulfill({ json: { data, next_cursor: null } }),
  )
  await page.route('**/admin/kills/*', async (route) => {
    const kill = await (await route.fetch()).json()
    const edges = [18, 31, 74, 130].map((acknowledged_ms, i) => {
      const edge_id = `edge-${i + 1}`
      return { edge_id, region: 'local', acknowledged_ms, terminated: i * 18, unconfirmed: 0 }
    })
    await route.fulfill({ json: { ...kill, edges, propagation_ms: 130 } })
  })
  await page.route('**/admin/stats', async (route) => {
    const answer = await route.fetch()
    const stats = await answer.json()
    await route.fulfill({ json: { ...stats, edges: { live: 2, silent: 0, in_flight: 7 } } })
  })
}

/** Until nothing is loading. */
async function settle(page: Page, loading: ReadonlySet<Request>): Promise<void> {
  await page.waitForTimeout(SETTLED_MS)
  await until('nothing is loading', async () => loading.size === 0)
  for (const text of [/^Loading/, /^Searching/])
    await page.getByText(text).first().waitFor({ state: 'hidden' })
  await page.waitForTimeout(SETTLED_MS)
}

async function fillStore(): Promise<Made> {
  const agents: { agent_id: string }[] = []
  for (const agent_name of NAMES)
    agents.push(await operator.send('POST', '/admin/agents', { agent_name }))
  const integrations: { integration_id: string }[] = []
  for (const [name, base_url] of APIS) {
    const auth = { type: 'bearer', token: 'sk-a-credential-of-nobody' }
    integrations.push(await operator.send('POST', '/admin/integrations', { name, base_url, auth }))
  }
  const scopes: { scope_id: string }[] = []
  for (const [which, { agent_id }] of agents.entries())
    for (const [at, { integration_id }] of integrations.entries())
      if (which < 30)
        scopes.push(
          await operator.send('POST', '/admin/scopes', {
            name: `${APIS[at]?.[0]} for ${NAMES[which]}`,
            agent_id,
            integration_id,
            rules: [
              { methods: ['POST'], paths: [APIS[at]?.[2]] },
              { methods: ['GET'], paths: ['/models/**', '/charges/*'] },
            ],
          }),
        )
  const begin_ms = Date.now() - 7 * 24 * HOUR_MS
  const step_ms = (7 * 24 * HOUR_MS) / ENTRIES
  for (let from = 0; agents.length > 0 && from < ENTRIES; from += 500) {
    const pipeline = redis.pipeline()
    for (let i = from; i < from + 500; i++) {
      const at_ms = Math.floor(begin_ms + i * step_ms)
      const entry = anEntry(i, at_ms, { agents, integrations, scopes })
      pipeline.xadd(REDIS_KEYS.activity(ORG), `${at_ms}-*`, 'e', JSON.stringify(entry))
      for (let k = 1; i === BURST.after && k <= BURST.calls; k++) {
        const next_ms = at_ms + k * BURST.every_ms
        const next = anEntry(BURST.like, next_ms, { agents, integrations, scopes })
        pipeline.xadd(REDIS_KEYS.activity(ORG), `${next_ms}-*`, 'e', JSON.stringify(next))
      }
    }
    // The entries of the set-up came first; the log begins again with those of the past.
    if (from === 0) await redis.del(REDIS_KEYS.activity(ORG), REDIS_KEYS.activityDigest(ORG))
    await pipeline.exec()
  }
  const last = Array.from({ length: agents.length === 0 ? 0 : 60 }, (_, i) =>
    anEntry(i * 7, Date.now() - (60 - i) * 20_000, { agents, integrations, scopes }),
  )
  await recordEntries(redis, ORG, last)
  const none = { scope_id: 'none', kill_id: 'none', webhook_id: 'none', delivery_id: 'none' }
  if (agents.length === 0) return { agent_id: 'none', entry_id: 'none', ...none }
  const path = `/admin/agents/${agents[2]?.agent_id}/kill`
  const { kill_id } = await operator.send('POST', path, {
    reason: 'Its key was found in a public repository.',
  })
  await countUnknownCalls()
  const limited = { name: 'nightly jobs', agent_ids: [agents[1]?.agent_id] }
  await operator.send('POST', '/admin/keys', limited)
  await operator.send('POST', '/admin/organizations', { name: 'Acme Ltd' })
  const webhook = await operator.send('POST', '/webhooks', {
    name: 'pager',
    url: 'https://hooks.example.com/agw',
    events: ['agent_killed', 'injection_blocked'],
    secret: 'a secret for pictures',
  })
  const { delivery_id } = await operator.send('POST', `/webhooks/${webhook.webhook_id}/test`)
  await until('the log is indexed', async () => {
    const [newest] = await redis.xrevrange(REDIS_KEYS.activity(ORG), '+', '-', 'COUNT', 1)
    return (await redis.hget(REDIS_KEYS.activityDigest(ORG), 'position')) === newest?.[0]
  })
  // Not the newest: those were written later than their ids say.
  const found = await operator.send('GET', '/admin/activity?event=injection_blocked&limit=50')
  return {
    agent_id: agents[0]?.agent_id ?? 'none',
    scope_id: scopes[0]?.scope_id ?? '',
    kill_id,
    webhook_id: webhook.webhook_id,
    delivery_id,
    entry_id: found.data.at(-1)?.id ?? '',
  }
}

/** Of the last hours, by the minute. */
async function countUnknownCalls(): Promise<void> {
  const now = Math.floor(Date.now() / 60_000)
  for (let i = 0; i < 200; i++) {
    const key = REDIS_KEYS.unknownCalls(now - i * 5)
    await redis.hset(key, 'invalid_api_key', 1 + ((i * 7) % 9))
    if (i % 4 === 0) await redis.hset(key, 'authentication_required', 1 + (i % 3))
  }
}

interface Actors {
  readonly agents: readonly { agent_id: string }[]
  readonly integrations: readonly { integration_id: string }[]
  /** Of each agent, one for each integration. */
  readonly scopes: readonly { scope_id: string }[]
}

/** Deterministic but for ids and times. Refusals follow the hours of a day. */
function anEntry(
  i: number,
  at_ms: number,
  { agents, integrations, scopes }: Actors,
): ActivityEntry {
  const dice = (factor: number): number => (((i + 1) * factor) % 65_536) / 65_536
  const agent = Math.floor(dice(40_503) * NAMES.length)
  const api = Math.floor(dice(25_033) * APIS.length)
  const hour = new Date(at_ms).getUTCHours()
  const isRefused = dice(31_337) < 0.04 + 0.12 * Math.sin((hour / 24) * Math.PI)
  const [event, reason, data] = REFUSALS[Math.floor(dice(17_389) * REFUSALS.length)] ?? REFUSALS[0]
  return {
    id: mintActivityId(at_ms),
    timestamp: new Date(at_ms).toISOString(),
    event: isRefused ? event : 'request_allowed',
    organization_id: ORG,
    agent_id: agents[agent]?.agent_id ?? null,
    agent_name: NAMES[agent] ?? null,
    key_id: null,
    integration_id: integrations[api]?.integration_id ?? null,
    scope_id: isRefused ? null : (scopes[agent * APIS.length + api]?.scope_id ?? null),
    rule: isRefused ? null : 0,
    method: 'POST',
    endpoint: `/v1${APIS[api]?.[2]}`,
    status: isRefused ? 403 : 200,
    decision: isRefused ? 'blocked' : 'allowed',
    reason: isRefused ? reason : null,
    source_ip: '203.0.113.9',
    request_id: crypto.randomUUID(),
    edge_id: 'edge-1',
    steps: ['target', 'integration', 'agent', 'scope', 'rate', 'scan'].map((step, at, all) => ({
      step,
      outcome: isRefused && at === all.length - 1 ? ('deny' as const) : ('pass' as const),
      took_us: 40 + at * 30,
    })),
    duration_ms: isRefused ? null : Math.round(200 + dice(9_973) * 4_000),
    bytes_in: 2048,
    bytes_out: 1024,
    data: isRefused ? data : {},
  }
}
