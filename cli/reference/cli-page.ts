import type { Argument, Command, Option } from 'commander'
import { table } from '../terminal/table.ts'

/** Rows that more commands than this have in common are shown once. */
const SHOWN_PER_COMMAND_MAX = 20

interface Section {
  readonly command: Command
  readonly name: string
}

/** Every command with its options, as `--help` shows them. */
export function cliPage(program: Command): string {
  const sections = program.commands.flatMap((command) => sectionsOf(command, 'agw'))
  const uses = new Map<string, number>()
  const rows = sections.flatMap(({ command }) => command.options.map(optionRow))
  for (const row of rows) uses.set(row.join(), (uses.get(row.join()) ?? 0) + 1)
  const isCommon = (row: readonly string[]): boolean =>
    (uses.get(row.join()) ?? 0) > SHOWN_PER_COMMAND_MAX
  const common = new Map(rows.filter(isCommon).map((row) => [row[0], row]))
  return `# Command line reference

Exit codes: 0 done, 1 failed, 2 wrong usage. The [guide](../guides/cli.md) has examples. Options of the commands that use the admin API:

${table(HEADS, [...common.values()])}

${sections.map((section) => shown(section, isCommon)).join('\n')}`
}

const HEADS = ['option', 'what it does']

function sectionsOf(command: Command, parent: string): Section[] {
  const name = `${parent} ${command.name()}`
  if (command.commands.length === 0) return [{ command, name }]
  return command.commands.flatMap((child) => sectionsOf(child, name))
}

function shown({ command, name }: Section, isCommon: (row: readonly string[]) => boolean): string {
  const words = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  )
  const options = command.options.map(optionRow)
  const rows = [
    ...command.registeredArguments.map(argumentRow),
    ...options.filter((row) => !isCommon(row)),
  ]
  return [
    `## ${[name, ...words].join(' ')}`,
    sentence(command.description()),
    ...(rows.length === 0 ? [] : [rows.map((row) => `- ${row.join(': ')}`).join('\n')]),
  ]
    .join('\n\n')
    .concat('\n')
}

const argumentRow = (argument: Argument): string[] => [
  `\`${argument.name()}\``,
  sentence(argument.description),
]

const optionRow = ({ flags, description, argChoices, defaultValue }: Option): string[] => [
  `\`${flags}\``,
  sentence(`${description}${argChoices ? `: ${argChoices.join(', ')}` : ''}`) +
    (defaultValue === undefined ? '' : ` Default: \`${String(defaultValue)}\`.`),
]

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
