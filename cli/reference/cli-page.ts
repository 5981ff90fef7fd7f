import type { Command } from 'commander'
import { table } from './table.ts'

/** Every command with its options, as `--help` shows them. */
export const cliPage = (program: Command): string => `# Command line reference

Exit codes: 0 done, 1 failed, 2 wrong usage. The [guide](../guides/cli.md) has examples.

${program.commands.flatMap((command) => sectionsOf(command, 'agw')).join('\n')}`

function sectionsOf(command: Command, parent: string): string[] {
  const name = `${parent} ${command.name()}`
  if (command.commands.length > 0)
    return command.commands.flatMap((child) => sectionsOf(child, name))
  const words = command.registeredArguments.map((argument) =>
    argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
  )
  const usage = [name, ...words].join(' ')
  const rows = [
    ...command.registeredArguments.map((argument) => [
      `\`${argument.name()}\``,
      sentence(argument.description),
    ]),
    ...command.options.map((option) => [
      `\`${option.flags}\``,
      sentence(
        `${option.description}${option.argChoices ? `: ${option.argChoices.join(', ')}` : ''}`,
      ) +
        (option.defaultValue === undefined ? '' : ` Default: \`${String(option.defaultValue)}\`.`),
    ]),
  ]
  const options = rows.length === 0 ? '' : `\n${table(['option', 'what it does'], rows)}\n`
  return [`## ${usage}\n\n${sentence(command.description())}\n${options}`]
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
