import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { type KeyRing, parseKeyRing } from './seal.ts'

const LOOK_INTERVAL_MS = 1_000

/**
 * Polls the file of AGW_ENCRYPTION_KEY_FILE and reports each change of its keys, so that a rotation needs no restart. A file
 * that is missing or contains no keys, such as one that is being replaced, is ignored.
 * @param onKeys is called again at the next look if it fails
 * @returns the function that stops it
 */
export function followKeyFile(
  file: string | null,
  onKeys: (ring: KeyRing) => Promise<void>,
  interval_ms = LOOK_INTERVAL_MS,
): () => void {
  if (file === null) return () => undefined
  const stopped = new AbortController()
  const { signal } = stopped
  let last = ''
  const look = async (): Promise<void> => {
    // Not in the background: that would wake an idle process several times for some bytes.
    const text = readFileSync(file, 'utf8')
    if (text === last) return
    await onKeys(parseKeyRing(text.trim()))
    last = text
  }
  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      // Whatever has failed, the next look tries it again; nothing but `stop` ends the loop.
      await look().catch(() => undefined)
      await wait(interval_ms, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  void follow()
  return () => stopped.abort()
}
