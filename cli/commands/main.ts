import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { DECISIONS } from '../../core/activity/activity-entry.ts'
import { ECHO_BASE_URL } from '../launcher/echo-base-url.ts'
import { VIAS } from '../../core/activity/vias.ts'
import {
  DELIVERED_EVENTS,
  type DeliveredEvent,
  EVENT_NAMES,
  isDeliveredEvent,
} from '../../core/catalogue/events.ts'
import { TEMPLATES } from '../../core/catalogue/templates/all.ts'
import { CLIENT_WORDS } from '../../core/catalogue/templates/snippets.ts'
import { REASONS } from '../../core/catalogue/reasons.ts'
import { survivesItsReader } from '../../core/system/line-output.ts'
import { version } from '../../core/system/version.ts'
import { ENVOY_VERSIONS } from '../../envoy/envoy-versions.ts'
import type { MergeForm } from '../../envoy/merge-config.ts'
import type { ConfigMode } from '../../envoy/render-config.ts'
import { asksAdmin, asksAdminAs, callsAdmin, webAddress } from '../deployment/admin-command.ts'
import { SHELLS, type Shell } from '../completion/completion-script.ts'
import { counted } from '../terminal/counted.ts'
import { LOG_FORMATS, type LogFormat } from '../launcher/process-log.ts'
import { addCreateCommands, CREATE_OPTIONS, namedValue } from '../create/create-commands.ts'
import { addResourceCommands } from '../resources/resource-commands.ts'
import { readDuration } from '../terminal/read-duration.ts'
import { terminalLines } from '../terminal/terminal-text.ts'
import { UsageError } from '../terminal/usage-error.ts'

/** Exit codes of every command: 0 done, 1 failed, 2 wrong usage. */
const FAILED = 1
const WRONG_USAGE = 2

/** The command line. Each command loads its code when it runs, so that small commands start fast. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await makeProgram().parseAsync([...argv])
  } catch (error) {
    process.exitCode = exitCodeOf(error)
  }
}

/** All commands with their options. */
export function makeProgram(): Command {
  const program = new Command('agw')
    .description('Access control for the API calls of AI agents')
    .version(version, '--version', 'print the version')
    .exitOverride()
    .hook('preAction', (_, command) => readOwnKey(command.name()))
  addStart(program)
  addRestart(program)
  addPrograms(program)
  addScan(program)
  addEnvoyConfig(program)
  addDrain(program)
  addSettings(program)
  addKill(program)
  addReactivate(program)
  addLock(program)
  addActivity(program)
  addExplain(program)
  addAllow(program)
  addQuickstart(program)
  addTemplate(program)
  addResourceCommands(program)
  addRequests(program)
  addCreateCommands(program)
  addApply(program)
  addDiff(program)
  addDump(program)
  addForward(program)
  addDoctor(program)
  addAudit(program)
  addKeys(program)
  addCa(program)
  addBackup(program)
  addRestoreGap(program)
  addAnomaly(program)
  addListen(program)
  addLogin(program)
  addSkill(program)
  addCompletion(program)
  tellWhereHelpIs(program, 'agw')
  program.hook('preAction', (_, command) => {
    if (RUN_ON.has(command.name())) survivesItsReader()
    else endWithReader()
  })
  return program
}

/** Commands that have more to do than to print. */
const RUN_ON: ReadonlySet<string> = new Set([
  'start',
  'restart',
  'drain',
  'run',
  'listen',
  'ext-proc',
  'access-log',
  'admin',
])

/** `agw … | head` closes the pipe while the command still prints. */
function endWithReader(): void {
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) =>
    process.exit(code === 'EPIPE' ? 0 : FAILED),
  )
}

/** What to do after a command line that cannot be parsed. */
function tellWhereHelpIs(command: Command, path: string): void {
  const of = command.commands.length > 0 ? 'the list of commands' : 'its arguments and options'
  const hint = HINTS[path] === undefined ? '' : `${HINTS[path]} `
  command.showHelpAfterError(`(${hint}run ${path} --help for ${of})`)
  for (const child of command.commands) tellWhereHelpIs(child, `${path} ${child.name()}`)
}

/** Of commands that are easily given an option that is not theirs. */
const HINTS: Readonly<Record<string, string>> = {
  'agw env': 'it prints to standard output: use > FILE to write a file;',
  'agw run': 'options of the command go after --: agw run AGENT -- COMMAND ARGUMENTS;',
}

