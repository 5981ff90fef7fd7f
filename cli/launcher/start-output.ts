import { LineOutput, lostSentence } from '../../core/system/line-output.ts'
import { type LogFormat, ownLogLine, processLogLine } from './process-log.ts'
import { type Welcome, welcome } from './welcome.ts'

/** What the launcher prints: its steps on standard output, problems and the log of its children on standard error. */
export class StartOutput {
  readonly #format: LogFormat
  readonly #out: LineOutput
  readonly #err: LineOutput

  constructor(format: LogFormat) {
    this.#format = format
    const lostLine = (lost: number): string => ownLogLine(format, 'warn', lostSentence(lost))
    this.#out = new LineOutput(1, lostLine)
    this.#err = new LineOutput(2, lostLine)
  }

  readonly say = (line: string): void => {
    print(this.#out, this.#format === 'text' ? line : ownLogLine('json', 'info', line))
  }

  readonly report = (line: string): void => {
    print(this.#err, this.#format === 'text' ? line : ownLogLine('json', 'error', line))
  }

  /** A line of a child, or of the supervisor if `child` is null. */
  readonly log = (line: string, child: string | null): void => {
    print(this.#err, processLogLine(this.#format, child, line))
  }

  /** A new admin token is for people: a log that is collected would keep it. */
  welcome(parts: Welcome): void {
    if (this.#format === 'text') return this.say(welcome(parts))
    const { proxyUrl: proxy_url, apiUrl: api_url, forwardUrl: forward_url } = parts
    // The tokens that the store already had are not in the file of this machine.
    const token_file = parts.token.kind === 'not_used' ? null : parts.tokenFile
    const members = { proxy_url, api_url, forward_url, token_file }
    print(this.#out, ownLogLine('json', 'info', 'The gateway is ready.', members))
  }
}

const print = (output: LineOutput, line: string): void => output.write(`${line}\n`)
