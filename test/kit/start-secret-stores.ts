import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export const VAULT_TOKEN = 'hvs.token-of-the-gateway'
export const AWS_KEY = { id: 'AKIATEST', secret: 'secret-of-the-gateway' } as const

export interface SecretStoreStub {
  readonly url: string
  /** Secrets by path (Vault) or name (Secrets Manager). */
  readonly secrets: Record<string, Readonly<Record<string, string>>>
  readonly asked: string[]
  isUp: boolean
  readonly stop: () => Promise<void>
}

/**
 * A stub, written from the API pages of Vault (KV, versions 1 and 2) and of AWS Secrets Manager (GetSecretValue).
 * test/witness/secret-stores.ts asks OpenBao and moto the same.
 */
export async function startSecretStores(): Promise<SecretStoreStub> {
  const it = { secrets: {}, asked: [], isUp: true } as unknown as {
    -readonly [Name in keyof SecretStoreStub]: SecretStoreStub[Name]
  }
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const end = (status: number, body: object): void =>
        void response.writeHead(status).end(JSON.stringify(body))
      const { url = '', headers, method } = request
      if (!it.isUp) return end(503, { errors: ['sealed'] })
      if (method === 'GET') {
        const path = url.replace('/v1/', '')
        it.asked.push(path)
        if (headers['x-vault-token'] !== VAULT_TOKEN) return end(403, { errors: ['denied'] })
        const found = it.secrets[path]
        if (found === undefined) return end(404, { errors: [] })
        const isVersioned = path.includes('/data/')
        return end(200, { data: isVersioned ? { data: found, metadata: { version: 1 } } : found })
      }
      const body = Buffer.concat(parts).toString()
      const { SecretId: name } = JSON.parse(body) as { readonly SecretId: string }
      it.asked.push(name)
      const isSigned =
        headers['x-amz-target'] === 'secretsmanager.GetSecretValue' &&
        headers['x-amz-content-sha256'] === createHash('sha256').update(body).digest('hex') &&
        String(headers.authorization).includes(`Credential=${AWS_KEY.id}/`)
      const found = it.secrets[name]
      if (!isSigned || found === undefined) return end(400, { __type: 'ResourceNotFoundException' })
      end(200, { Name: name, SecretString: found['text'] ?? JSON.stringify(found) })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  it.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  it.stop = () =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return it
}
