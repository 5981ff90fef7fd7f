import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { parse, stringify } from 'yaml'
import { freePort } from '../kit/free-port.ts'
import { issueCertificate } from '../kit/issue-certificate.ts'
import { type Certificates, makeCertificates } from '../kit/make-certificates.ts'
import { startFleet } from '../kit/start-fleet.ts'
import { tempFolder } from '../kit/temp-folder.ts'
import { until } from '../kit/until.ts'

// Certificates and keys are renewed under calls. Envoy has them by SDS files; ext-proc reads its own again.

type Json = any

const ENVOY = 'envoy.test'
const NAMES = ['tls.crt', 'tls.key', 'ca.crt'] as const
type Files = Readonly<Record<(typeof NAMES)[number], string>>

/** Puts new files in the place of those in a folder; `between` is called while they are mixed. */
type Replace = (folder: string, files: Files, between?: () => Promise<void>) => Promise<void>

let generation = 0

/** As kubelet updates a mounted Secret: the files are links into a folder of which the link is swapped. */
const swapLinks: Replace = async (folder, files) => {
  const next = `..of_${generation++}`
  mkdirSync(join(folder, next))
  for (const name of NAMES) writeFileSync(join(folder, next, name), files[name])
  symlinkSync(next, join(folder, '..data_tmp'))
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
}

const renameEach: Replace = async (folder, files, between) => {
  for (const name of NAMES) {
    writeFileSync(join(folder, `${name}.new`), files[name])
    renameSync(join(folder, `${name}.new`), join(folder, name))
    if (name === 'tls.crt') await between?.()
  }
}

async function folderWith(files: Files, replace: Replace): Promise<string> {
  const folder = tempFolder('tls')
  await replace(folder, files)
  if (replace === swapLinks)
    for (const name of NAMES) symlinkSync(join('..data', name), join(folder, name))
  return folder
}

const settingsOf = (folder: string, of: string): Readonly<Record<string, string>> => ({
  [`${of}_CERT_FILE`]: join(folder, 'tls.crt'),
  [`${of}_KEY_FILE`]: join(folder, 'tls.key'),
})

async function filesOf(
  ca: Certificates,
  names: readonly string[],
  trusted: string,
): Promise<Files> {
  const { cert_file, key_file } = await issueCertificate(ca, names)
  const read = (file: string): string => readFileSync(file, 'utf8')
  return { 'tls.crt': read(cert_file), 'tls.key': read(key_file), 'ca.crt': trusted }
}

const serialOf = (pem: string): bigint => BigInt(`0x${new X509Certificate(pem).serialNumber}`)

