import assert from 'node:assert/strict'
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, before, beforeEach, test } from 'node:test'
import { archiveIdOf } from '../../admin/audit/archiver.ts'
import { archiveKeys, archiveRoots } from '../../core/activity/archive-line.ts'
import { ArchiveChain } from '../../admin/audit/archive-chain.ts'
import { recordEntries } from '../../core/change/record-entries.ts'
import { verifyArchive } from '../../core/activity/verify-archive.ts'
import { runAuditVerify } from '../../cli/commands/audit.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { parseKeyRing } from '../../core/keys/seal.ts'
import { logEntries } from '../kit/log-entries.ts'
import { activityEntry } from '../kit/activity-entry.ts'
import { type AdminInProcess, adminInProcess } from '../kit/admin-in-process.ts'
import { operatorAt } from '../kit/operator.ts'
import { type KitAdmin, newAdminIdentity, startAdmin } from '../kit/start-admin.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

const ORG = 'org_default'
const identity = newAdminIdentity()
const ring = archiveRoots(parseKeyRing(identity.encryption_key))
const folder = tempFolder('archive')
let valkey: KitValkey
let redis: RedisClient

before(async () => {
  valkey = await startValkey()
  redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
})
after(async () => {
  redis.disconnect()
  await valkey.stop()
})

/** In a process of its own, to be killed. */
const startProcess = (): Promise<KitAdmin> =>
  startAdmin(valkey.url, identity, { AGW_ARCHIVE_DIR: folder })

const start = (): Promise<AdminInProcess> =>
  adminInProcess(valkey.url, {
    AGW_ARCHIVE_DIR: folder,
    AGW_ADMIN_TOKEN: identity.token,
    AGW_ENCRYPTION_KEY: identity.encryption_key,
  })

/** As if the lease of a writer that was killed had run out, so that the next one writes at once. */
const endLease = (): Promise<unknown> => redis.del(REDIS_KEYS.archiveWriter(archiveIdOf(root())))

const root = (): string => join(folder, readdirSync(folder)[0] ?? '')
const hourFiles = (): string[] =>
  readdirSync(join(root(), ORG))
    .filter((file) => file.endsWith('.ndjson'))
    .sort()
/** Of whole lines: a kill may tear the last one, which the next writer mends. */
const archivedIds = (): string[] =>
  hourFiles()
    .flatMap((file) =>
      readFileSync(join(root(), ORG, file), 'utf8')
        .split('\n')
        .slice(0, -1),
    )
    .map((line) => JSON.parse(line).entry.id)

const storedIds = async (): Promise<string[]> => (await logEntries(redis, ORG)).map(({ id }) => id)

const record = (count: number): Promise<void> =>
  recordEntries(
    redis,
    ORG,
    Array.from({ length: count }, () =>
      activityEntry('permission_denied', { data: { text: 'Zoë ",\\"mac\\":\\"x' } }),
    ),
  )

const hasBegun = (): boolean => readdirSync(folder).length > 0 && readdirSync(root()).includes(ORG)

/** Of the last whole line. */
const lastArchivedId = (): string | undefined => {
  const file = hourFiles().at(-1)
  if (file === undefined) return undefined
  const line = readFileSync(join(root(), ORG, file), 'utf8')
    .split('\n')
    .at(-2)
  return line === undefined ? undefined : JSON.parse(line).entry.id
}

const allArchived = (): Promise<unknown> =>
  until('all is archived', async () => {
    const stored = await storedIds()
    return hasBegun() && lastArchivedId() === stored.at(-1)
  })

test('the archive has every entry once, in order, although its writer is repeatedly killed with -9', async () => {
  for (let round = 0; round < 2; round++) {
    const admin = await startProcess()
    const from = round === 0 ? 0 : archivedIds().length
    for (let i = 0; i < 20; i++) await record(50)
    await until('it writes', () => hasBegun() && archivedIds().length > from)
    await admin.kill()
    await endLease()
  }
  const last = await startProcess()
  await record(10)
  await allArchived()
  assert.deepEqual(archivedIds(), await storedIds())
  const report = await verifyArchive(root(), ring)
  assert.deepEqual(report.problems, [])
  assert.equal(report.lines, archivedIds().length)
  const stdout = new PassThrough()
  const env = { AGW_ENCRYPTION_KEY: identity.encryption_key }
  const options = { dir: folder, url: last.url, token: last.token }
  assert.equal(await runAuditVerify(options, env, stdout, new PassThrough()), 0)
  assert.match(String(stdout.read()), /up to the end known to the service/)
  await last.stop()
})