/** Commands that read the encryption key from their environment. */
const WITH_KEY: ReadonlySet<string> = new Set([
  'start',
  'restart',
  'ext-proc',
  'access-log',
  'admin',
  'doctor',
  'verify',
  'rotate',
  'backup',
  'restore',
])

/** The key may be a reference to a secret store. */
async function readOwnKey(command: string): Promise<void> {
  if (!WITH_KEY.has(command) || !process.env['AGW_ENCRYPTION_KEY']?.includes(':')) return
  const { withOwnKey } = await import('../../core/secret/read-own-key.ts')
  const { AGW_ENCRYPTION_KEY: key } = await withOwnKey(process.env)
  process.env['AGW_ENCRYPTION_KEY'] = key
}

function exitCodeOf(error: unknown): number {
  // Commander has already printed its message; --help is not an error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE
  const message = error instanceof Error ? error.message : String(error)
  process.stderr.write(`${terminalLines(message)}\n`)
  return error instanceof UsageError ? WRONG_USAGE : FAILED
}

function addStart(program: Command): void {
  program
    .command('start')
    .description('run the whole gateway in the foreground')
    .option('--new-store', 'accept an empty store after the previous one was lost')
    .addOption(
      new Option('--log-format <format>', 'format of the log')
        .choices(LOG_FORMATS)
        .default('text' satisfies LogFormat),
    )
    .option('--verbose', 'also print what the processes log while they start')
    .action(async (options: { newStore?: boolean; logFormat: LogFormat; verbose?: boolean }) => {
      const { runStart } = await import('./start.ts')
      const { newStore: isNewStore = false, verbose: isVerbose = false, logFormat } = options
      process.exit(await runStart(process.env, { isNewStore, isVerbose, logFormat }))
    })
}

function addRestart(program: Command): void {
  program
    .command('restart')
    .description(
      'restart the processes of a running agw start one after the other, without failed calls',
    )
    .action(async () => {
      const { runRestart } = await import('./restart.ts')
      await runRestart(process.env, process.stdout)
    })
}

const PROGRAM_COMMANDS = {
  'access-log': 'run the access log receiver in the foreground',
  admin: 'run the admin service in the foreground',
} as const

function addPrograms(program: Command): void {
  program
    .command('ext-proc')
    .description('run ext-proc in the foreground, for an Envoy of your own')
    .option(
      '--processes <number>',
      'processes, on consecutive addresses; one that dies or hangs is restarted',
      wholeNumber,
      1,
    )
    .action(async ({ processes }: { processes: number }) => {
      if (processes > 1) {
        const { runProcessors } = await import('./run-processors.ts')
        process.exit(await runProcessors(processes, process.env))
      }
      const { runProgram } = await import('./run-program.ts')
      process.exit(await runProgram('ext-proc', process.env))
    })
  for (const [name, description] of Object.entries(PROGRAM_COMMANDS))
    program
      .command(name)
      .description(description)
      .action(async () => {
        const { runProgram } = await import('./run-program.ts')
        process.exit(await runProgram(name as keyof typeof PROGRAM_COMMANDS, process.env))
      })
}

function addScan(program: Command): void {
  const sensitivity = new Option('--sensitivity <level>', 'how strict the scan is')
    .choices(['low', 'medium', 'high'])
    .default('medium')
  program
    .command('scan')
    .description('scan NDJSON {id, body, content_type?} from standard input')
    .addOption(sensitivity)
    .addOption(new Option('-o, --output <form>', 'output format').choices(['json']).default('json'))
    .action(async (options: { sensitivity: 'low' | 'medium' | 'high' }) => {
      const { runScan } = await import('./scan.ts')
      process.exitCode = await runScan(options, process.stdin, process.stdout, process.stderr)
    })
}

const mergesConfig = (command: Command): Command =>
  command
    .option(
      '--merge <file>',
      'add the gateway to this bootstrap (--mode listener, virtual-host, filter)',
    )
    .option(
      '--into <listener>',
      'listener of that bootstrap, or LISTENER/VIRTUAL_HOST, where it has several',
    )
    .addOption(
      new Option('--format <form>', 'with --merge: the whole, or a JSON patch (RFC 6902) of it')
        .choices(['yaml', 'json-patch'] satisfies MergeForm[])
        .default('yaml'),
    )

