/** One step of a session: what the model wants done. A step whose tool is not offered is done by a shell. */
export interface Step {
  readonly kind: keyof typeof TOOLS_OF
  /** The same as a command. */
  readonly command: string
  readonly values: Readonly<Record<string, unknown>>
}

/** A tool that a request offers to the model. */
export interface Tool {
  readonly name: string
  /** That a call of it has to name too: that of an MCP server, in Codex CLI. */
  readonly namespace?: string
  readonly schema: any
}

export type Choice = {
  readonly name: string
  readonly namespace?: string
  readonly args: Readonly<Record<string, unknown>>
} | null

/** The names that agents have for a kind of tool, and the end of the name of one that an MCP server offers. */
const TOOLS_OF = {
  write: ['write_file', 'Write', 'write', 'write_to_file'],
  read: ['read_file', 'Read', 'read', 'read_files'],
  edit: ['edit_file', 'replace', 'Edit', 'edit', 'replace_in_file'],
  list: ['list_directory', 'LS', 'list', 'list_files'],
  search: ['grep_search', 'search_file_content', 'Grep', 'grep', 'search_files'],
  fetch: ['fetch_page'],
  mcp: ['lookup_release'],
  shell: [
    'run_shell_command',
    'Bash',
    'bash',
    'exec_command',
    'shell',
    'execute_command',
    'run_command',
    'run_commands',
  ],
} as const
/** By which an agent says that it has finished, if it has a tool for that. */
const LAST_TOOLS = ['final_answer', 'attempt_completion', 'submit_and_exit', 'task_completed']
export const LAST_WORDS = 'The session is complete.'
export const MCP_TOOL = TOOLS_OF.mcp[0]

const NOTE = 'The release is on Tuesday.'

/** What the model has an agent do, over and over: write, read and edit files, search, run commands, fetch a page, call an MCP tool. */
export function stepOf(number: number, folder: string, page_url: string): Step {
  const round = Math.floor(number / 10)
  const name = `notes-${round}.txt`
  const note = reading(folder, name)
  const steps: readonly Step[] = [
    {
      kind: 'write',
      command: `echo "${NOTE}" > ${name}`,
      values: { ...note.values, content: `${NOTE}\n` },
    },
    note,
    { kind: 'list', command: 'ls -la', values: { path: folder, dir_path: folder } },
    { kind: 'shell', command: 'git status --short', values: {} },
    {
      kind: 'edit',
      command: `sed -i s/Tuesday/Wednesday/ ${name}`,
      values: {
        ...note.values,
        old_string: 'Tuesday',
        oldString: 'Tuesday',
        old_text: 'Tuesday',
        new_string: 'Wednesday',
        newString: 'Wednesday',
        new_text: 'Wednesday',
        instruction: 'Change the day of the release.',
      },
    },
    {
      kind: 'search',
      command: `grep -n release ${name}`,
      values: {
        path: folder,
        dir_path: folder,
        pattern: 'release',
        query: 'release',
        regex: 'release',
      },
    },
    { kind: 'fetch', command: `curl -sS ${page_url}`, values: { url: page_url } },
    { kind: 'mcp', command: 'date', values: { version: `1.${round}` } },
    reading(folder, 'src/app.js'),
    { kind: 'shell', command: 'node --test; wc -l *.md', values: {} },
  ]
  return steps[number % steps.length] as Step
}

export function reading(folder: string, name: string): Step {
  const file = `${folder}/${name}`
  const values = { path: file, file_path: file, filePath: file, absolute_path: file }
  return { kind: 'read', command: `cat ${name}`, values }
}

/** A form with a new boundary each time. */
export const postingTo = (page_url: string): Step => ({
  kind: 'shell',
  command: `curl -sS -F version=1.4 -F notes=@src/app.js ${page_url}`,
  values: {},
})

/** The call of a tool that does a step; null if none is offered that can. */
export function chooseTool(step: Step, tools: readonly Tool[]): Choice {
  for (const kind of [step.kind, 'shell'] as const)
    for (const name of TOOLS_OF[kind]) {
      const tool = tools.find((one) =>
        kind === 'mcp' ? one.name.endsWith(name) : one.name === name,
      )
      if (tool !== undefined) return callOf(tool, { ...shellValues(step.command), ...step.values })
    }
  return null
}

/** The call by which an agent with a tool for that says that it has finished. */
export function lastCall(tools: readonly Tool[]): Choice {
  const tool = tools.find(({ name }) => LAST_TOOLS.includes(name))
  return tool === undefined ? null : callOf(tool, {})
}

const shellValues = (command: string): Readonly<Record<string, unknown>> => ({
  command,
  cmd: command,
  description: 'A step of the task',
  is_background: false,
})

function callOf(
  { name, namespace, schema }: Tool,
  values: Readonly<Record<string, unknown>>,
): Choice {
  const required: readonly string[] = schema?.required ?? []
  const args = required.map((member) => [
    member,
    valueOf(schema.properties?.[member], values, member),
  ])
  return { name, ...(namespace && { namespace }), args: Object.fromEntries(args) }
}

/** A value for a parameter: by its name, as a list where the schema wants one, or the first that its type allows. */
function valueOf(schema: any, values: Readonly<Record<string, unknown>>, name: string): unknown {
  const known = values[name]
  const type = String(schema?.type).toLowerCase()
  if (type === 'array') {
    const one = values[name.replace(/s$/, '')] ?? known
    return one === undefined || Array.isArray(one)
      ? (one ?? [])
      : schema.items?.type === 'object'
        ? [callOf({ name, schema: schema.items }, values)?.args]
        : [one]
  }
  if (known !== undefined) return known
  if (schema?.enum !== undefined) return schema.enum[0]
  return { boolean: false, number: 1, integer: 1, object: {} }[type] ?? LAST_WORDS
}