test('the service verifies its own archive while it writes to it, for operators', async () => {
  const admin = await startProcess()
  await record(30)
  await allArchived()
  const ask = async (token: string) =>
    await fetch(`${admin.url}/admin/audit/verify`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })
  const verify = async () => (await (await ask(admin.token)).json()) as Verified
  const whole = await verify()
  assert.deepEqual([whole.problems, whole.complete], [[], true])
  assert.ok(whole.lines >= 30)
  const operator = operatorAt(admin.url, admin.token)
  const viewer = { email: 'viewer@example.com', role: 'viewer' }
  const { token } = await operator.send('POST', '/admin/tokens', viewer)
  assert.equal((await ask(token)).status, 403)
  // Lines that the archiver adds between the change and its repair would be cut off.
  await allArchived()
  const [file = ''] = hourFiles()
  const path = join(root(), ORG, file)
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replace('permission_denied', 'permission_DENIED'))
  const [problem] = (await verify()).problems
  assert.equal(problem?.file, file)
  assert.match(problem.problem, /was changed/)
  writeFileSync(path, text)
  await admin.stop()
})

interface Verified {
  readonly lines: number
  readonly complete: boolean
  readonly problems: readonly { readonly file: string; readonly problem: string }[]
}

test('an organization that has no entry yet is no error of the archive', async () => {
  const admin = await start()
  const quiet = { organization_id: 'org_quiet', name: 'quiet', created_at: '2026-01-01T00:00:00Z' }
  await redis.hset(REDIS_KEYS.organizations, quiet.organization_id, JSON.stringify(quiet))
  // The archiver has looked at every organization once when it archives what came after.
  for (const round of [1, 2]) {
    await record(round)
    await allArchived()
  }
  assert.deepEqual((await verifyArchive(root(), ring)).problems, [])
  await redis.hdel(REDIS_KEYS.organizations, quiet.organization_id)
  await admin.stop()
})

/** An archive of 30 lines in three files, of its own. */
async function smallArchive(): Promise<string> {
  const own = tempFolder('small-archive')
  archiveIdOf(own)
  const chain = new ArchiveChain(join(own, ORG), archiveKeys(ring, ORG))
  await chain.append(
    Array.from({ length: 30 }, (_, i) => ({
      n: i + 1,
      place: `${Date.UTC(2026, 0, 1, 8 + Math.floor(i / 10))}-${i}`,
      entry_text: JSON.stringify({ id: `act_${i + 1}`, decision: 'blocked' }),
    })),
  )
  return own
}

let own = ''
const FILE = '2026-01-01T09.ndjson'
beforeEach(async () => {
  own = await smallArchive()
})
const linesOf = (file = FILE): string[] =>
  readFileSync(join(own, ORG, file), 'utf8')
    .trimEnd()
    .split('\n')
const write = (lines: readonly string[], file = FILE): void =>
  writeFileSync(join(own, ORG, file), lines.map((line) => `${line}\n`).join(''))
const problems = async (heads = new Map()): Promise<string[]> =>
  (await verifyArchive(own, ring, heads)).problems.map(
    ({ file, line, problem }) => `${file}:${line} ${problem}`,
  )

test('an unmodified archive has no errors', async () => {
  assert.deepEqual(await problems(), [])
})

test('a changed line is named', async () => {
  const lines = linesOf()
  write(lines.map((line, i) => (i === 3 ? line.replace('blocked', 'allowed') : line)))
  assert.deepEqual(await problems(), [`${FILE}:4 entry 14 was changed`])
})

test('a dropped line is named, and so is a dropped file', async () => {
  write(linesOf().filter((_, i) => i !== 3))
  assert.deepEqual(await problems(), [`${FILE}:4 entries 14 to 14 are missing before entry 15`])
  rmSync(join(own, ORG, FILE))
  assert.deepEqual(await problems(), [
    '2026-01-01T10.ndjson:1 entries 11 to 20 are missing before entry 21',
  ])
})

test('lines that changed places are named', async () => {
  const lines = linesOf()
  write([...lines.slice(0, 3), lines[4] ?? '', lines[3] ?? '', ...lines.slice(5)])
  assert.deepEqual(await problems(), [
    `${FILE}:4 entries 14 to 14 are missing before entry 15`,
    `${FILE}:5 entry 14 is out of order or duplicated`,
  ])
})

test('a line that was added or repeated is named', async () => {
  const lines = linesOf()
  write([...lines, lines[9] ?? ''])
  assert.deepEqual(await problems(), [`${FILE}:11 entry 20 is out of order or duplicated`])
})

