import { readFileSync } from 'node:fs'
import type { Environment } from '../../core/settings/settings.ts'
import { callAdmin, messageOf } from '../deployment/call-admin.ts'
import { formatHint } from '../config/format-hint.ts'
import { isObject, type Json } from '../config/section-resources.ts'
import type { Terminal } from '../terminal/ask.ts'
import { counted } from '../terminal/counted.ts'
import { terminalJson, terminalLines } from '../terminal/terminal-text.ts'
import { type CreationRecipe, CREATIONS, type CreateOptions } from './creations.ts'
import { type ListedKind, RESOURCE_KINDS, type ResourceName } from '../resources/resource-kinds.ts'
import { UsageError } from '../terminal/usage-error.ts'

/**
 * `agw agents create` and its relatives: creates one resource, from its arguments, its options and a JSON object.
 * @returns the exit code: 0 it is created, 1 it is not
 * @throws with a message for the operator when an argument is missing or cannot be used, or the admin API does not answer
 */
export async function createResource(
  name: ResourceName,
  words: readonly (string | undefined)[],
  options: CreateOptions,
  env: Environment,
  terminal: Terminal,
): Promise<number> {
  const kind = RESOURCE_KINDS[name]
  const creation = CREATIONS[name]
  if (creation === undefined) throw new Error(`A ${kind.name} is not created by a command.`)
  const { json, dryRun, output } = options
  const further = json === undefined ? {} : readObject(json)
  checkNeeds(name, creation, words, [options as unknown as Json, further])
  const body = { ...further, ...given(await creation.body(words, options, { env, terminal })) }
  const path = (await creation.path?.(options)) ?? kind.path
  const answer = await callAdmin(options, 'POST', dryRun ? `${path}?dry_run=true` : path, body)
  const { stdout, stderr } = terminal
  if (answer.status !== 201 && answer.status !== 200) {
    stderr.write(`${messageOf(answer)}\n`)
    return 1
  }
  const created = answer.body as Json
  if (output === 'json') stdout.write(`${terminalJson(created, 2)}\n`)
  else stdout.write(terminalLines(describe(kind, creation, created, dryRun === true)))
  const { warnings = [] } = created
  for (const warning of warnings as readonly unknown[])
    stderr.write(terminalLines(`Warning: ${String(warning)}\n`))
  const hint = name === 'integrations' ? formatHint(body) : null
  if (hint !== null) stderr.write(`Hint: ${hint}\n`)
  return 0
}

/** @throws if something is missing without which nothing can be created */
function checkNeeds(
  name: ResourceName,
  creation: CreationRecipe,
  words: readonly (string | undefined)[],
  given: readonly Json[],
): void {
  const named = Object.fromEntries(creation.words.map(([word], i) => [word, words[i]]))
  const all = [named, ...given]
  const missing = creation.needs.filter(
    ([, ...members]) => !members.some((member) => all.some((one) => one[member] !== undefined)),
  )
  if (missing.length === 0) return
  const needed = missing.map(([what]) => what).join(', ')
  throw new UsageError(
    `agw ${name} create needs ${needed}. Nothing was created; see agw ${name} create --help.`,
  )
}

function describe(
  { name, id, named_by }: ListedKind,
  { once, next }: CreationRecipe,
  created: Json,
  is_dry_run: boolean,
): string {
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)} ${String(created[named_by[0] ?? id])}`
  const { affected_agents } = created
  const selects =
    typeof affected_agents === 'number' ? [`It selects ${counted(affected_agents, 'agent')}.`] : []
  if (is_dry_run) return [`${title} would be created. Nothing was.`, ...selects, ''].join('\n')
  return [
    `${title} created: ${String(created[id])}`,
    ...selects,
    ...(once === undefined ? [] : [`${once[1]} (shown only once): ${String(created[once[0]])}`]),
    ...(next === undefined ? [] : [next(created)]),
    '',
  ].join('\n')
}

const given = (members: Json): Json =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

/** @throws with a message for the operator */
function readObject(file: string): Json {
  const text = readFileSync(file === '-' ? 0 : file, 'utf8')
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // Reported below, like JSON of another kind.
  }
  throw new UsageError(`${file === '-' ? 'Standard input' : file} has no JSON object.`)
}
