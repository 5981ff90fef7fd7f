import { type Command, InvalidArgumentError } from 'commander'
import { asksAdmin } from '../deployment/admin-command.ts'
import { readDuration } from '../terminal/read-duration.ts'
import type { AdminOptions } from '../deployment/admin-access.ts'
import type { ListOptions } from './list-resources.ts'
import {
  FILTERS,
  namingOf,
  RESOURCE_KINDS,
  RESOURCE_NAMES,
  type ResourceName,
} from './resource-kinds.ts'

const DEFAULT_LIMIT = 200
const LIMIT_MAX = 100_000

/** Of commands that have more than `list` and `show`. */
const DESCRIPTIONS: Partial<Record<ResourceName, string>> = {
  keys: 'list and show API keys, and rotate the encryption key',
  requests: 'list and show the calls that wait for an approval, approve and deny them',
}

/** Adds `list` and `show` for every resource; without either, `list` is meant. */
export function addResourceCommands(program: Command): void {
  for (const name of RESOURCE_NAMES) addResource(program, name)
}

function addResource(program: Command, name: ResourceName): void {
  const kind = RESOURCE_KINDS[name]
  const parent = program
    .command(name)
    .description(DESCRIPTIONS[name] ?? `list and show ${kind.name}s`)
  const list = asksAdmin(parent.command('list', { isDefault: true })).description(
    `list ${kind.name}s`,
  )
  for (const filter of kind.filters) {
    const { flags, description } = FILTERS[filter]
    if (filter === 'expiring') list.option(flags, description, end)
    else list.option(flags, description)
  }
  list
    .option('--limit <number>', 'number to print at most', limit, DEFAULT_LIMIT)
    .action(async (options: ListOptions) => {
      const { listResources } = await import('./list-resources.ts')
      process.exitCode = await listResources(name, options, process.stdout, process.stderr)
    })
  asksAdmin(parent.command('show'))
    .description(`print one ${kind.name} with all its members`)
    .argument(`<${kind.id}>`, namingOf(kind))
    .action(async (idOrName: string, options: AdminOptions) => {
      const { showResource } = await import('./show-resource.ts')
      process.exitCode = await showResource(name, idOrName, options, process.stdout)
    })
  if (name !== 'connections') return
  asksAdmin(parent.command('delete'))
    .description('delete a connection, and forget its credential')
    .argument(`<${kind.id}>`, namingOf(kind))
    .action(async (idOrName: string, options: AdminOptions) => {
      const { deleteConnection } = await import('./delete-connection.ts')
      await deleteConnection(idOrName, options, process.stdout)
    })
}

function limit(text: string): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) < 1 || Number(text) > LIMIT_MAX)
    throw new InvalidArgumentError(`must be an integer from 1 to ${LIMIT_MAX}`)
  return Number(text)
}

function end(text: string): number | string {
  const ms = readDuration(text, ['m', 'h', 'd'])
  if (ms === null && Number.isNaN(Date.parse(text)))
    throw new InvalidArgumentError('must be like 30m, 24h or 7d, or a time in ISO 8601 format')
  return ms ?? text
}
