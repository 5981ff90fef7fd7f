import { parentPort } from 'node:worker_threads'
import {
  compileInjectionSettings,
  type CompiledInjectionSettings,
  type PatternSettings,
} from './compile-settings.ts'
import { type ScanInput, scanRequest } from './scan-request.ts'
import { scanResponseBody } from './scan-response.ts'

/** Settings that differ at one time on one edge; the oldest is dropped. */
const SETTINGS_COUNT = 64

export type ScanJob = {
  readonly id: number
  readonly kind: 'request' | 'response'
  readonly input: Omit<ScanInput, 'body'> & { readonly body: Uint8Array | null }
  readonly settings: PatternSettings
  readonly limit_bytes: number
}

const cache = new Map<string, CompiledInjectionSettings>()

const compiled = (settings: PatternSettings): CompiledInjectionSettings => {
  const key = JSON.stringify(settings)
  const held = cache.get(key)
  if (held !== undefined) return held
  const fresh = compileInjectionSettings(settings)
  if (!fresh.ok)
    throw new Error(`patterns that compiled before do not compile: ${fresh.faults[0]?.reason}`)
  if (cache.size >= SETTINGS_COUNT) cache.delete(cache.keys().next().value as string)
  cache.set(key, fresh.compiled)
  return fresh.compiled
}

parentPort?.on('message', (job: ScanJob) => {
  try {
    const { body } = job.input
    const bytes = body === null ? null : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    const settings = compiled(job.settings)
    const result =
      job.kind === 'request'
        ? scanRequest({ ...job.input, body: bytes }, settings, job.limit_bytes)
        : scanResponseBody(
            { ...job.input, body: bytes ?? Buffer.alloc(0) },
            settings,
            job.limit_bytes,
          )
    parentPort?.postMessage({ id: job.id, result })
  } catch (error) {
    parentPort?.postMessage({ id: job.id, error: (error as Error).message })
  }
})
