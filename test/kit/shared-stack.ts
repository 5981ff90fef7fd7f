import assert from 'node:assert/strict'
import { after } from 'node:test'
import { call, closeConnections, type HttpAnswer, type HttpCall } from './call.ts'
import type { KitDns } from './dns-server.ts'
import { startDnsServer } from './dns-server.ts'
import { findLeaks } from './find-leaks.ts'
import type { Access, AccessOptions, Operator } from './operator.ts'
import { operatorAt } from './operator.ts'
import type { TestUpstream } from './test-upstream.ts'
import { TEST_UPSTREAM_HOSTS, startTestUpstream } from './test-upstream.ts'
import type { Stack } from './start-stack.ts'
import { startStack } from './start-stack.ts'
import { OIDC_CLIENT } from './start-oidc-provider.ts'

export interface SharedStack extends Stack {
  readonly api: TestUpstream
  readonly dns: KitDns
  readonly operator: Operator
  /** Origins of the test upstream: `origin('chat')`, over HTTPS with HTTP/1.1 unless said otherwise. */
  readonly origin: (
    host: keyof typeof TEST_UPSTREAM_HOSTS,
    over?: keyof TestUpstream['ports'],
  ) => string
  /** A base URL that no other test has: an echo API of the test's own. */
  readonly ownBaseUrl: (over?: keyof TestUpstream['ports']) => string
  /** An agent that may call an echo API of its own. */
  readonly makeAccess: (options?: AccessOptions) => Promise<Access>
  /** A call of its agent to a path below its base URL. */
  readonly callAs: (
    access: Pick<Access, 'base_url' | 'headers'>,
    path: string,
    more?: CallOptions,
  ) => Promise<HttpAnswer>
}

type CallOptions = Omit<HttpCall, 'to' | 'path' | 'headers'> & {
  readonly headers?: Readonly<Record<string, string>>
}

/** The forward proxy may pass it through unread; a test gives it an address that is private. */
export const PRIVATE_HOST = 'private-blind.test'

let shared: Promise<SharedStack> | null = null
let count = 0

const SETTINGS = {
  AGW_SECRET_REFS: '{"org_default":["env:AGW_SECRET_"]}',
  AGW_SECRET_OIDC_CLIENT: OIDC_CLIENT.client_secret,
  // Envoy counts the time of a decision, too, and that of 8 MiB takes 20 seconds on a machine that is busy.
  AGW_UPSTREAM_IDLE_TIMEOUT: '60s',
  // On a busy machine a process may get no CPU time for a second. With the usual lease it then refuses calls, and rightly.
  AGW_KILL_LEASE_MS: '15000',
}

/** One stack for all test files of a process, with the test upstream behind it; it ends with the process's last test. */
export function sharedStack(): Promise<SharedStack> {
  shared ??= startAll(SETTINGS)
  return shared
}

after(async () => {
  if (shared === null) return
  const stack = await shared
  try {
    // After all that the tests have done with it, nothing secret may be anywhere in the clear (threat model, rule 11).
    assert.deepEqual(await findLeaks(stack, stack.operator.secrets), [])
  } finally {
    await stopAll(stack)
  }
})

/** The same for tests that break the stack or need other settings; who starts it stops it with `stopAll`. */
export async function startAll(
  env: Readonly<Record<string, string>>,
  product?: string,
): Promise<SharedStack> {
  const hosts = Object.values(TEST_UPSTREAM_HOSTS)
  const [api, dns] = await Promise.all([
    startTestUpstream(),
    startDnsServer(Object.fromEntries(hosts.map((host) => [host, ['127.0.0.1']]))),
  ])
  const wanted = {
    AGW_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    AGW_UPSTREAM_CA_FILE: api.certificates.ca_file,
    AGW_DNS_RESOLVERS: dns.address,
    AGW_FORWARD_BLIND_HOSTS: `${TEST_UPSTREAM_HOSTS.blind}:${api.ports.https},${PRIVATE_HOST}:${api.ports.https}`,
    ...env,
  }
  const stack = await startStack(wanted, product)
  const origin: SharedStack['origin'] = (host, over = 'https') =>
    `${over.startsWith('https') ? 'https' : 'http'}://${TEST_UPSTREAM_HOSTS[host]}:${api.ports[over]}`
  const operator = operatorAt(stack.proxyUrl, stack.adminToken)
  const ownBaseUrl: SharedStack['ownBaseUrl'] = (over) => `${origin('plain', over)}/t${++count}`
  return {
    ...stack,
    api,
    dns,
    operator,
    origin,
    ownBaseUrl,
    makeAccess: (options) => operator.makeAccess(ownBaseUrl(), options),
    callAs: ({ base_url, headers }, path, more = {}) =>
      call({
        to: stack.proxyUrl,
        path: `/${base_url}${path}`,
        ...more,
        headers: { ...headers, ...more.headers },
      }),
  }
}

export async function stopAll({ stop, api, dns }: SharedStack): Promise<void> {
  closeConnections()
  await stop()
  await Promise.all([api.stop(), dns.stop()])
}
