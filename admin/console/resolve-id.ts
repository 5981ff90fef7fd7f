import { unreadableText } from '../../core/system/unreadable-text.ts'
import { ask, type Problem, withQuery } from './api.ts'
import type { Agent, Integration, Page, Scope } from './api-types.ts'
import { NAMED_KINDS, type NamedKind } from './named-kinds.ts'

export type Resolved =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly problem: Problem }

const READ = '50'
const SHOWN = 5

/**
 * The id that a text stands for: an id itself, or a name. A part of a name is enough if only one has it. An id that no longer
 * exists counts as it is, since entries outlive their agent.
 */
export async function resolveId(kind: NamedKind, typed: string): Promise<Resolved> {
  const { word, id, name } = NAMED_KINDS[kind]
  const text = typed.trim()
  if (text === '') return { ok: true, id: '' }
  const path = withQuery(`/admin/${kind}`, { q: text, limit: READ })
  const answer = await ask<Page<Partial<Agent & Integration & Scope>>>('GET', path)
  if (!answer.ok) return answer
  const all = answer.value.data.map((one) => ({
    id: one[id] ?? '',
    name: one[name] ?? '',
  }))
  const wanted = text.toLowerCase()
  const exact = all.filter((one) => one.id === text || one.name.toLowerCase() === wanted)
  const [only, ...others] = exact.length > 0 ? exact : all
  if (only !== undefined && others.length === 0) return { ok: true, id: only.id }
  if (only === undefined) {
    if (/^(agt|int|scp)_/.test(text)) return { ok: true, id: text }
    const { unreadable = [] } = answer.value
    const more = unreadable.length > 0 ? ` ${unreadableText(word, unreadable)}` : ''
    return refused(`No ${word} is called “${text}”.${more}`)
  }
  const names = [only, ...others].slice(0, SHOWN).map((one) => `${one.name} (${one.id})`)
  return refused(`Several match “${text}”: ${names.join(', ')}.`)
}

const refused = (message: string): Resolved => ({
  ok: false,
  problem: { status: 0, error: 'not_found', message, details: {} },
})