function addEnvoyConfig(program: Command): void {
  const mode = new Option(
    '--mode <mode>',
    'the whole configuration of an Envoy, or parts for yours',
  )
    .choices([
      'standalone',
      'listener',
      'virtual-host',
      'filter',
      'envoy-gateway',
      'istio',
    ] satisfies ConfigMode[])
    .default('standalone')
  mergesConfig(program.command('envoy-config'))
    .description('print the Envoy configuration for the current settings')
    .addOption(mode)
    .option(
      '--ext-proc <addresses>',
      'addresses of ext-proc as Envoy reaches them, comma-separated (AGW_EXT_PROC_ADDRESS)',
      commaList,
    )
    .option(
      '--access-log <address>',
      'address of the access log receiver as Envoy reaches it (AGW_ACCESS_LOG_ADDRESS)',
    )
    .option(
      '--hostname <names>',
      'host names of the virtual host, comma-separated (--mode virtual-host, envoy-gateway, istio)',
      commaList,
    )
    .option(
      '--namespace <name>',
      'namespace of the manifests (--mode envoy-gateway: agw, istio: istio-system)',
    )
    .addOption(
      new Option(
        '--envoy <version>',
        'version of your Envoy; others are refused. The configuration is the same for all',
      )
        .choices(ENVOY_VERSIONS)
        .default(ENVOY_VERSIONS.at(-1)),
    )
    .option('--output <file>', 'write to this file, with mode 0600')
    .option(
      '--sds <directory>',
      'directory on the Envoy host with the SDS files that are written next to --output; Envoy then uses renewed certificates without a restart',
    )
    .option(
      '--trusted-ca <file>',
      'CA bundle on the Envoy host',
      '/etc/ssl/certs/ca-certificates.crt',
    )
    .option(
      '--envoy-admin-socket <path>',
      `Unix socket of Envoy's admin interface (--mode standalone; default: ${ENVOY_ADMIN_SOCKET})`,
    )
    .option(
      '--envoy-memory <size>',
      "memory of Envoy's host, such as 2GiB, or cgroup: Envoy reads the limit of its container (--mode standalone; default: that of this host)",
      memorySize,
    )
    .action(async (options: import('./envoy-config.ts').EnvoyConfigOptions) => {
      const { runEnvoyConfig } = await import('./envoy-config.ts')
      runEnvoyConfig(process.env, options, ENVOY_ADMIN_SOCKET)
    })
}

const ENVOY_ADMIN_SOCKET = '/run/agw/envoy-admin.sock'

function addDrain(program: Command): void {
  program
    .command('drain')
    .description(
      'wait until an Envoy has finished its calls, before you stop it; meanwhile, it accepts no new connections',
    )
    .option(
      '--envoy-admin-socket <path>',
      "Unix socket of Envoy's admin interface",
      ENVOY_ADMIN_SOCKET,
    )
    .option('--timeout <seconds>', 'how long to wait for calls in flight', seconds, 30)
    .option('--on-stop', 'first wait for SIGTERM, for a container that is stopped before Envoy')
    .action(async (options: { envoyAdminSocket: string; timeout: number; onStop?: boolean }) => {
      const { runDrain } = await import('./drain.ts')
      const left = await runDrain({
        envoyAdminSocket: options.envoyAdminSocket,
        timeout_ms: options.timeout * 1000,
        onStop: options.onStop === true,
      })
      if (left === null) throw new Error(`Envoy does not answer at ${options.envoyAdminSocket}.`)
      if (left > 0) throw new Error(`${counted(left, 'call was', 'calls were')} still in flight.`)
    })
}

const MEMORY_UNITS = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, '': 1 } as const

/** Bytes; `cgroup` for the limit of the container in which Envoy will run. */
function memorySize(text: string): number | 'cgroup' {
  if (text === 'cgroup') return text
  const [, digits, unit] = /^(\d{1,15})(KiB|MiB|GiB|)$/.exec(text) ?? []
  if (digits === undefined || Number(digits) === 0)
    throw new InvalidArgumentError('must be a size such as 2GiB or 512MiB, or cgroup')
  return Number(digits) * MEMORY_UNITS[unit as keyof typeof MEMORY_UNITS]
}

const commaList = (text: string): readonly string[] => text.split(',').map((part) => part.trim())

function addKill(program: Command): void {
  asksAdmin(program.command('kill'))
    .description('kill an agent on every edge')
    .argument('<agent>', 'agent id or name')
    .option('--reason <text>', 'reason, shown to operators')
    .option('--notify <channel...>', 'additional channels: email')
    .action(async (agent: string, options: { reason?: string; notify?: string[] }) => {
      const { runKill } = await import('./kill.ts')
      process.exitCode = await runKill(agent, options, process.stdout, process.stderr)
    })
}

