import assert from 'node:assert/strict'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import { REDIS_KEYS } from '../../core/redis/redis-keys.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { type Operator, operatorAt } from '../kit/operator.ts'
import { makeAccessRequest } from '../kit/make-access-request.ts'
import { type KitSmtp, startSmtpServer } from '../kit/smtp-server.ts'
import { type KitAdmin, newAdminIdentity, startAdmin } from '../kit/start-admin.ts'
import { type KitValkey, startValkey } from '../kit/start-valkey.ts'
import { until } from '../kit/until.ts'

const identity = newAdminIdentity()
const admins: KitAdmin[] = []
let valkey: KitValkey
let redis: RedisClient
let smtp: KitSmtp
/** Takes connections and says nothing. */
const silent = createServer((socket) => silentSockets.push(socket))
const silentSockets: Socket[] = []

before(async () => {
  valkey = await startValkey()
  redis = connectRedis(valkey.url, { name: 'test', role: 'queue' })
  smtp = await startSmtpServer()
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
})

after(async () => {
  redis.disconnect()
  await Promise.all(admins.map((admin) => admin.kill()))
  for (const socket of silentSockets) socket.destroy()
  silent.close()
  await Promise.all([smtp.stop(), valkey.stop()])
})

async function startAdminWith(smtp_url: string | null): Promise<[KitAdmin, Operator]> {
  const mail = {
    AGW_SMTP_URL: smtp_url ?? '',
    AGW_ALERT_EMAIL_FROM: 'agw@example.com',
    AGW_ALERT_EMAIL_TO: 'ops@example.com,second@example.com',
  }
  const admin = await startAdmin(valkey.url, identity, smtp_url === null ? {} : mail)
  admins.push(admin)
  return [admin, operatorAt(admin.url, admin.token)]
}

const kill = (operator: Operator, agent_id: string, body: object): Promise<any> =>
  operator.send('POST', `/admin/agents/${agent_id}/kill`, body)

test('a kill sends an e-mail where it is asked for, once', async () => {
  const [admin, operator] = await startAdminWith(smtp.url)
  const [quiet, loud] = await Promise.all([
    operator.makeAgent(),
    operator.makeAgent({ agent_name: 'loud bot' }),
  ])
  await kill(operator, quiet.agent_id, { notify: ['webhook'] })
  const receipt = await kill(operator, loud.agent_id, {
    reason: 'leaked\r\nBcc: nobody@example.com',
    notify: ['email', 'webhook', 'pager'],
  })
  assert.deepEqual(receipt.notify_ignored, ['pager'])
  assert.deepEqual(receipt.notify_unavailable, [])
  await kill(operator, loud.agent_id, { notify: ['email'] })
  const letter = await until('the e-mail arrives', () => smtp.mails[0])
  assert.deepEqual(letter.to, ['ops@example.com', 'second@example.com'])
  assert.match(letter.text, /^Subject: Agent killed: loud bot\r$/m)
  assert.match(letter.text, new RegExp(loud.agent_id))
  assert.match(letter.text, /By: admin@localhost/)
  assert.match(letter.text, /^Reason: leaked Bcc: nobody@example.com\r$/m)
  assert.match(letter.text, /Every edge has acknowledged it\./)
  await until('no e-mail is owed', async () => (await redis.zcard(REDIS_KEYS.killMails)) === 0)
  assert.equal(smtp.mails.length, 1)
  await admin.kill()
})

test('a kill waits for no mail server, and what was not sent outlives the process', async () => {
  const port = (silent.address() as AddressInfo).port
  const [admin, operator] = await startAdminWith(`smtp://127.0.0.1:${port}`)
  const { agent_id } = await operator.makeAgent()
  const receipt = await kill(operator, agent_id, { notify: ['email'] })
  assert.equal(receipt.status, 'killed')
  await until('the mail server is asked', () => silentSockets.length > 0)
  await admin.kill()
  const owed = await redis.zrange(REDIS_KEYS.killMails, '0', '-1')
  assert.equal(owed.length, 1)
  // As if the time of the process that died were over.
  await redis.zadd(REDIS_KEYS.killMails, 0, owed[0] ?? '')
  const before = smtp.mails.length
  const [another] = await startAdminWith(smtp.url)
  await until('the e-mail arrives', () => smtp.mails.length === before + 1)
  assert.match(smtp.mails.at(-1)?.text ?? '', new RegExp(agent_id))
  await until('no e-mail is owed', async () => (await redis.zcard(REDIS_KEYS.killMails)) === 0)
  await another.kill()
})

test('requests that wait send one e-mail for an organization: a link, no text of an agent, and nothing that decides by GET', async () => {
  const [admin, operator] = await startAdminWith(smtp.url)
  const before = smtp.mails.length
  const mails = () => smtp.mails.slice(before).map(({ text }) => text.replaceAll('=\r\n', ''))
  const organization = await operator.send('POST', '/admin/organizations', { name: 'second' })
  const ask = async (organization_id: string, { agent_id }: { readonly agent_id: string }) =>
    makeAccessRequest(redis, organization_id, agent_id, 'words-of-an-agent')
  const agents = [await operator.makeAgent(), await operator.makeAgent()] as const
  const first = await ask('org_default', agents[0])
  const letter = await until('the e-mail arrives', () => mails()[0])
  assert.match(letter, /^Subject: Agent Access Gateway: 1 request waits for a decision\r$/m)
  const links = [...letter.matchAll(/https?:\/\/\S+/g)].map(([link]) => link)
  assert.deepEqual(links, [`${admin.url}/#/requests`])
  for (const secret of ['words-of', first, agents[0].agent_id, agents[0].api_key, admin.token])
    assert.ok(!letter.includes(secret))
  await ask('org_default', agents[1])
  // What comes later in the same round is the sign that the first organization was looked at again.
  const theirs = operatorAt(admin.url, organization.admin_token)
  await ask(organization.organization_id, await theirs.makeAgent())
  const second = await until('the other organization is told', () => mails()[1])
  assert.match(second, new RegExp(organization.organization_id))
  assert.equal(mails().length, 2)
  const path = `/admin/access-requests/${first}`
  const headers = { authorization: `Bearer ${admin.token}` }
  for (const link of [links[0] ?? '', `${admin.url}${path}/approve`, `${admin.url}${path}/deny`])
    await (await fetch(link, { headers })).arrayBuffer()
  assert.equal((await operator.send('GET', path)).status, 'pending')
  await admin.kill()
})

test('where e-mail is off the receipt and the log say so', async () => {
  const [admin, operator] = await startAdminWith(null)
  const { agent_id } = await operator.makeAgent()
  const receipt = await kill(operator, agent_id, { notify: ['email', 'pigeon'] })
  assert.deepEqual(receipt.notify_unavailable, ['email'])
  assert.deepEqual(receipt.notify_ignored, ['pigeon'])
  assert.equal(await redis.zcard(REDIS_KEYS.killMails), 0)
  await until('the log says so', () => admin.log().includes('channel that is not configured'))
})
