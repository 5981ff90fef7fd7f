import { type Command, InvalidArgumentError, Option } from 'commander'
import { ERROR_FORMAT_NAMES } from '../../core/catalogue/error-formats.ts'
import type { ScopeRule } from '../../core/catalogue/model.ts'
import { readRule } from '../../core/catalogue/rule-text.ts'
import { asksAdmin } from '../deployment/admin-command.ts'
import { RESOURCE_KINDS, RESOURCE_NAMES, type ResourceName } from '../resources/resource-kinds.ts'
import { readDuration } from '../terminal/read-duration.ts'
import { CREATIONS, type CreateOptions, type CreationRecipe } from './creations.ts'
import { AUTH_TYPES } from './given-auth.ts'

/** Adds `create` to the commands of the resources that can be created by one. */
export function addCreateCommands(program: Command): void {
  for (const name of RESOURCE_NAMES) {
    const recipe = CREATIONS[name]
    const parent = program.commands.find((command) => command.name() === name)
    if (recipe !== undefined && parent !== undefined) addCreate(parent, name, recipe)
  }
}

function addCreate(parent: Command, name: ResourceName, { words, options }: CreationRecipe): void {
  const { name: noun } = RESOURCE_KINDS[name]
  parent.description(parent.description().replace('list and show', 'list, show and create'))
  const create = asksAdmin(parent.command('create')).description(`create one ${noun}`)
  for (const [word, description] of words) create.argument(`[${word}]`, description)
  for (const option of options) create.addOption(CREATE_OPTIONS[option]())
  create
    .option('--json <file>', 'a JSON object with further members, - for standard input')
    .option('--dry-run', 'check it, and create nothing')
    .action(async (...given: unknown[]) => {
      const { createResource } = await import('./create-resource.ts')
      const { env, stdin, stdout, stderr } = process
      process.exitCode = await createResource(
        name,
        given.slice(0, words.length) as (string | undefined)[],
        given[words.length] as CreateOptions,
        env,
        { stdin, stdout, stderr },
      )
    })
}

const list = (text: string): readonly string[] => text.split(',').map((part) => part.trim())

/** Made for each command, since commander keeps what it has read in them. */
export const CREATE_OPTIONS: Readonly<Record<CreationRecipe['options'][number], () => Option>> = {
  id: () => new Option('--id <id>', 'its id; default: a generated one'),
  label: () => new Option('--label <labels>', 'labels: team=billing,env=prod'),
  auth: () => new Option('--auth <type>', 'type of the credential').choices(AUTH_TYPES),
  authMember: () =>
    namedValue(
      '--auth-member <name=value>',
      "a member of the credential, repeatable; a secret is '${NAME}' of the environment, or asked for",
    ),
  errorFormat: () =>
    new Option('--error-format <format>', 'shape of refusals').choices(ERROR_FORMAT_NAMES),
  agent: () => new Option('--agent <agent>', 'its agent (id or name)'),
  agentSelector: () => new Option('--agent-selector <selector>', 'all agents with these labels'),
  integration: () => new Option('--integration <integration>', 'its integration (id or name)'),
  integrationSelector: () =>
    new Option('--integration-selector <selector>', 'all integrations with these labels'),
  user: () =>
    new Option('--user <user>', 'its user, whom callers name in X-Agw-User; default: it is shared'),
  allow: () =>
    new Option(
      '--allow <rule>',
      "methods and paths that it allows, repeatable: 'GET,HEAD /models/**'",
    ).argParser(rule),
  tools: () => new Option('--tools <names>', 'MCP tools that it allows').argParser(list),
  rate: () => new Option('--rate <number>', 'calls a minute').argParser(calls),
  expires: () =>
    new Option('--expires <time>', 'it ends at this time (ISO 8601), or after 24h').argParser(end),
  events: () => new Option('--events <names>', 'events, comma-separated').argParser(list),
  name: () => new Option('--name <name>', 'its name'),
  role: () => new Option('--role <role>', 'its role').choices(['viewer', 'operator', 'admin']),
}

function rule(text: string, before: readonly ScopeRule[] = []): readonly ScopeRule[] {
  const read = readRule(text)
  if (read === null) throw new InvalidArgumentError("must be like 'GET,HEAD /models/**'")
  return [...before, read]
}

/** An option that is given once for each name. */
export const namedValue = (flags: string, description: string): Option =>
  new Option(flags, description).argParser(
    (text: string, before: Readonly<Record<string, string>> | undefined) => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
      if (name === undefined || value === undefined)
        throw new InvalidArgumentError('must be like name=value')
      return { ...before, [name]: value }
    },
  )

function calls(text: string): number {
  if (!/^[1-9]\d{0,7}$/.test(text)) throw new InvalidArgumentError('must be a number of calls')
  return Number(text)
}

function end(text: string): string {
  const ms = readDuration(text, ['m', 'h', 'd'])
  if (ms === null && Number.isNaN(Date.parse(text)))
    throw new InvalidArgumentError('must be a time in ISO 8601 format, or like 24h')
  return ms === null ? text : new Date(Date.now() + ms).toISOString()
}