function addReactivate(program: Command): void {
  asksAdmin(program.command('reactivate'))
    .description('reactivate a killed agent')
    .argument('<agent>', 'agent id or name')
    .requiredOption('--reason <text>', 'reason, shown to operators')
    .option('--rotate-keys', 'issue a new key instead of restoring the revoked ones')
    .action(async (agent: string, options: { reason: string; rotateKeys?: boolean }) => {
      const { runReactivate } = await import('./reactivate.ts')
      process.exitCode = await runReactivate(agent, options, process.stdout, process.stderr)
    })
}

function addLock(program: Command): void {
  asksAdmin(program.command('lock'))
    .description('pause an agent or more on every edge, without revoking anything')
    .addArgument(
      new Argument('<kind>', 'what is locked').choices([
        'agent',
        'agents',
        'key',
        'scope',
        'integration',
        'organization',
        'everything',
      ] satisfies import('./lock.ts').Lockable[]),
    )
    .argument('[name]', 'its name or id; labels for agents, such as team=billing')
    .option('--for <duration>', 'it ends by itself after this time, such as 30m', lockDuration)
    .option('--read-only', 'let pass what only reads')
    .option('--message <text>', 'shown to callers')
    .option('--reference <text>', 'for operators, such as the number of a ticket')
    .option('--preview', 'print what it would concern, and lock nothing')
    .action(
      async (
        kind: import('./lock.ts').Lockable,
        name: string | undefined,
        options: import('./lock.ts').LockOptions,
      ) => {
        const { runLock } = await import('./lock.ts')
        process.exitCode = await runLock(kind, name, options, process.stdout, process.stderr)
      },
    )
  asksAdmin(program.command('unlock'))
    .description('lift a lock')
    .argument('<lock_id>', 'id of the lock')
    .option('--reason <text>', 'reason, shown to operators')
    .action(async (lock_id: string, options: { reason?: string }) => {
      const { runUnlock } = await import('./lock.ts')
      process.exitCode = await runUnlock(lock_id, options, process.stdout, process.stderr)
    })
}

function addRequests(program: Command): void {
  const requests = program.commands.find((command) => command.name() === 'requests')
  if (requests === undefined) return
  for (const decision of ['approve', 'deny'] as const) {
    const command = asksAdmin(requests.command(decision))
      .description(
        decision === 'approve'
          ? 'let the agent make this call, once, or all calls by its rule for a time'
          : 'deny the call of the agent',
      )
      .argument('<request_id>', 'id of the request')
      .option('--comment <text>', 'kept with the request; of a denial, the agent is shown it')
      .action(async (request_id: string, options: import('./decide-request.ts').DecideOptions) => {
        const { runDecideRequest } = await import('./decide-request.ts')
        const { stdout, stderr } = process
        process.exitCode = await runDecideRequest(decision, request_id, options, stdout, stderr)
      })
    if (decision === 'approve')
      command
        .option(
          '--for <duration>',
          'all calls by its rule for this time, such as 15m',
          lockDuration,
        )
        .option('--until <time>', 'all calls by its rule until this time (ISO 8601)')
  }
}

function lockDuration(text: string): number {
  const ms = readDuration(text, ['s', 'm', 'h', 'd'])
  if (ms === null || ms === 0) throw new InvalidArgumentError('must be like 90s, 30m, 24h or 7d')
  return ms
}

function addActivity(program: Command): void {
  asksAdmin(program.command('activity'))
    .description('print the newest activity log entries')
    .option('--follow', 'keep streaming new entries')
    .addOption(new Option('--event <event>', 'only entries with this event').choices(EVENT_NAMES))
    .option('--agent <agent>', 'only entries of this agent (id or name)')
    .option('--integration <integration>', 'only entries of this integration (id or name)')
    .addOption(
      new Option(
        '--decision <decision>',
        'only entries with this decision, or with this reason',
      ).choices([...DECISIONS, ...Object.keys(REASONS)]),
    )
    .addOption(
      new Option('--via <way>', 'only calls through the forward proxy, or by base URL').choices(
        VIAS,
      ),
    )
    .option('--status <status>', 'only responses with this status, such as 503 or 5xx')
    .option('--request-id <id>', 'only entries of this request')
    .option('--query <text>', 'only entries that contain this text')
    .option('--since <time>', 'only entries from this time (ISO 8601), or this long ago (15m)', ago)
    .option('--until <time>', 'only entries before this time (ISO 8601), or this long ago', ago)
    .option(
      '--limit <number>',
      'number of past entries to print, at most 200 (default: 50)',
      wholeNumber,
    )
    .option('--no-headers', 'leave out the headings')
    .action(async (options: import('./activity.ts').ActivityOptions) => {
      if (options.output === 'json' && options.headers === false)
        throw new UsageError('--no-headers goes with --output table: JSON has no headings.')
      const { runActivity } = await import('./activity.ts')
      process.exitCode = await runActivity(options, process.stdout, process.stderr)
    })
}

