import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { EVENTS } from '../core/activity/activity-entry.ts'

/** Exit codes of every command: 0 done, 1 failed, 2 wrong usage. */
const FAILED = 1
const WRONG_USAGE = 2

/** The command line. Each command loads its own code when it runs, so that a small one starts fast. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('agw')
    .description('Access control for AI agents, in front of any API')
    .exitOverride()
    .showHelpAfterError('(agw --help lists the commands)')
  addStart(program)
  addScan(program)
  addEnvoyConfig(program)
  addSettings(program)
  addKill(program)
  addReactivate(program)
  addActivity(program)
  addApply(program)
  addDiff(program)
  addDump(program)
  addDoctor(program)
  addAudit(program)
  addAnomaly(program)
  try {
    await program.parseAsync([...argv])
  } catch (error) {
    process.exitCode = exitCodeOf(error)
  }
}

function exitCodeOf(error: unknown): number {
  // Commander has written its own message by then; asking for help is no fault.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  return FAILED
}

function addStart(program: Command): void {
  program
    .command('start')
    .description('run the whole gateway in the foreground')
    .action(async () => {
      const { runStart } = await import('./start.ts')
      process.exit(await runStart(process.env))
    })
}

function addScan(program: Command): void {
  const sensitivity = new Option('--sensitivity <level>', 'which findings count')
    .choices(['low', 'medium', 'high'])
    .default('medium')
  program
    .command('scan')
    .description('read NDJSON {id, body, content_type?} and print what the scanner finds')
    .addOption(sensitivity)
    .addOption(new Option('-o, --output <form>', 'how to print').choices(['json']).default('json'))
    .action(async (options: { sensitivity: 'low' | 'medium' | 'high' }) => {
      const { runScan } = await import('./scan.ts')
      process.exitCode = await runScan(options, process.stdin, process.stdout, process.stderr)
    })
}

function addEnvoyConfig(program: Command): void {
  const mode = new Option('--mode <mode>', 'for which Envoy')
    .choices(['standalone'])
    .default('standalone')
  program
    .command('envoy-config')
    .description('print the Envoy configuration that the settings make')
    .addOption(mode)
    .option('--output <file>', 'write to this file, readable by its owner alone')
    .option(
      '--trusted-ca <file>',
      "the CA bundle at Envoy's place",
      '/etc/ssl/certs/ca-certificates.crt',
    )
    .option(
      '--envoy-admin-socket <path>',
      "where Envoy's own admin listens",
      '/run/agw/envoy-admin.sock',
    )
    .action(async (options: { output?: string; trustedCa: string; envoyAdminSocket: string }) => {
      const { runEnvoyConfig } = await import('./envoy-config.ts')
      runEnvoyConfig(process.env, options)
    })
}

/** The options of every command that asks the admin API. */
const asksAdminAs = (command: Command, output: Option): Command =>
  command
    .option('--url <url>', 'where the admin API is (AGW_URL)', webAddress)
    .option('--token <token>', 'an admin token (AGW_TOKEN)')
    .addOption(output)

const asksAdmin = (command: Command): Command =>
  asksAdminAs(
    command,
    new Option('-o, --output <form>', 'how to print').choices(['table', 'json']).default('table'),
  )

function addKill(program: Command): void {
  asksAdmin(program.command('kill'))
    .description('switch an agent off on every edge, now')
    .argument('<agent>', 'its id or its name')
    .option('--reason <text>', 'what operators see of it')
    .option('--notify <channel...>', 'email: besides the webhooks that subscribe')
    .action(async (agent: string, options: { reason?: string; notify?: string[] }) => {
      const { runKill } = await import('./kill.ts')
      process.exitCode = await runKill(agent, options, process.stdout, process.stderr)
    })
}

function addReactivate(program: Command): void {
  asksAdmin(program.command('reactivate'))
    .description('switch a killed agent on again')
    .argument('<agent>', 'its id or its name')
    .requiredOption('--reason <text>', 'what operators see of it')
    .option('--rotate-keys', 'answer a new key in the place of those that the kill revoked')
    .action(async (agent: string, options: { reason: string; rotateKeys?: boolean }) => {
      const { runReactivate } = await import('./reactivate.ts')
      process.exitCode = await runReactivate(agent, options, process.stdout, process.stderr)
    })
}

function addActivity(program: Command): void {
  asksAdmin(program.command('activity'))
    .description('print the newest entries of the activity log')
    .option('--follow', 'and those that come')
    .addOption(new Option('--event <event>', 'only entries of this kind').choices(EVENTS))
    .option('--agent <agent>', 'only entries of this agent, by its id or its name')
    .option('--limit <number>', 'how many of those that are there', wholeNumber)
    .action(
      async (options: { follow?: boolean; event?: string; agent?: string; limit?: number }) => {
        const { runActivity } = await import('./activity.ts')
        process.exitCode = await runActivity(options, process.stdout, process.stderr)
      },
    )
}

