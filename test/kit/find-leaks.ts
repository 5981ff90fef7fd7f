import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { BLOCK_FORM } from '../../core/activity/pack-block.ts'
import { unpackBlock } from '../../core/activity/unpack-block.ts'
import { connectRedis } from '../../core/redis/connect-redis.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { spellingsOf } from './spellings-of.ts'
import type { Stack } from './start-stack.ts'

/** Files that are there to hold secrets, for their owner alone. */
const SECRET_FILES = ['admin-token', 'encryption-key']

/** Looks for texts in all that a stack puts out or keeps. Returns the places, each with the text it holds. */
export async function findLeaks(stack: Stack, texts: readonly string[]): Promise<string[]> {
  const places = await placesOf(stack)
  const forms = [...new Set(texts)].flatMap((text) =>
    spellingsOf(text).map((form) => [text, form] as const),
  )
  return [...places].flatMap(([place, content]) =>
    forms.filter(([, form]) => content.includes(form)).map(([text]) => `${text} in ${place}`),
  )
}

/**
 * All that a stack puts out or keeps, by place: logs, metrics, what its APIs and Envoy's admin interface say, the store, and
 * the files of the data directory.
 */
export async function placesOf(stack: Stack): Promise<ReadonlyMap<string, string>> {
  const places = new Map<string, string>([['log', stack.log()]])
  for (const path of [
    '/config_dump',
    '/stats',
    '/clusters',
    '/listeners',
    '/runtime',
    '/server_info',
  ])
    places.set(`envoy ${path}`, await stack.envoyAdmin(path))
  for (const path of ['/metrics', '/healthz', '/readyz', '/openapi.json', '/docs'])
    places.set(`api ${path}`, await (await fetch(stack.apiUrl + path)).text())
  for (const path of ['integrations', 'agents', 'scopes', 'keys', 'tokens', 'activity', 'edges']) {
    const headers = { authorization: `Bearer ${stack.adminToken}` }
    const answer = await fetch(`${stack.apiUrl}/admin/${path}?limit=100`, { headers })
    places.set(`admin ${path}`, await answer.text())
  }
  for (const [name, text] of await readStore(stack.redisUrl)) places.set(`store ${name}`, text)
  for (const [name, text] of readFiles(stack.dataDir)) places.set(`file ${name}`, text)
  return places
}

async function readStore(url: string): Promise<ReadonlyMap<string, string>> {
  const redis = connectRedis(url, { name: 'test', role: 'queue' })
  const found = new Map<string, string>()
  try {
    for (const name of await redis.keys('*'))
      found.set(name, JSON.stringify(await readKey(redis, name)))
  } finally {
    redis.disconnect()
  }
  return found
}

async function readKey(redis: RedisClient, name: string): Promise<unknown> {
  switch (await redis.type(name)) {
    case 'string':
      return redis.get(name)
    case 'hash':
      return redis.hgetall(name)
    case 'list':
      return redis.lrange(name, 0, -1)
    case 'set':
      return redis.smembers(name)
    case 'zset':
      return redis.zrange(name, '0', '-1')
    case 'stream':
      return (await redis.xrangeBuffer(name, '-', '+')).map(([, fields]) => fields.map(readField))
    default:
      return null
  }
}

/** Allowed calls are stored in compressed blocks, in which no text would be found. */
function readField(field: Buffer): string | readonly string[] {
  if (field[0] !== BLOCK_FORM) return field.toString()
  return unpackBlock(field)
}

function readFiles(folder: string): Array<readonly [string, string]> {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !SECRET_FILES.includes(entry.name))
    .map((entry) => {
      const file = join(entry.parentPath, entry.name)
      return [file, readFileSync(file, 'latin1')] as const
    })
}
