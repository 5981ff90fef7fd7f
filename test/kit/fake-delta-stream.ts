import { EventEmitter } from 'node:events'
import { type DeltaAnswer, deltaMessages } from './delta-messages.ts'

/** Envoy's end of one stream of delta discovery, without Envoy. */
export class FakeDeltaStream extends EventEmitter {
  readonly answers: DeltaAnswer[] = []
  readonly errors: unknown[] = []

  write(bytes: Buffer): void {
    this.answers.push(deltaMessages.read(bytes))
  }

  fail(code: number, details: string): void {
    this.emit('error', { code, details })
  }
}