/** What `apply` and `diff` have in common: a file that is compared with an installation. */
const comparesFile = (command: Command): Command =>
  asksAdmin(command)
    .requiredOption('-f, --file <file>', 'the configuration in YAML or JSON, - for standard input')
    .option('--prune', 'delete what the file does not name, in the sections that it has')
    .option('--with-secrets', 'write all secrets anew, also those that seem to be the same')

function addApply(program: Command): void {
  comparesFile(program.command('apply'))
    .description('make integrations, agents, scopes and webhooks what a file says')
    .option('--keys-out <file>', 'where the keys of new agents go, - for standard output')
    .action(async (options: import('./apply.ts').ApplyOptions) => {
      const { runApply } = await import('./apply.ts')
      process.exitCode = await runApply(options, process.env, process.stdout, process.stderr)
    })
}

function addDiff(program: Command): void {
  comparesFile(program.command('diff'))
    .description('print what apply would do with a file')
    .option('--exit-code', 'exit with 1 where there are differences')
    .action(async (options: import('./diff.ts').DiffOptions) => {
      const { runDiff } = await import('./diff.ts')
      process.exitCode = await runDiff(options, process.env, process.stdout, process.stderr)
    })
}

function addDump(program: Command): void {
  const form = new Option('-o, --output <form>', 'how to write').choices(['yaml', 'json'])
  asksAdminAs(program.command('dump'), form.default('yaml'))
    .description('write what is there as a file for apply, without any secret')
    .option('-f, --file <file>', 'the file to write, - for standard output', '-')
    .action(async (options: import('./dump.ts').DumpOptions) => {
      const { runDump } = await import('./dump.ts')
      process.exitCode = await runDump(options, process.stdout, process.stderr)
    })
}

function addDoctor(program: Command): void {
  asksAdmin(program.command('doctor'))
    .description('look whether all is well here, or at --url, and say what to do')
    .action(async (options: import('./call-admin.ts').AdminOptions) => {
      const { runDoctor } = await import('./doctor.ts')
      process.exitCode = await runDoctor(options, process.env, process.stdout)
    })
}

function addAudit(program: Command): void {
  const audit = program.command('audit').description('the archive of the activity log')
  asksAdmin(audit.command('verify'))
    .description('name every line of the archive that was changed, dropped, moved or cut off')
    .option('--dir <folder>', 'where the archive is (AGW_ARCHIVE_DIR)')
    .action(async (options: { dir?: string }) => {
      const { runAuditVerify } = await import('./audit.ts')
      process.exitCode = await runAuditVerify(options, process.env, process.stdout, process.stderr)
    })
}

function addAnomaly(program: Command): void {
  const anomaly = program.command('anomaly').description('how unusual the traffic of agents is')
  asksAdmin(anomaly.command('replay'))
    .description('score stored activity, and print what would have been told of and killed')
    .addOption(
      new Option(
        '--file <file>',
        'NDJSON of activity entries in place of the admin API, - for standard input',
      ).conflicts(['url', 'token']),
    )
    .option('--agent <agent_id>', 'only this agent')
    .option('--scope <scope_id>', 'only this scope')
    .option('--from <time>', 'only entries from this time on, in ISO 8601', time)
    .option('--to <time>', 'only entries before this time, in ISO 8601', time)
    .option('--alert-threshold <score>', 'told of from this score on (default: 0.7)', share)
    .option('--kill-threshold <score>', 'killed from this score on; 1 is never (default: 1)', share)
    .option(
      '--learning-hours <hours>',
      'learned before the first verdict (default: 48)',
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
Entries come from the admin API, from --file, or, where no token is given or set, from what is piped in. Learning is part
of the replay: begin several days before the traffic that you ask about. Nothing is changed, and nobody is killed.

  agw anomaly replay --agent agt_123 --kill-threshold 0.9
  agw anomaly replay --file activity.ndjson -o json`

function webAddress(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new InvalidArgumentError('It begins with http:// or https://.')
  return text
}

function time(text: string): string {
  if (Number.isNaN(Date.parse(text))) throw new InvalidArgumentError('It is a time in ISO 8601.')
  return text
}

function share(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError('It is a number from 0 to 1.')
  return value
}

function wholeNumber(text: string): number {
  if (!/^\d{1,3}$/.test(text) || Number(text) < 1 || Number(text) > 200)
    throw new InvalidArgumentError('It is a whole number from 1 to 200.')
  return Number(text)
}

function addSettings(program: Command): void {
  program
    .command('settings')
    .description('print the page of all settings')
    .action(async () => {
      const { settingsPage } = await import('./settings-page.ts')
      process.stdout.write(settingsPage())
    })
}