function addExplain(program: Command): void {
  asksAdmin(program.command('explain'))
    .description('print which integration, scope and rule decide a call, without making it')
    .argument('<agent>', 'agent id or name')
    .argument('<method>', 'HTTP method, as the agent sends it')
    .argument('<url>', 'target URL')
    .option('--exit-code', 'exit with 1 if the call would be refused')
    .option('--at <time>', 'decide with the scopes that are in force then; default: now')
    .option('--forward', 'a call through the forward proxy, where unlisted hosts may be allowed')
    .action(
      async (
        agent: string,
        method: string,
        url: string,
        options: import('./explain.ts').ExplainOptions,
      ) => {
        const { runExplain } = await import('./explain.ts')
        const { stdout, stderr } = process
        process.exitCode = await runExplain(agent, method, url, options, stdout, stderr)
      },
    )
}

function addAllow(program: Command): void {
  asksAdmin(program.command('allow'))
    .description('let an agent make a call, by the narrowest rule, after showing what changes')
    .argument('<agent>', 'agent id or name')
    .argument('<method>', 'HTTP method')
    .argument('<url>', 'target URL')
    .option('--yes', 'do not ask')
    .option('--dry-run', 'only show what would change')
    .action(
      async (
        agent: string,
        method: string,
        url: string,
        options: import('./allow.ts').AllowOptions,
      ) => {
        const { runAllow } = await import('./allow.ts')
        process.exitCode = await runAllow(agent, method, url, options, process)
      },
    )
}

const waitsForCall = (): Option =>
  new Option(
    '--wait',
    'wait for the first allowed call of the agent, and say why others are refused',
  )

function addQuickstart(program: Command): void {
  asksAdmin(program.command('quickstart'))
    .description('create an agent that may read from an API, and print its key and calls to try')
    .argument('[base_url]', 'base URL of the API', ECHO_BASE_URL)
    .addOption(CREATE_OPTIONS.auth())
    .addOption(CREATE_OPTIONS.authMember())
    .option('--agent <name>', 'name of the new agent', 'demo')
    .addOption(waitsForCall())
    .action(async (base_url: string, options: import('./quickstart.ts').QuickstartOptions) => {
      const { runQuickstart } = await import('./quickstart.ts')
      process.exitCode = await runQuickstart(base_url, options, process.env, process)
    })
}

function addTemplate(program: Command): void {
  asksAdmin(program.command('add'))
    .description('add a well-known API from its template, and let an agent use it')
    .addArgument(
      new Argument('<template>', 'name of the API').choices(TEMPLATES.map(({ name }) => name)),
    )
    .option('--agent <name>', 'agent that may use it; created if there is none')
    .option('--actions <names>', 'what the agent may do: read, write, admin', commaList)
    .addOption(
      new Option('--client <name>', 'client to print lines for').choices([...CLIENT_WORDS.keys()]),
    )
    .addOption(namedValue('--parameter <name=value>', 'a parameter of the template, repeatable'))
    .addOption(CREATE_OPTIONS.errorFormat())
    .addOption(waitsForCall())
    .action(async (template: string, options: import('./add.ts').AddOptions) => {
      const { runAdd } = await import('./add.ts')
      process.exitCode = await runAdd(template, options, process.env, process)
    })
}

/** Options shared by `apply` and `diff`. */
const comparesFile = (command: Command): Command =>
  asksAdmin(command)
    .requiredOption('-f, --file <file>', 'configuration in YAML or JSON, - for standard input')
    .option('--prune', 'delete resources the file does not name, in the sections it contains')
    .option('--with-secrets', 'write all secrets again, even if they look unchanged')

function addApply(program: Command): void {
  comparesFile(program.command('apply'))
    .description('apply a configuration file')
    .option('--keys-out <file>', 'write keys of new agents to this file, - for standard output')
    .action(async (options: import('./apply.ts').ApplyOptions) => {
      const { runApply } = await import('./apply.ts')
      process.exitCode = await runApply(options, process.env, process.stdout, process.stderr)
    })
}