test('renewed by a link that is swapped, as kubelet does, and by files that are renamed: Envoy and ext-proc use what is new, and no call fails', async () => {
  const [older, newer] = [await makeCertificates(['a.test']), await makeCertificates(['b.test'])]
  const both = older.ca + newer.ca
  const folders = {
    listener: await folderWith(await filesOf(older, ['127.0.0.1'], both), swapLinks),
    envoy: await folderWith(await filesOf(older, [ENVOY], both), renameEach),
    edges: await folderWith(await filesOf(older, ['127.0.0.1', ENVOY], both), renameEach),
  }
  const ports = [await freePort(), await freePort()]
  const withBoth = (yaml: string): string => {
    const config = parse(yaml, { maxAliasCount: -1 })
    const cluster = config.static_resources.clusters.find(({ name }: Json) => name === 'ext_proc')
    const [{ lb_endpoints }] = cluster.load_assignment.endpoints
    const second = structuredClone(lb_endpoints[0])
    second.endpoint.address.socket_address.port_value = ports[1]
    lb_endpoints.push(second)
    return stringify(config, { aliasDuplicateObjects: false })
  }
  const fleet = await startFleet({
    edges: ports.map(() => ({})),
    network: {
      addresses: ports.map((port) => `127.0.0.1:${port}`),
      name: `127.0.0.1:${ports[0]}`,
      edit: (yaml) => yaml,
    },
    env: {
      ...settingsOf(folders.edges, 'AGW_EXT_PROC_TLS'),
      AGW_EXT_PROC_TLS_CA_FILE: join(folders.edges, 'ca.crt'),
      AGW_EXT_PROC_TLS_CLIENT_SANS: ENVOY,
      AGW_EXT_PROC_TLS_SERVER_SANS: '127.0.0.1',
    },
  })
  const envoy = await fleet.addEnvoy(withBoth, {
    ...settingsOf(folders.envoy, 'AGW_EXT_PROC_TLS'),
    AGW_EXT_PROC_TLS_CA_FILE: join(folders.envoy, 'ca.crt'),
    ...settingsOf(folders.listener, 'AGW_TLS'),
  })
  const access = await fleet.operator.makeAccess(`${fleet.upstream.origin}/rotation`, {
    scope: { rate_limiting: { requests_per_minute: null } },
  })
  const load = callAgain({
    port: envoy.port,
    path: `/${access.base_url}/ok`,
    headers: access.headers,
    ca: both,
  })
  await until('calls pass', () => load.statuses.includes(200))
  const inUse = async (serial: bigint): Promise<boolean> => {
    const { certificates } = JSON.parse(await envoy.admin('/certs'))
    return certificates.some(({ cert_chain = [], ca_cert = [] }: Json) =>
      [...cert_chain, ...ca_cert].some((one: Json) => BigInt(`0x${one.serial_number}`) === serial),
    )
  }
  const notice = async (): Promise<void> => {
    const earlier = load.statuses.length
    await until('calls pass meanwhile', () => load.statuses.length > earlier + 2)
  }

  const listener = await filesOf(newer, ['127.0.0.1'], both)
  await swapLinks(folders.listener, listener)
  await notice()
  await until('callers see the new certificate', () =>
    load.presented.has(serialOf(listener['tls.crt'])),
  )

  const client = await filesOf(newer, [ENVOY], both)
  await renameEach(folders.envoy, client, notice)
  await until('Envoy has the new certificate', () => inUse(serialOf(client['tls.crt'])))
  // From now on the older CA is unknown to ext-proc, and no process of it has a certificate of that CA.
  await renameEach(folders.edges, await filesOf(newer, ['127.0.0.1', ENVOY], newer.ca), notice)
  for (const edge of fleet.edges) {
    edge.signal('SIGTERM')
    await edge.exited()
    await edge.restart()
    await until(
      'Envoy calls both edges',
      async () => (await envoy.admin('/clusters')).match(HEALTHY)?.length === 2,
    )
    await notice()
  }
  await renameEach(folders.envoy, { ...client, 'ca.crt': newer.ca }, notice)
  await until('Envoy has forgotten the older CA', async () => !(await inUse(serialOf(older.ca))))
  await notice()
  await load.stop()
  assert.deepEqual(
    load.statuses.filter((status) => status !== 200),
    [],
    `of ${load.statuses.length} calls`,
  )
  await fleet.stop()
})

/** A line of Envoy's for each edge that it calls. */
const HEALTHY = /^ext_proc::[^:]+:\d+::health_flags::healthy$/gm

/** Keeps the load of three callers small beside the other tests. */
const PAUSE_MS = 60

interface Load {
  /** Of each call: its status, or the message of its error. */
  readonly statuses: (number | string)[]
  /** Serial numbers of the certificates that the listener presented. */
  readonly presented: Set<bigint>
  readonly stop: () => Promise<void>
}

/** Calls without end, each over a connection of its own. */
function callAgain(options: {
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly ca: string
}): Load {
  const statuses: (number | string)[] = []
  const presented = new Set<bigint>()
  let isOver = false
  const once = (): Promise<number | string> =>
    new Promise((resolve) => {
      const sent = request({ host: '127.0.0.1', ...options, agent: false }, (answer) => {
        const { serialNumber } = (answer.socket as TLSSocket).getPeerCertificate()
        presented.add(BigInt(`0x${serialNumber}`))
        answer.resume()
        answer.once('end', () => resolve(answer.statusCode ?? 0))
        answer.once('error', (error) => resolve(error.message))
      })
      sent.once('error', (error) => resolve(error.message))
      sent.end()
    })
  const again = async (): Promise<void> => {
    while (!isOver) {
      statuses.push(await once())
      await wait(PAUSE_MS)
    }
  }
  const running = Promise.all([again(), again(), again()])
  return {
    statuses,
    presented,
    stop: async () => {
      isOver = true
      await running
    },
  }
}
