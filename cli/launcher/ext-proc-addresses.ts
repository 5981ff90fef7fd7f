import { join } from 'node:path'
import type { Settings } from '../../core/settings/settings.ts'

const UNIX = 'unix:'

/** One address per worker: the next port, or the socket name with -2, -3 before its extension. */
export function extProcAddresses(
  settings: Pick<Settings, 'extProcAddress' | 'extProcWorkers'>,
  socketFolder: string,
): string[] {
  const first = settings.extProcAddress ?? `${UNIX}${join(socketFolder, 'ext-proc.sock')}`
  return Array.from({ length: settings.extProcWorkers }, (_, index) => nth(first, index))
}

/**
 * How many of the processors decide calls: as many as Envoy has threads, since each then reads and writes more per wake-up. The
 * others have the same state, and take calls while none of these is healthy.
 */
export const activeProcessors = ({
  extProcWorkers,
  envoyConcurrency,
}: Pick<Settings, 'extProcWorkers' | 'envoyConcurrency'>): number =>
  Math.max(1, Math.min(envoyConcurrency, extProcWorkers - 1))

function nth(first: string, index: number): string {
  if (index === 0) return first
  if (first.startsWith(UNIX)) return first.replace(/(\.[^./]*)?$/, `-${index + 1}$1`)
  const colon = first.lastIndexOf(':')
  return `${first.slice(0, colon)}:${Number(first.slice(colon + 1)) + index}`
}
