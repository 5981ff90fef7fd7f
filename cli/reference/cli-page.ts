import type { Argument, Command, Option } from 'commander'
import { table } from '../terminal/table.ts'

/** A row that more commands than this have in common is explained once; beyond the second number it is not named again. */
const EXPLAINED_PER_COMMAND_MAX = 2
const NAMED_PER_COMMAND_MAX = 20

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
  const usesOf = (row: readonly string[]): number => uses.get(row.join()) ?? 0
  const common = (least: number, most = Infinity): string => {
    const found = rows.filter((row) => usesOf(row) > least && usesOf(row) <= most)
    return table(HEADS, [...new Map(found.map((row) => [row.join(), row])).values()])
  }
  return `# Command line reference

Exit codes: 0 done, 1 failed, 2 wrong usage. The [guide](../guides/cli.md) has examples. Options of the commands that use the admin API:

${common(NAMED_PER_COMMAND_MAX)}

Options of several commands, which name them:

${common(EXPLAINED_PER_COMMAND_MAX, NAMED_PER_COMMAND_MAX)}

${sections.map((section) => shown(section, usesOf)).join('\n')}`
}

const HEADS = ['option', 'what it does']

function sectionsOf(command: Command, parent: string): Section[] {
  const name = `${parent} ${command.name()}`
  if (command.commands.length === 0) return [{ command, name }]
  return command.commands.flatMap((child) => sectionsOf(child, name))
}

function shown({ command, name }: Section, usesOf: (row: readonly string[]) => number): string {
  const words = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  )
  const options = command.options
    .map(optionRow)
    .filter((row) => usesOf(row) <= NAMED_PER_COMMAND_MAX)
  const named = options.filter((row) => usesOf(row) > EXPLAINED_PER_COMMAND_MAX)
  const rows = [
    ...command.registeredArguments.map(argumentRow),
    ...options.filter((row) => usesOf(row) <= EXPLAINED_PER_COMMAND_MAX),
    ...(named.length === 0 ? [] : [[named.map(([flags]) => flags).join(', ')]]),
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