function addDiff(program: Command): void {
  comparesFile(program.command('diff'))
    .description('print the changes that apply would make')
    .option('--exit-code', 'exit with 1 if there are differences')
    .action(async (options: import('./diff.ts').DiffOptions) => {
      const { runDiff } = await import('./diff.ts')
      process.exitCode = await runDiff(options, process.env, process.stdout, process.stderr)
    })
}

function addDump(program: Command): void {
  const form = new Option('-o, --output <form>', 'output format').choices(['yaml', 'json'])
  asksAdminAs(program.command('dump'), form.default('yaml'))
    .description('write the current configuration as a file for apply, without secrets')
    .option('-f, --file <file>', 'output file, - for standard output', '-')
    .action(async (options: import('./dump.ts').DumpOptions) => {
      const { runDump } = await import('./dump.ts')
      process.exitCode = await runDump(options, process.stdout, process.stderr)
    })
}

/** Of the commands for agents that call through the forward proxy. */
const usesForward = (command: Command): Command =>
  callsAdmin(command)
    .argument('<agent>', 'agent id or name')
    .option('--proxy <url>', 'address of the forward proxy', webAddress)

function addForward(program: Command): void {
  usesForward(program.command('env'))
    .description('print the environment variables that make an agent use the forward proxy')
    .addOption(
      new Option('--format <form>', 'format of the program that reads them')
        .choices(['shell', 'docker', 'systemd'] satisfies import('./env.ts').EnvForm[])
        .default('shell'),
    )
    .action(async (agent: string, options: import('./env.ts').EnvOptions) => {
      const { runEnv } = await import('./env.ts')
      await runEnv(agent, options, process.env, process.stdout)
    })
  usesForward(program.command('run'))
    .description('run a command whose calls go through the forward proxy as an agent')
    .argument('<command...>', 'the command and its arguments, after --')
    .action(async (agent: string, command: string[], options: import('./run.ts').RunOptions) => {
      const { runAs } = await import('./run.ts')
      process.exitCode = await runAs(agent, command, options, process.env)
    })
}

function addDoctor(program: Command): void {
  asksAdmin(program.command('doctor'))
    .description('check this machine (or --url, or --envoy-admin) and suggest fixes')
    .addOption(
      new Option(
        '--envoy-admin <url>',
        'check the configuration of the Envoy with this admin interface instead: http://host:port or unix:/path',
      )
        .argParser(envoyAdmin)
        .conflicts(['url', 'token']),
    )
    .action(async (options: Parameters<typeof import('./doctor.ts').runDoctor>[0]) => {
      const { runDoctor } = await import('./doctor.ts')
      process.exitCode = await runDoctor(options, process.env, process.stdout)
    })
}

function addAudit(program: Command): void {
  const audit = program.command('audit').description('verify the activity archive')
  asksAdmin(audit.command('verify'))
    .description('report archive lines that were changed, dropped, moved or cut off')
    .option('--dir <folder>', 'archive directory (AGW_ARCHIVE_DIR)')
    .action(async (options: { dir?: string }) => {
      const { runAuditVerify } = await import('./audit.ts')
      process.exitCode = await runAuditVerify(options, process.env, process.stdout, process.stderr)
    })
}

function addKeys(program: Command): void {
  const keys = program.commands.find((command) => command.name() === 'keys')
  keys
    ?.command('rotate')
    .description('replace the encryption key and encrypt all stored secrets again')
    .option('--timeout <seconds>', 'how long to wait for all processes', seconds, 120)
    .action(async (options: { timeout: number }) => {
      const { runKeysRotate } = await import('./keys-rotate.ts')
      const timeout_s = options.timeout
      process.exitCode = await runKeysRotate({ timeout_s }, process.env, process.stdout)
    })
}

function addCa(program: Command): void {
  const ca = program.command('ca').description('show and replace the CA of the forward proxy')
  asksAdmin(ca.command('show'))
    .description('show the certificates that clients of the forward proxy must trust')
    .action(async (options: import('../deployment/admin-access.ts').AdminOptions) => {
      const { runCaShow } = await import('./ca.ts')
      process.exitCode = await runCaShow(options, process.stdout, process.stderr)
    })
  const steps: readonly import('../../admin/certificates/rotate-authority.ts').CaStep[] = [
    'prepare',
    'activate',
    'finish',
    'replace',
  ]
  asksAdmin(ca.command('rotate'))
    .description(
      'replace the CA, step by step and without a failed call: prepare, activate, finish',
    )
    .addArgument(
      new Argument(
        '<step>',
        'prepare, activate or finish, in this order; replace does all at once, without a time in which clients trust both CAs',
      ).choices(steps),
    )
    .action(
      async (
        step: (typeof steps)[number],
        options: import('../deployment/admin-access.ts').AdminOptions,
      ) => {
        const { runCaRotate } = await import('./ca.ts')
        process.exitCode = await runCaRotate(step, options, process.stdout, process.stderr)
      },
    )
}

