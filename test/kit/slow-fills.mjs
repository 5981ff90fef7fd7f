// An ext-proc to which answers to reads of agents and keys arrive late, so that a fill of a cache that began before a kill
// ends after it. The program itself has its store client in the same file, where nothing can be put between.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'

const SLOWEST_MS = 40
const shaOf = (name) =>
  createHash('sha1')
    .update(readFileSync(new URL(`../../core/lua/${name}.lua`, import.meta.url), 'utf8'))
    .digest('hex')
const slow = new Set(['read-agent', 'find-key'].map(shaOf))
const real = Reflect.get(Redis.prototype, 'evalsha')
Redis.prototype.evalsha = async function (sha, ...rest) {
  const answer = await real.call(this, sha, ...rest)
  if (slow.has(sha)) await new Promise((resolve) => setTimeout(resolve, Math.random() * SLOWEST_MS))
  return answer
}

const { runEdge } = await import('../../dist/ext-proc/run-edge.js')
await runEdge(process.env)