test('an end that was cut off is named, also with its head put back to an earlier one', async () => {
  const last = '2026-01-01T10.ndjson'
  const whole = linesOf(last)
  write(whole.slice(0, 7), last)
  assert.deepEqual(await problems(), [
    'head.json:null the archive is cut off: entries 28 to 30 are missing at the end',
  ])
  write([...whole.slice(0, 7), (whole[7] ?? '').slice(0, 20)], last)
  assert.equal((await problems())[0], `${last}:8 is not an archive line: it was changed or cut off`)
  // An older head with a true seal, as a backup would have it.
  write(whole.slice(0, 7), last)
  const chain = new ArchiveChain(join(own, ORG), archiveKeys(ring, ORG))
  await chain.append([])
  assert.deepEqual(await problems(), [])
  const heads = new Map([[ORG, { n: 30, mac: JSON.parse(whole[9] ?? '').mac as string }]])
  assert.deepEqual(await problems(heads), [
    'head.json:null the archive is cut off: entries 28 to 30 are missing at the end',
  ])
})

test('a beginning that was cut off is named, and one that was removed at its time is not', async () => {
  const chain = new ArchiveChain(join(own, ORG), archiveKeys(ring, ORG))
  chain.removeBefore(Date.UTC(2026, 0, 1, 9, 30))
  assert.deepEqual(readdirSync(join(own, ORG)).sort(), [FILE, '2026-01-01T10.ndjson', 'head.json'])
  assert.deepEqual(await problems(), [])
  write(linesOf().map((line, i) => (i === 0 ? line.replace('blocked', 'allowed') : line)))
  assert.deepEqual(await problems(), [`${FILE}:1 entry 11 was changed`])
  write(linesOf().slice(2))
  assert.ok((await problems()).some((problem) => problem.includes('entries 11 to 12 are missing')))
})

test('another key opens nothing, and a head that was changed is named', async () => {
  const other = archiveRoots(parseKeyRing(Buffer.alloc(32, 7).toString('base64')))
  assert.ok((await verifyArchive(own, other)).problems.length >= 30)
  const head = join(own, ORG, 'head.json')
  writeFileSync(head, readFileSync(head, 'utf8').replace('"n":30', '"n":29'))
  assert.deepEqual(await problems(), ['head.json:null the head was changed'])
})

test('lines cut off the end remain an error, even if the writer archives them again', async () => {
  for (const gone of ['the end of the last file', 'the files and the head']) {
    const admin = await start()
    await record(60)
    await allArchived()
    // What it has written it tells the store by then.
    await admin.stop()
    const stored = await redis.hgetall(REDIS_KEYS.archiveHeads(archiveIdOf(root())))
    const before_ = Number(stored[ORG]?.split(' ')[0])
    const place = join(root(), ORG)
    const last = join(place, hourFiles().at(-1) ?? '')
    if (gone === 'the end of the last file') {
      const lines = readFileSync(last, 'utf8').trimEnd().split('\n')
      writeFileSync(
        last,
        lines
          .slice(0, -25)
          .map((line) => `${line}\n`)
          .join(''),
      )
    } else rmSync(place, { recursive: true })
    // Gone from the store as well, so that they cannot come back.
    if (gone !== 'the end of the last file')
      await redis.xtrim(REDIS_KEYS.activity(ORG), 'MAXLEN', '=', 5)
    await record(5)
    const again = await start()
    await until('the writer continues', async () => {
      const now = await redis.hgetall(REDIS_KEYS.archiveHeads(archiveIdOf(root())))
      return Number(now[ORG]?.split(' ')[0]) > before_
    })
    await until('an alert is open', async () => {
      const { body } = await again.call('GET', '/admin/alerts?status=open')
      return body.data.some(({ kind }: { kind: string }) => kind === 'activity_lost')
    })
    await again.stop()
    const { problems: found } = await verifyArchive(root(), ring)
    assert.equal(found.length, 1, JSON.stringify(found))
    assert.match(found[0]?.problem ?? '', /had been archived and were cut off/)
    // The next round begins with an unmodified archive.
    rmSync(root(), { recursive: true })
  }
})

test('a broken archive does not stop the others', async () => {
  const admin = await start()
  const made = await admin.call('POST', '/admin/organizations', { body: { name: 'second' } })
  const { organization_id } = made.body
  await record(1)
  await allArchived()
  appendFileSync(join(root(), ORG, hourFiles().at(-1) ?? ''), 'no line of an archive\n')
  await record(1)
  await until('the failure is logged', () =>
    admin.log().includes('archiving the activity log failed'),
  )
  await recordEntries(redis, organization_id, [activityEntry('request_allowed')])
  await until('the other continues', () => readdirSync(root()).includes(organization_id))
  await admin.stop()
  rmSync(root(), { recursive: true })
})

test('a line that a crash has torn is mended, and nothing else', () => {
  const last = '2026-01-01T10.ndjson'
  appendFileSync(join(own, ORG, last), '{"n":31,"place":"17')
  const chain = new ArchiveChain(join(own, ORG), archiveKeys(ring, ORG))
  assert.equal(chain.head.n, 30)
  assert.equal(linesOf(last).length, 10)
})