function addBackup(program: Command): void {
  program
    .command('backup')
    .description('write a backup of this deployment while it runs')
    .argument('<file>', 'file to write, with mode 0600')
    .option('--keys', 'include the encryption keys, encrypted with AGW_BACKUP_PASSPHRASE')
    .action(async (file: string, options: { keys?: boolean }) => {
      const { runBackup } = await import('./backup.ts')
      const keys = options.keys === true
      process.exitCode = await runBackup(file, { keys }, process.env, process.stdout)
    })
  program
    .command('restore')
    .description('restore a backup into the store')
    .argument('<file>', 'file that agw backup has written')
    .option(
      '--replace',
      'replace the content of a store that is not empty; kills, revocations and deletions since the backup are kept',
    )
    .option(
      '--archive <dir>',
      'archive that knows the time after the backup (default: that of the settings)',
    )
    .option('--accept-gap', 'serve agents although changes after the backup are unknown')
    .action(
      async (
        file: string,
        options: { replace?: boolean; archive?: string; acceptGap?: boolean },
      ) => {
        const { runRestore } = await import('./restore.ts')
        const replace = options.replace === true
        const accept_gap = options.acceptGap === true
        const { archive = null } = options
        const how = { replace, accept_gap, archive }
        process.exitCode = await runRestore(file, how, process.env, process.stdout)
      },
    )
}

function addRestoreGap(program: Command): void {
  const gap = program
    .command('restore-gap')
    .description('show and accept what a restore does not know, while agents are refused for it')
  asksAdmin(gap.command('show'))
    .description('show since when changes are unknown, and why; exits with 1 if any are')
    .action(async (options: import('../deployment/admin-access.ts').AdminOptions) => {
      const { runGapShow } = await import('./restore-gap.ts')
      process.exitCode = await runGapShow(options, process.stdout)
    })
  asksAdmin(gap.command('accept'))
    .description('let agents of the backup call although changes after it are unknown')
    .argument('[agents...]', 'agent ids or names')
    .option('--all', 'all agents; from the default organization, those of all organizations')
    .option('--comment <text>', 'comment, kept in the activity log')
    .action(async (agents: string[], options: import('./restore-gap.ts').AcceptOptions) => {
      const { runGapAccept } = await import('./restore-gap.ts')
      process.exitCode = await runGapAccept(agents, options, process.stdout)
    })
}

function addAnomaly(program: Command): void {
  const anomaly = program
    .command('anomaly')
    .description('score stored activity again, to choose thresholds')
  asksAdmin(anomaly.command('replay'))
    .description('score stored activity and print the alerts and kills it would have caused')
    .addOption(
      new Option(
        '--file <file>',
        'read activity entries from NDJSON instead of the admin API, - for standard input',
      ).conflicts(['url', 'token']),
    )
    .option('--agent <agent_id>', 'only this agent')
    .option('--scope <scope_id>', 'only this scope')
    .option('--from <time>', 'only entries from this time (ISO 8601)', time)
    .option('--to <time>', 'only entries before this time (ISO 8601)', time)
    .option('--alert-threshold <score>', 'alert threshold (default: 0.7)', share)
    .option('--kill-threshold <score>', 'kill threshold, 1 = never (default: 1)', share)
    .option(
      '--learning-hours <hours>',
      'hours of learning before the first score (default: 48)',
      wholeNumber,
    )
    .addHelpText('after', REPLAY_HELP)
    .action(async (options: import('./anomaly.ts').AnomalyReplayOptions, command: Command) => {
      const { from, to } = options
      if (from !== undefined && to !== undefined && Date.parse(from) >= Date.parse(to))
        command.error('error: --from is not before --to', { exitCode: WRONG_USAGE })
      const { runAnomalyReplay } = await import('./anomaly.ts')
      const { stdin, stdout, stderr } = process
      process.exitCode = await runAnomalyReplay(options, stdin, stdout, stderr)
    })
}

const REPLAY_HELP = `
Entries are read from the admin API, from --file or, without a token, from standard input. Learning is part of the replay:
start several days before the period you care about. A replay changes nothing.

  agw anomaly replay --agent agt_123 --kill-threshold 0.9
  agw anomaly replay --file activity.ndjson -o json`

