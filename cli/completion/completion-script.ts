import type { Command, Option } from 'commander'
import { inQuotes } from '../../core/catalogue/templates/snippets.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** A command, or a subcommand, with what may follow it. */
interface Entry {
  /** `[]` for agw itself, `['keys', 'rotate']` for a subcommand. */
  readonly path: readonly string[]
  readonly commands: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly Option[]
  /** Values that its first argument may have. */
  readonly values: readonly string[]
}

/** The completion of all commands, options and their choices, as a script of a shell. It starts no process. */
export function completionScript(shell: Shell, program: Command): string {
  const entries = entriesOf(program, [])
  return shell === 'bash' ? bash(entries) : shell === 'zsh' ? zsh(entries) : fish(entries)
}

function entriesOf(command: Command, path: readonly string[]): Entry[] {
  const commands = command.commands.map((child) => ({
    name: child.name(),
    description: child.description(),
  }))
  const help = command.createHelp()
  const values = command.registeredArguments[0]?.argChoices ?? []
  return [
    { path, commands, options: help.visibleOptions(command), values },
    ...command.commands.flatMap((child) => entriesOf(child, [...path, child.name()])),
  ]
}

const flagsOf = ({ short, long }: Option): string[] =>
  [short, long].flatMap((flag) => (flag === undefined ? [] : [flag]))

/** Bash and zsh walk the words before the cursor to find the entry; `previous` is the word right before it. */
const walk = (entries: readonly Entry[]): string =>
  entries
    .filter(({ commands }) => commands.length > 0)
    .flatMap(({ path, commands }) =>
      commands.map(({ name }) => `      ${inQuotes([...path, name].join(' '))}) at="$next" ;;`),
    )
    .join('\n')

const choices = (entries: readonly Entry[]): string =>
  entries
    .flatMap(({ path, options }) =>
      options
        .filter(({ argChoices }) => argChoices !== undefined)
        .map((option) => {
          const patterns = flagsOf(option).map((flag) => inQuotes([...path, flag].join(' ')))
          return `    ${patterns.join('|')}) list=${inQuotes((option.argChoices ?? []).join(' '))} ;;`
        }),
    )
    .join('\n')

const wordsOf = ({ commands, options, values }: Entry): string =>
  [...commands.map(({ name }) => name), ...values, ...options.flatMap(flagsOf)].join(' ')

const candidates = (entries: readonly Entry[]): string =>
  entries
    .map((entry) => `    ${inQuotes(entry.path.join(' '))}) list=${inQuotes(wordsOf(entry))} ;;`)
    .join('\n')

/** What both shells do once they have the words: `at` is the command so far, `list` the candidates. */
const body = (entries: readonly Entry[]): string => `  for word in "\${before[@]}"; do
    next="\${at:+$at }$word"
    case "$next" in
${walk(entries)}
    esac
  done
  case "$at" in
${candidates(entries)}
  esac
  case "\${at:+$at }$previous" in
${choices(entries)}
  esac`

const bash = (
  entries: readonly Entry[],
): string => `# bash completion of agw: source <(agw completion bash)
_agw() {
  local at='' list='' word next previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local before=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
${body(entries)}
  COMPREPLY=($(compgen -W "$list" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _agw agw
`

const zsh = (entries: readonly Entry[]): string => `#compdef agw
# zsh completion of agw: source <(agw completion zsh)
_agw() {
  local at='' word next previous="\${words[CURRENT-1]}"
  local -a before=("\${(@)words[2,CURRENT-1]}")
  local list=''
${body(entries)}
  local -a candidates=(\${(s: :)list})
  compadd -- $candidates || _files
}
compdef _agw agw
`

function fish(entries: readonly Entry[]): string {
  const lines = entries.flatMap(({ path, commands, options, values }) => {
    const here = conditionOf(
      path,
      commands.map(({ name }) => name),
    )
    return [
      ...commands.map(
        ({ name, description }) =>
          `complete -c agw -f -n ${inQuotes(here)} -a ${inQuotes(name)} -d ${inQuotes(description)}`,
      ),
      ...(values.length > 0
        ? [`complete -c agw -f -n ${inQuotes(here)} -a ${inQuotes(values.join(' '))}`]
        : []),
      ...options.map((option) => fishOption(here, option)),
    ]
  })
  return `# fish completion of agw: agw completion fish | source\n${lines.join('\n')}\n`
}

/** True behind these commands and before any of the next. */
const conditionOf = (path: readonly string[], next: readonly string[]): string =>
  [
    ...(path.length === 0
      ? ['__fish_use_subcommand']
      : path.map((name) => `__fish_seen_subcommand_from ${name}`)),
    ...(path.length > 0 && next.length > 0
      ? [`not __fish_seen_subcommand_from ${next.join(' ')}`]
      : []),
  ].join('; and ')

function fishOption(condition: string, option: Option): string {
  const { short, long, description, argChoices, required, optional } = option
  return [
    `complete -c agw -n ${inQuotes(condition)}`,
    ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
    ...(long === undefined || long === null ? [] : [`-l ${long.slice(2)}`]),
    ...(required || optional ? ['-r'] : []),
    ...(argChoices === undefined ? [] : [`-f -a ${inQuotes(argChoices.join(' '))}`]),
    `-d ${inQuotes(description)}`,
  ].join(' ')
}
