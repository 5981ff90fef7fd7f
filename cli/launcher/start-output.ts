import { LineOutput, lostSentence } from '../../core/system/line-output.ts'
import { isDetail, type LogFormat, ownLogLine, processLogLine } from './process-log.ts'
import { type Welcome, welcome } from './welcome.ts'

/** Lines of a start that are kept for its failure. */
const HELD_MAX = 500

/** What the launcher prints: its steps on standard output, problems and the log of its children on standard error. */
export class StartOutput {
  readonly #format: LogFormat
  readonly #out: LineOutput
  readonly #err: LineOutput

  /** What children have logged while they start; null where all of it is printed. */
  #held: string[] | null

  constructor(format: LogFormat, isVerbose: boolean) {
    this.#format = format
    this.#held = isVerbose || format === 'json' ? null : []
    const lostLine = (lost: number): string => ownLogLine(format, 'warn', lostSentence(lost))
    this.#out = new LineOutput(1, lostLine)
    this.#err = new LineOutput(2, lostLine)
  }

  readonly say = (line: string): void => {
    print(this.#out, this.#format === 'text' ? line : ownLogLine('json', 'info', line))
  }

  readonly report = (line: string): void => {
    this.#release()
    print(this.#err, this.#format === 'text' ? line : ownLogLine('json', 'error', line))
  }

  /** A line of a child, or of the supervisor if `child` is null. */
  readonly log = (line: string, child: string | null): void => {
    const text = processLogLine(this.#format, child, line)
    if (this.#held === null || child === null || !isDetail(line)) print(this.#err, text)
    else if (this.#held.push(text) > HELD_MAX) this.#held.shift()
  }

  /** The details help only when the start has failed. */
  #release(): void {
    for (const text of this.#held ?? []) print(this.#err, text)
    this.#held = null
  }

  /** A new admin token is for people: a log that is collected would keep it. */
  welcome(parts: Welcome): void {
    this.#held = null
    if (this.#format === 'text') return this.say(welcome(parts))
    const { proxyUrl: proxy_url, apiUrl: api_url, forwardUrl: forward_url } = parts
    // The tokens that the store already had are not in the file of this machine.
    const token_file = parts.token.kind === 'not_used' ? null : parts.tokenFile
    const members = { proxy_url, api_url, forward_url, token_file }
    print(this.#out, ownLogLine('json', 'info', 'The gateway is ready.', members))
  }
}

const print = (output: LineOutput, line: string): void => output.write(`${line}\n`)