function addLogin(program: Command): void {
  program
    .command('login')
    .description('check an admin token and store it with the address, in a file with mode 0600')
    .option('--url <url>', 'address of the admin API (AGW_URL)', webAddress)
    .option('--token <token>', 'admin token (AGW_TOKEN); read from standard input without it')
    .action(async (options: import('../deployment/admin-access.ts').AdminOptions) => {
      const { runLogin } = await import('./login.ts')
      const { env, stdin, stdout, stderr } = process
      process.exitCode = await runLogin(options, env, stdin, stdout, stderr)
    })
  program
    .command('logout')
    .description('delete the token that agw login has stored')
    .action(async () => {
      const { runLogout } = await import('./login.ts')
      process.exitCode = runLogout(process.env, process.stdout)
    })
}

function addListen(program: Command): void {
  asksAdmin(program.command('listen'))
    .description('receive webhooks on this machine: register one, verify and print its deliveries')
    .addOption(
      new Option('--events <names>', 'events, comma-separated (default: all)').argParser(
        deliveredEvents,
      ),
    )
    .option('--host <host>', 'this machine, as the gateway reaches it', '127.0.0.1')
    .option('--port <port>', 'port of the receiver; default: a free one', port, 0)
    .action(async (options: import('./listen.ts').ListenOptions) => {
      const stopped = new AbortController()
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
        process.once(signal, () => stopped.abort())
      // A reader that is gone ends the command, too.
      process.stdout.on('error', () => stopped.abort())
      const { runListen } = await import('./listen.ts')
      process.exitCode = await runListen(options, process, stopped.signal)
    })
}

function deliveredEvents(text: string): readonly DeliveredEvent[] {
  const names = commaList(text)
  const unknown = names.find((name) => !isDeliveredEvent(name))
  if (unknown !== undefined)
    throw new InvalidArgumentError(
      `${unknown} is not an event of webhooks; these are: ${DELIVERED_EVENTS.join(', ')}`,
    )
  return names.filter(isDeliveredEvent)
}

function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('must be a port from 0 to 65535')
  return Number(text)
}

function addSkill(program: Command): void {
  program
    .command('skill')
    .description('how agents use the gateway, as a skill for them')
    .command('install')
    .description('write the skill that tells an agent how to use the gateway, after showing it')
    .option('--dir <dir>', 'folder of the skills', '.claude/skills')
    .option('--yes', 'do not ask', false)
    .action(async (options: import('./skill.ts').SkillOptions) => {
      const { runSkillInstall } = await import('./skill.ts')
      const { stdin, stdout, stderr } = process
      process.exitCode = await runSkillInstall(options, stdin, stdout, stderr)
    })
}

function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(SHELLS))
    .addHelpText('after', COMPLETION_HELP)
    .action(async (shell: Shell) => {
      const { completionScript } = await import('../completion/completion-script.ts')
      process.stdout.write(completionScript(shell, program))
    })
}

const COMPLETION_HELP = `
  source <(agw completion bash)      in ~/.bashrc
  source <(agw completion zsh)       in ~/.zshrc, after compinit
  agw completion fish | source       in ~/.config/fish/config.fish`

/** A time, or how long ago. */
function ago(text: string): string {
  const ago_ms = readDuration(text, ['s', 'm', 'h', 'd'])
  return new Date(ago_ms === null ? time(text) : Date.now() - ago_ms).toISOString()
}

function time(text: string): string {
  if (Number.isNaN(Date.parse(text)))
    throw new InvalidArgumentError('must be a time in ISO 8601 format')
  return text
}

function share(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError('must be a number from 0 to 1')
  return value
}

function seconds(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1)
    throw new InvalidArgumentError('must be a number of seconds from 1 to 99999')
  return Number(text)
}

function envoyAdmin(text: string): string {
  if (!text.startsWith('unix:/') && !(URL.canParse(text) && /^https?:/.test(text)))
    throw new InvalidArgumentError('must start with http:// or unix:/')
  return text
}

function wholeNumber(text: string): number {
  if (!/^\d{1,3}$/.test(text) || Number(text) < 1 || Number(text) > 200)
    throw new InvalidArgumentError('must be an integer from 1 to 200')
  return Number(text)
}

function addSettings(program: Command): void {
  program
    .command('settings')
    .description('print the reference of all settings')
    .action(async () => {
      const { settingsPage } = await import('../terminal/settings-page.ts')
      process.stdout.write(settingsPage())
    })
}
