import { execFile, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { tempFolder } from '../temp-folder.ts'
import { bigBody } from './big-body.ts'
import type { UpstreamRoute } from './received-request.ts'

const run = promisify(execFile)

/** A repository `demo.git` by smart HTTP: git's own CGI program answers. It is made when it is first asked for. */
export function gitRoutes(): UpstreamRoute {
  let made: Promise<string> | null = null
  return async (received, request, response) => {
    // Until it is read by git.
    request.pause()
    const root = await (made ??= makeRepository())
    const url = new URL(received.path, 'http://stand-in')
    const backend = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_CONFIG_NOSYSTEM: '1',
        HOME: root,
        REQUEST_METHOD: received.method,
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        CONTENT_TYPE: received.header('content-type') ?? '',
        HTTP_CONTENT_ENCODING: received.header('content-encoding') ?? '',
        HTTP_GIT_PROTOCOL: received.header('git-protocol') ?? '',
      },
    })
    request.pipe(backend.stdin)
    backend.stdin.on('error', () => {})
    let head = Buffer.alloc(0)
    backend.stdout.on('data', (part: Buffer) => {
      if (response.headersSent) return void response.write(part)
      head = Buffer.concat([head, part])
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      const lines = head.toString('latin1', 0, end).split('\r\n')
      const headers = lines.map((line) => line.split(/:\s*/, 2) as [string, string])
      const status = headers.find(([name]) => name === 'Status')?.[1]
      const rest = headers.filter(([name]) => name !== 'Status')
      response.writeHead(Number.parseInt(status ?? '200', 10), Object.fromEntries(rest))
      response.write(head.subarray(end + 4))
    })
    backend.stdout.once('end', () => response.end())
    return true
  }
}

/** Large enough that git sends the pack in many pieces. */
const FILE_BYTES = 300_000

async function makeRepository(): Promise<string> {
  const root = tempFolder('git')
  const work = join(root, 'work')
  mkdirSync(work)
  const env = {
    PATH: process.env['PATH'],
    HOME: root,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example.test',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@example.test',
  }
  const git = (...args: string[]) => run('git', args, { cwd: work, env })
  await git('init', '-q', '-b', 'main')
  writeFileSync(join(work, 'README.md'), '# demo\n')
  writeFileSync(join(work, 'data.bin'), Buffer.concat([...bigBody(FILE_BYTES)]))
  await git('add', '.')
  await git('commit', '-q', '-m', 'demo: first')
  const bare = join(root, 'demo.git')
  await run('git', ['clone', '-q', '--bare', work, bare], { env })
  // Every caller may push here: refusing is not the job of this server.
  await run('git', ['config', 'http.receivepack', 'true'], { cwd: bare, env })
  return root
}
