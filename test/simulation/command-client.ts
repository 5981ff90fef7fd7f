import { EventEmitter } from 'node:events'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { type Reply, Status } from './store-model.ts'

/** As text of bytes, one character each. */
const encode = (value: unknown): string => {
  if (typeof value === 'number') return String(value)
  if (Buffer.isBuffer(value)) return value.toString('latin1')
  const text = String(value)
  return /[\u0080-\uffff]/.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text
}

export const decode = (text: string): string =>
  /[\u0080-\uffff]/.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text

const flat = (values: readonly unknown[]): unknown[] =>
  values.flatMap((value) => {
    if (Array.isArray(value)) return flat(value)
    if (value instanceof Map) return flat([...value])
    const isPlain = typeof value === 'object' && value !== null && !Buffer.isBuffer(value)
    return isPlain ? flat(Object.entries(value)) : [value]
  })

function toValue(reply: Reply, isBytes: boolean): unknown {
  if (reply === null || typeof reply === 'number') return reply
  if (reply instanceof Status) return reply.text
  if (typeof reply === 'string') return isBytes ? Buffer.from(reply, 'latin1') : decode(reply)
  return reply.map((one) => toValue(one, isBytes))
}

function toRecord(reply: unknown): Record<string, unknown> {
  const words = reply as readonly string[]
  const record: Record<string, unknown> = {}
  for (let i = 0; i + 1 < words.length; i += 2) record[words[i] ?? ''] = words[i + 1]
  return record
}

const COMMANDS =
  'ping time info wait config flushall publish eval evalsha keys exists del unlink expire pexpire pttl ttl get set setrange incr hget hmget hgetall hkeys hvals hlen hexists hstrlen hset hsetnx hincrby hdel zadd zrem zscore zmscore zcard zrange zrangebyscore sadd srem smembers rpush lrange llen lindex xadd xdel xinfo xlen xrange xrevrange xread'.split(
    ' ',
  )

/** The methods of an ioredis client, over whatever carries a command to a store. */
export abstract class CommandClient extends EventEmitter {
  status = 'ready'

  /** Rejects with the error of the store, or of the connection. */
  protected abstract send(name: string, args: readonly string[]): Promise<Reply>
  abstract subscribe(channel: string): Promise<number>
  abstract disconnect(): void

  get client(): RedisClient {
    return this as unknown as RedisClient
  }

  /** Any command by its name: its reply stays a list. */
  async call(name: string, ...args: readonly unknown[]): Promise<unknown> {
    return toValue(await this.send(name, args.map(encode)), false)
  }

  async ask(name: string, args: readonly unknown[], isBytes: boolean): Promise<unknown> {
    const words = args.every((arg) => typeof arg !== 'object') ? args : flat(args)
    const value = toValue(await this.send(name, words.map(encode)), isBytes)
    return name === 'HGETALL' ? toRecord(value) : value
  }
}

for (const name of COMMANDS)
  for (const [method, isBytes] of [
    [name, false],
    [`${name}Buffer`, true],
  ] as const)
    Object.defineProperty(CommandClient.prototype, method, {
      value(this: CommandClient, ...args: unknown[]) {
        return this.ask(name.toUpperCase(), args, isBytes)
      },
    })
