import { hashKey, isWellFormedKey, KEY_PREFIX, KEY_SYMBOLS } from '../../core/keys/api-key.ts'
import type { Caller } from '../../core/decision/admission-facts.ts'
import type { ApiKey } from '../../core/catalogue/model.ts'
import { basicPair } from '../../core/request/basic-pair.ts'
import type { Header } from '../../core/request/header.ts'
import type { PolicyStore } from '../policy/policy-store.ts'
import type { CallFacts } from '../record/passed-call.ts'
import { noteUnusableKey } from './note-unusable-key.ts'
import type { RequestHead } from './read-head.ts'

const KEY = new RegExp(`${KEY_PREFIX.live}[0-9A-Za-z]{${KEY_SYMBOLS}}(?![0-9A-Za-z])`, 'g')
/** Keys that are looked up for one call. More than one is a mistake, or an attempt to hide one. */
const KEYS_MAX = 2

interface NotingServices {
  readonly policy: Pick<PolicyStore, 'key' | 'agent'>
  readonly nowMs: () => number
  /** The default organization. */
  readonly settings: { readonly organization_id: string }
}

interface RefusedCall {
  readonly head: RequestHead
  readonly headers: readonly Header[]
  readonly record: { readonly facts: CallFacts }
}

/**
 * Records whose key a refused call has, where the decision did not come to the agent: a malformed target, or one without an
 * integration, may be an attack by the agent. Where no key was read, or several, the first one that is known counts, wherever it
 * is. Nothing is decided by it, and the refusal stands whether or not the store can say whose key it is.
 * @param caller undefined: the call was refused before its key was read
 */
export async function noteCaller(
  { policy, nowMs, settings }: NotingServices,
  { head, headers, record }: RefusedCall,
  caller: Caller | undefined,
): Promise<void> {
  try {
    switch (caller?.kind) {
      case 'known':
        return await noteOwner(record.facts, policy, caller.key, nowMs())
      case 'unknown':
      case 'assumed':
        return
      case 'none':
      case 'ambiguous':
      case undefined: {
        const key = await firstKnown(policy, keysIn(head.path, headers))
        if (key === null) return
        await noteOwner(record.facts, policy, key, nowMs())
        // What was found was an integration of the default organization.
        if (key.organization_id !== settings.organization_id) record.facts.integration_id = null
      }
    }
  } catch {
    // The store is unavailable.
  }
}

async function firstKnown(
  policy: NotingServices['policy'],
  texts: readonly string[],
): Promise<ApiKey | null> {
  for (const text of texts) {
    const { key } = await policy.key(hashKey(text))
    if (key !== null) return key
  }
  return null
}

async function noteOwner(
  facts: CallFacts,
  policy: Pick<PolicyStore, 'agent'>,
  key: ApiKey,
  now_ms: number,
): Promise<void> {
  const { organization_id, key_id, agent_id } = key
  facts.organization_id = organization_id
  facts.key_id = key_id
  const noting = noteUnusableKey(facts, policy, key, now_ms)
  if (noting !== null) return await noting
  if (agent_id === null) return
  facts.agent_id = agent_id
  const { agent } = await policy.agent(organization_id, agent_id)
  facts.agent_name = agent?.agent_name ?? null
}

function keysIn(path: string, headers: readonly Header[]): readonly string[] {
  const found = new Set<string>()
  for (const { name, value } of headers) {
    const text =
      name === 'authorization' ? (basicPair(value) ?? value) : name === ':path' ? path : value
    if (!text.includes(KEY_PREFIX.live)) continue
    for (const [key] of text.matchAll(KEY)) if (isWellFormedKey(key)) found.add(key)
    if (found.size >= KEYS_MAX) break
  }
  return [...found].slice(0, KEYS_MAX)
}
